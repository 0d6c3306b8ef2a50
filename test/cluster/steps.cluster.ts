import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { makeTables } from '../../src/cluster/schema.ts';
import { startService } from '../service.ts';
import { mutatedProgram } from './mutated-program.ts';
import { openAddress } from './address.ts';
import { connected, newDatabaseUrl } from './databases.ts';
import { newWorkers } from './workers.ts';

const desired = ['one', 'two'];

/**
 * A process is killed when it sends this piece, to PostgreSQL or to the service, which both get it; others go on. A write of
 * it takes effect only when the next process has ended, or sends one itself. Gives how often each record is there in the end;
 * null if the process has ended before.
 */
const killAt = async (step: number, folder?: string): Promise<readonly number[] | null> => {
  let [asked, isDead] = [0, false];
  let kill = (): void => undefined;
  const onAsked = (): void => {
    asked += 1;
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
  const database = new URL(await newDatabaseUrl());
  await makeTables(connected(database.href));
  database.port = String(
    (await openAddress({ port: Number(new URL(inject('postgres')).port) }, onAsked)).port,
  );
  const { want, start } = newWorkers(service, database.href, {
    DNS_SYNC_BASE_URL: target.href,
    DNS_SYNC_UNKNOWN_PAUSE: '5s',
  });
  want(desired);
  const apply = () => start(['apply', '--yes', '--lock-timeout', '60s'], folder);
  const first = apply();
  kill = () => first.signal('SIGKILL');
  await first.ended;
  if (!isDead) return null;
  isSucceeded = true;
  const counts = async (): Promise<number[]> => {
    const records = await service.records(17);
    return desired.map((name) => records.filter((record) => record.name === name).length);
  };
  for (let tries = 0; tries < 40 && (await counts()).includes(0); tries += 1) {
    await apply().ended;
    gate.emit('release');
    await setTimeout(200);
  }
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
  await Promise.all([lane(), lane(), lane()]);
  return { steps: end - 1, wrong };
};

describe('a process that is killed at any step of its pass', () => {
  it('leaves nothing that another one makes twice, or never', async () => {
    const { steps, wrong } = await killAtEach();
    process.stdout.write(`killed at each of ${steps} steps\n`);
    expect(wrong).toEqual([]);
    expect(steps).toBeGreaterThan(20);
  }, 600_000);

  it('would do that if its journal were not read, and the test finds it', async () => {
    const folder = mutatedProgram(["SELECT 'entry' AS kind", "SELECT 'none' AS kind"]);
    const { wrong } = await killAtEach(folder);
    expect(wrong[0]?.found).toContain(2);
  }, 600_000);
});
