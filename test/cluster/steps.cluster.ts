import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { startService } from '../service.ts';
import { mutatedProgram } from './mutated-program.ts';
import { openAddress } from './address.ts';
import { newTables } from './databases.ts';
import { newWorkers } from './workers.ts';

/**
 * A process is killed when it sends this piece, to PostgreSQL or to the service, which both get it; the first one is its
 * first intent, before which it sends nothing. A daemon goes on. What the dead process has sent takes effect only when the
 * first pass of the other one has ended, or when that sends something itself. Gives how often each record is there in the
 * end; null if the process has ended before.
 */
const killAt = async (step: number, folder?: string): Promise<readonly number[] | null> => {
  let [asked, isDead] = [0, false];
  let kill = (): void => undefined;
  const onAsked = (piece: Buffer): void => {
    if (asked > 0 || piece.includes('INSERT INTO dns_sync.journal')) asked += 1;
    if (asked !== step) return;
    isDead = true;
    kill();
  };
  const gate = new EventEmitter();
  let isSucceeded = false;
  const service = await startService(async ({ method }) => {
    if (method === 'GET') return null;
    if (isDead && !isSucceeded) await once(gate, 'release');
    else gate.emit('release');
    return null;
  });
  const target = new URL(service.url);
  target.port = String((await openAddress({ port: Number(target.port) }, onAsked)).port);
  const database = new URL((await newTables()).url);
  database.port = String(
    (await openAddress({ port: Number(new URL(inject('postgres')).port) }, onAsked)).port,
  );
  const settings = {
    DNS_SYNC_BASE_URL: target.href,
    // What is held back has to arrive within it, however long a process takes to start.
    DNS_SYNC_UNKNOWN_PAUSE: '30s',
  };
  const { want, begin, daemon, counts } = newWorkers(service, database.href, settings, folder);
  want('one', 'two');
  const first = begin();
  kill = () => first.signal('SIGKILL');
  await first.ended;
  // Where so many start at once, PostgreSQL may not answer one in time: then it has begun nothing.
  if (!isDead) return asked > 0 ? null : killAt(step, folder);
  isSucceeded = true;
  const second = daemon();
  await second.event('pass.finished');
  gate.emit('release');
  while ((await counts()).includes(0)) await setTimeout(20);
  second.signal('SIGTERM');
  await second.ended;
  return counts();
};

/** Kills at each step, until one finds something wrong. */
const killAtEach = async (folder?: string) => {
  let [next, end] = [1, Infinity];
  const wrong: { readonly step: number; readonly found: readonly number[] }[] = [];
  const lane = async (): Promise<void> => {
    for (let step = next++; step < end && wrong.length === 0; step = next++) {
      const found = await killAt(step, folder);
      if (found === null) end = Math.min(end, step);
      else if (found.some((count) => count !== 1)) wrong.push({ step, found });
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  return { steps: end - 1, wrong };
};

describe('a process that is killed at any step of its pass', () => {
  it('leaves nothing that another one makes twice, or never', async () => {
    const { steps, wrong } = await killAtEach();
    process.stdout.write(`killed at each of ${steps} steps\n`);
    expect(wrong).toEqual([]);
    expect(steps).toBeGreaterThan(8);
  }, 600_000);

  it('would do that if its journal were not read, and the test finds it', async () => {
    const folder = mutatedProgram(["SELECT 'entry' AS kind", "SELECT 'none' AS kind"]);
    const { wrong } = await killAtEach(folder);
    expect(wrong[0]?.found).toContain(2);
  }, 600_000);
});
