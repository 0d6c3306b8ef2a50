import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDirectory, writeAtomically } from '../../src/lib/files.ts';

const place = (): string => mkdtempSync(path.join(tmpdir(), 'files-'));

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

describe('writing a file as a whole', () => {
  it('replaces the old one', () => {
    const directory = place();
    const file = path.join(directory, 'data.json');
    writeFileSync(file, 'the old text, which is longer', { mode: 0o644 });
    const before = statSync(file).ino;
    writeAtomically(file, 'new', 0o600);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).ino).not.toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['data.json']);
  });

  it('leaves nothing behind if it fails', () => {
    const directory = place();
    const file = path.join(directory, 'data.json');
    mkdirSync(file);
    expect(() => writeAtomically(file, 'new', 0o600)).toThrow(/EISDIR|ENOTEMPTY/);
    expect(readdirSync(directory)).toEqual(['data.json']);
  });
});
