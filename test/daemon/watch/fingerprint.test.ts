import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fingerprints } from '../../../src/daemon/watch/fingerprint.ts';
import { scanFiles } from '../../../src/source/scan.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'fingerprint-'));
  return () => rm(home, { recursive: true });
});

const at = (name: string): string => path.join(home, name);
const filesOf = (paths: readonly string[]): (() => Promise<string>) => {
  const take = fingerprints(() => scanFiles(paths));
  return async () => (await take()).files;
};

/** Twenty times something else of the same length in the same file, at once after the file was looked at. */
const changesSeen = async (): Promise<number> => {
  const files = filesOf([home]);
  writeFileSync(at('a.yaml'), 'content 0?');
  let [seen, before] = [0, await files()];
  for (let time = 10; time < 30; time += 1) {
    writeFileSync(at('a.yaml'), `content ${time}`);
    const now = await files();
    if (now !== before) seen += 1;
    before = now;
  }
  return seen;
};

describe('a fingerprint', () => {
  it('changes with each change of the files, however soon one follows another', async () => {
    expect(await changesSeen()).toBe(20);
  });

  it.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'is so on a file system whose clock ticks slowly',
    async () => {
      execFileSync('mount', ['-t', 'ramfs', 'ramfs', home]);
      try {
        expect(await changesSeen()).toBe(20);
      } finally {
        execFileSync('umount', ['-l', home]);
      }
    },
  );

  it('is the same object while nothing changes, so that thousands of files are not compared by their texts', async () => {
    await writeFile(at('a.yaml'), 'a');
    await utimes(at('a.yaml'), 0, 0);
    const scans = [await scanFiles([home])];
    const take = fingerprints(async () => {
      const next = await scanFiles([home], scans.at(-1)!.byReal);
      scans.push(next);
      return next;
    });
    const first = await take();
    expect(await take()).toBe(first);
    await writeFile(at('a.yaml'), 'b');
    expect(await take()).not.toBe(first);
  });

  it('stays the same while nothing changes, also once the newest file is no longer recent', async () => {
    await writeFile(at('a.yaml'), 'a');
    await writeFile(at('b.yaml'), 'b');
    await utimes(at('b.yaml'), 0, 0);
    const files = filesOf([home]);
    const first = await files();
    // As if hours had gone by.
    const later = Date.now() + 3_600_000;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => later);
    onTestFinished(() => clock.mockRestore());
    expect([await files(), await files()]).toEqual([first, first]);
  });

  it('changes when an old file replaces another', async () => {
    await writeFile(at('a.yaml'), 'first');
    await writeFile(at('.b.yaml'), 'other');
    const files = filesOf([home]);
    const before = await files();
    await rename(at('.b.yaml'), at('a.yaml'));
    expect(await files()).not.toBe(before);
  });

  it('includes any kind of file, and waits for none', async () => {
    execFileSync('mkfifo', [at('pipe.yaml')]);
    const server = createServer().listen(at('socket.yaml'));
    onTestFinished(() => void server.close());
    await symlink('/dev/zero', at('zero.yaml'));
    await symlink('loop.yaml', at('loop.yaml'));
    await symlink('.', at('round'));
    await writeFile(at('large.yaml'), Buffer.alloc(50_000_000, 'x'));
    const files = filesOf([home, at('none'), at('pipe.yaml')]);
    const first = await files();
    expect(await files()).toBe(first);
    for (const name of ['pipe', 'socket', 'zero', 'loop', 'large'])
      expect(first).toContain(at(`${name}.yaml`));
  });
});
