import { existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDirectory } from '../src/directory.ts';

const place = (): string => mkdtempSync(path.join(tmpdir(), 'directory-'));

describe('making a directory', () => {
  it('makes its parents too, and leaves existing ones alone', () => {
    const directory = path.join(place(), 'a', 'b');
    makeDirectory(directory, 0o700);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    mkdirSync(path.join(directory, 'c'));
    makeDirectory(directory);
    expect(existsSync(path.join(directory, 'c'))).toBe(true);
  });

  it('says so if a file is in the way', () => {
    const file = path.join(place(), 'file');
    writeFileSync(file, '');
    expect(() => makeDirectory(file)).toThrow('EEXIST');
    expect(() => makeDirectory(path.join(file, 'below'))).toThrow('ENOTDIR');
  });

  it.runIf(existsSync('/proc/self'))('fails on a file system without directories', () => {
    expect(() => makeDirectory('/proc/no-such-place/below')).toThrow('ENOENT');
  });
});
