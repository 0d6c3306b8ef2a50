import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { address, openPlace, type Place } from './place.ts';

const actual = [address(null, '203.0.113.1'), address('www', '203.0.113.1')];
const more = [...actual, address('api', '203.0.113.2')];

const memoryOf = ({ stateDir }: Place): string => path.join(stateDir, 'memory.db');

it('says once that there is no saved state', { timeout: 60_000 }, async () => {
  const place = await openPlace(actual);
  await place.write(actual);
  expect((await place.run(['plan'])).stderr).toContain('planned without saved state');
  expect((await place.apply()).stderr).toContain('no saved state for this client');
  expect((await place.apply()).stderr).toBe('');
  expect((await place.run(['plan'])).stderr).toBe('');
});

describe('a state directory that cannot be used', { timeout: 60_000 }, () => {
  /** Root may write anywhere: the program then runs as another user. */
  const nobody = process.getuid?.() === 0 ? { process: { uid: 65_534 } } : {};

  const expectPlansOnly = async (place: Place): Promise<void> => {
    const applied = await place.apply(nobody);
    expect(applied).toMatchObject({ code: 1, writes: 0, stdout: '' });
    expect(applied.stderr).toMatch(/^dns-template-sync: the state directory cannot be used.*--state-dir/);
    expect(applied.stderr).toContain(place.stateDir);
    expect(applied.stderr).toContain(
      `a directory that uid ${String(nobody.process?.uid ?? process.getuid?.())} can write`,
    );

    const planned = await place.run(['plan'], nobody);
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining('1 to add') });
    expect(planned.stderr).toContain('planned without saved state');

    const daemon = place.start(['run', '--listen', 'off'], nobody);
    const finished = await daemon.line(({ event }) => event === 'pass.finished');
    expect(finished).toMatchObject({ status: 'failed', error: expect.stringContaining('state directory') });
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  };

  it('because it is unreadable does not count as empty', async () => {
    const place = await openPlace(actual);
    await place.write(actual);
    await place.apply();
    chmodSync(place.stateDir, 0o000);
    const { stderr } = await place.run(['plan'], nobody);
    chmodSync(place.stateDir, 0o700);
    expect(stderr).toMatch(/planned without saved state: .*permission denied.* for uid \d+/);
  });

  it('because it is read-only stops writes, and plans still work', async () => {
    const place = await openPlace(actual);
    await place.write(more);
    mkdirSync(place.stateDir);
    chmodSync(place.stateDir, 0o555);
    await expectPlansOnly(place);
    expect(place.service.writes).toEqual([]);
  });
});

it(
  'sends nothing while it cannot save the intent, and sends it when the disk has space again',
  { timeout: 60_000 },
  async () => {
    const place = await openPlace(actual);
    await place.write(actual);
    await place.apply();
    await place.write(more);
    const full = await place.apply({ process: { fileLimit: 4_096 } });
    expect(full).toMatchObject({ code: 1, writes: 0 });
    expect(full.stderr).toContain(memoryOf(place));
    expect(full.stderr).not.toContain('defect');
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1 });
  },
);

const isRootOnLinux = process.getuid?.() === 0 && process.platform === 'linux';

it.runIf(isRootOnLinux)(
  'a state file whose mode only another user may change is used, with a warning',
  { timeout: 60_000 },
  async () => {
    const place = await openPlace(actual);
    await place.write(actual);
    await place.apply({ process: {} });
    // As `fsGroup` leaves a volume.
    for (const file of [
      place.stateDir,
      ...readdirSync(place.stateDir).map((name) => path.join(place.stateDir, name)),
    ]) {
      chownSync(file, 0, 65_534);
      chmodSync(file, file === place.stateDir ? 0o2770 : 0o660);
    }
    await place.write(more);
    const applied = await place.apply({ process: { uid: 65_534 } });
    expect(applied).toMatchObject({ code: 0, writes: 1 });
    expect(applied.stderr).toContain(
      `${memoryOf(place)} has the mode 660, and cannot be closed to other users: EPERM`,
    );
    const daemon = place.start(['run', '--listen', 'off'], { process: { uid: 65_534 } });
    const warned = daemon.line(({ notice }) => String(notice).includes('cannot be closed to other users'));
    expect(await warned).toMatchObject({ level: 'warn' });
    daemon.signal('SIGTERM');
    await daemon.ended;
  },
);

it.runIf(isRootOnLinux)(
  'a state file of another user stops writes, also of a daemon, which says which file it is',
  { timeout: 60_000 },
  async () => {
    const place = await openPlace(actual);
    await place.write(actual);
    await place.apply({ process: {} });
    for (const name of readdirSync(place.stateDir))
      if (name !== 'memory.db') rmSync(path.join(place.stateDir, name));
    chownSync(place.stateDir, 65_534, 65_534);
    await place.write(more);
    const nobody = { process: { uid: 65_534 } };
    expect(await place.apply(nobody)).toMatchObject({
      code: 1,
      writes: 0,
      stderr: expect.stringContaining(`the state in ${memoryOf(place)} cannot be used`),
    });
    const daemon = place.start(['run', '--listen', 'off'], nobody);
    expect(await daemon.event('pass.finished')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(memoryOf(place)),
    });
    daemon.signal('SIGTERM');
    await daemon.ended;
    expect(place.service.writes).toEqual([]);
  },
);
