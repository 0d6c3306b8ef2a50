import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { closeAtOnce } from '../../src/state/connection.ts';
import { changesOf, finish, newEntry, newFile, newFolder, opened, historyOf } from './samples.ts';

// As in a process of its own.
afterAll(closeAtOnce());

/** The files below a folder that this process holds open. */
const openBelow = (folder: string): string[] =>
  readdirSync('/proc/self/fd')
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        return '';
      }
    })
    .filter((file) => file.startsWith(folder));

const applied = { outcome: 'applied', recordId: 1, error: null } as const;

describe.runIf(process.platform === 'linux')('a memory that was closed', () => {
  it('keeps no file open, and leaves no journal', async () => {
    const file = newFile();
    const memory = await opened(file);
    await finish(memory, await memory.begin(newEntry()), applied, changesOf());
    await historyOf(memory);
    await memory.revisions?.();
    await memory.close();
    expect(openBelow(path.dirname(file))).toEqual([]);
    expect(readdirSync(path.dirname(file))).toEqual(['memory.db', 'memory.db.mark']);
  });

  it('keeps no file open if the file is damaged', async () => {
    const file = newFile();
    await (await opened(file)).close();
    truncateSync(file, statSync(file).size / 2);
    await expect(opened(file)).rejects.toThrow('damaged');
    expect(openBelow(path.dirname(file))).toEqual([]);
  });
});

describe('a link in place of the file', () => {
  it('is followed, and its target keeps its mode', async () => {
    const file = newFile();
    const target = path.join(newFolder(), 'elsewhere.db');
    writeFileSync(target, '');
    chmodSync(target, 0o644);
    mkdirSync(path.dirname(file));
    symlinkSync(target, file);
    await (await opened(file)).save(changesOf());
    expect(statSync(target).mode & 0o777).toBe(0o644);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(await (await opened(target)).templates()).toHaveLength(1);
  });
});
