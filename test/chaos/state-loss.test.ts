import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { address, openPlace } from './place.ts';

const actual = [address(null, '203.0.113.1'), address('www', '203.0.113.1')];
const one = [...actual, address('api', '203.0.113.2')];

/** Does something once, when the first write after `arm` reaches this stage. */
const atNextWrite = (stage: string) => {
  let task: (() => void) | null = null;
  return {
    onStage: (now: string, { operation }: { operation: string }): void => {
      if (now !== stage || task === null || operation.startsWith('list')) return;
      const due = task;
      task = null;
      due();
    },
    arm: (what: () => void) => {
      task = what;
    },
  };
};

it('a lock that is removed while a pass runs ends its writes, and it reports that and what it has written', async () => {
  const { onStage, arm } = atNextWrite('stored');
  const place = await openPlace(actual, { onStage });
  await place.write(actual);
  await place.apply();
  await place.write([...one, address('shop', '203.0.113.3')]);
  arm(() => {
    for (const name of readdirSync(place.stateDir).filter((found) => /^lock-.*\.db$/.test(found)))
      rmSync(path.join(place.stateDir, name));
  });
  const { code, writes, report, stderr } = await place.apply();
  expect({ code, writes }).toEqual({ code: 1, writes: 1 });
  expect(report.templates[0]).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('was removed'),
    differences: [
      { action: 'add', outcome: 'applied' },
      { action: 'add', outcome: 'skipped' },
    ],
  });
  expect(stderr).toContain('was removed');
});

const isRootOnLinux = process.getuid?.() === 0 && process.platform === 'linux';

describe.runIf(isRootOnLinux)(
  'a disk that is full between a write and its answer',
  { timeout: 60_000 },
  () => {
    it('ends the writes; the report has what was written, and later reports are correct', async () => {
      const { onStage, arm } = atNextWrite('arrived');
      const place = await openPlace(actual, { onStage });
      mkdirSync(place.stateDir);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place.stateDir]);
      onTestFinished(() => void execFileSync('umount', ['-l', place.stateDir]));
      await place.write(actual);
      await place.apply();
      const filler = path.join(place.stateDir, 'filler');
      const edited = [address(null, '203.0.113.7'), address('www', '203.0.113.7')];
      await place.write(edited);
      arm(() => {
        const { bavail, bsize } = statfsSync(place.stateDir);
        writeFileSync(filler, Buffer.alloc(bavail * bsize));
      });
      const full = await place.apply();
      expect(full).toMatchObject({ code: 1, writes: 1 });
      expect(full.report.templates[0]).toMatchObject({
        status: 'failed',
        message: expect.stringMatching(/memory\.db cannot be used.*disk.* full.*free some space/),
        differences: [
          { action: 'update', outcome: 'applied' },
          { action: 'update', outcome: 'skipped' },
        ],
      });
      expect(full.stderr).toMatch(/memory\.db cannot be used.*free some space/);
      expect(full.stdout + full.stderr).not.toContain('transaction');

      rmSync(filler);
      expect(await place.apply()).toMatchObject({ code: 0, writes: 1 });
      const { stdout } = await place.run(['history']);
      expect(stdout.match(/applied/g)).toHaveLength(2);
      expect(place.records().map(({ content }) => content)).toEqual(['203.0.113.7', '203.0.113.7']);
    });
  },
);
