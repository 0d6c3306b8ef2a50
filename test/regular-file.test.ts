import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRegularFile, readRegularFileSync } from '../src/regular-file.ts';
import { directoryWith } from './desired/load-files.ts';

describe.each([
  [
    'at once',
    (file: string, maxBytes: number) => Promise.resolve().then(() => readRegularFileSync(file, maxBytes)),
  ],
  ['beside other work', (file: string, maxBytes: number) => readRegularFile(file, maxBytes)],
])('a file read %s', (_, read) => {
  test('is read completely, also through a link', async () => {
    const directory = await directoryWith({ a: 'content', empty: '' });
    symlinkSync('a', join(directory, 'link'));
    expect(String(await read(join(directory, 'a'), 100))).toBe('content');
    expect(String(await read(join(directory, 'link'), 7))).toBe('content');
    expect(String(await read(join(directory, 'empty'), 7))).toBe('');
  });

  test('is read only up to the limit, for any claimed length', async () => {
    const directory = await directoryWith({ a: 'content' });
    await expect(read(join(directory, 'a'), 6)).rejects.toThrow('it is larger than 6 bytes');
    await expect(read('/proc/kallsyms', 1024)).rejects.toThrow('it is larger than 1 KiB');
    expect((await read('/proc/self/stat', 4096)).length).toBeGreaterThan(0);
  });

  test('is not a pipe, a device or a directory', async () => {
    const directory = await directoryWith({});
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    for (const file of [join(directory, 'pipe'), '/dev/zero', directory])
      await expect(read(file, 100)).rejects.toThrow('it is not a regular file');
  });

  test('fails with the system code if it is missing', async () => {
    await expect(read('/nowhere', 1)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('a file is not read if another one has replaced it since the scan', async () => {
  const directory = await directoryWith({ a: 'one', b: 'two' });
  const identity = await stat(join(directory, 'a'), { bigint: true });
  expect(String(await readRegularFile(join(directory, 'a'), 10, identity))).toBe('one');
  await writeFile(join(directory, 'a'), 'changed');
  expect(String(await readRegularFile(join(directory, 'a'), 10, identity))).toBe('changed');
  await expect(readRegularFile(join(directory, 'b'), 10, identity)).rejects.toThrow('replaced');
});
