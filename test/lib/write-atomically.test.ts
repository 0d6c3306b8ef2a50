import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { writeAtomically } from '../../src/lib/write-atomically.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'atomic-'));
const file = path.join(directory, 'data.json');

afterEach(() => {
  for (const name of readdirSync(directory)) rmSync(path.join(directory, name), { recursive: true });
});

it.each([false, true])('replaces the old file (durable: %s)', (isDurable) => {
  writeFileSync(file, 'the old text, which is longer', { mode: 0o644 });
  const before = statSync(file).ino;
  writeAtomically(file, 'new', { mode: 0o600, isDurable });
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).ino).not.toBe(before);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['data.json']);
});

it('leaves nothing behind if it fails', () => {
  mkdirSync(file);
  expect(() => writeAtomically(file, 'new', { mode: 0o600 })).toThrow(/EISDIR|ENOTEMPTY/);
  expect(readdirSync(directory)).toEqual(['data.json']);
});
