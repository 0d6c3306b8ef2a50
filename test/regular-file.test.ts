import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readBeginning, readRegularFileSync } from '../src/regular-file.ts';
import { directoryWith } from './desired/load-files.ts';

describe.each([
  ['at once', (file: string) => Promise.resolve().then(() => readRegularFileSync(file, 100))],
  ['beside other work', (file: string) => readBeginning(file, 100)],
])('a file read %s', (_, read) => {
  test('is read completely, also through a link, for any claimed length', async () => {
    const directory = await directoryWith({ a: 'content', empty: '' });
    symlinkSync('a', join(directory, 'link'));
    expect(String(await read(join(directory, 'a')))).toBe('content');
    expect(String(await read(join(directory, 'link')))).toBe('content');
    expect(String(await read(join(directory, 'empty')))).toBe('');
    expect(String(await read('/proc/self/comm'))).toMatch(/.\n$/);
  });

  test('is not a pipe, a device or a directory', async () => {
    const directory = await directoryWith({});
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    for (const file of [join(directory, 'pipe'), '/dev/zero', directory])
      await expect(read(file)).rejects.toThrow('it is not a regular file');
  });

  test('fails with the system code if it is missing', async () => {
    await expect(read('/nowhere')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('a file is read only up to the limit', async () => {
  const directory = await directoryWith({ a: 'content' });
  expect(String(await readBeginning(join(directory, 'a'), 6))).toBe('conten');
  expect(() => readRegularFileSync('/proc/kallsyms', 1024)).toThrow('it is larger than 1 KiB');
});

test('a file is not read if another one has replaced it since the scan', async () => {
  const directory = await directoryWith({ a: 'one', b: 'two' });
  const identity = await stat(join(directory, 'a'), { bigint: true });
  await writeFile(join(directory, 'a'), 'changed');
  expect(String(await readBeginning(join(directory, 'a'), 10, identity))).toBe('changed');
  await expect(readBeginning(join(directory, 'b'), 10, identity)).rejects.toThrow('replaced');
});
