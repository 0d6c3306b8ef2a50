import { setTimeout } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { migrate } from '../../src/cluster/schema.ts';
import { startService } from '../e2e/service.ts';
import { openAddress } from './address.ts';
import { connected, newDatabaseUrl } from './databases.ts';
import { newWorkers } from './workers.ts';

const desired = ['one', 'two'];

/**
 * A process is killed when it sends this piece, to PostgreSQL or to the service, which both get it; others go on. Gives how
 * often each record is there in the end; null if the process has ended before.
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
  const service = await startService();
  const target = new URL(service.url);
  target.port = String((await openAddress({ port: Number(target.port) }, onAsked)).port);
  const database = new URL(await newDatabaseUrl());
  await migrate(connected(database.href));
  database.port = String(
    (await openAddress({ port: Number(new URL(inject('postgres')).port) }, onAsked)).port,
  );
  const { want, start } = newWorkers(service, database.href, {
    DNS_SYNC_BASE_URL: target.href,
    DNS_SYNC_UNKNOWN_PAUSE: '100ms',
  });
  want(desired);
  const apply = () => start(['apply', '--yes', '--lock-timeout', '60s'], folder);
  const first = apply();
  kill = () => first.signal('SIGKILL');
  await first.ended;
  if (!isDead) return null;
  const counts = async (): Promise<number[]> => {
    const records = await service.records(17);
    return desired.map((name) => records.filter((record) => record.name === name).length);
  };
  for (let tries = 0; tries < 10 && (await counts()).includes(0); tries += 1) {
    await apply().ended;
    await setTimeout(100);
  }
  // One more, after everything may have appeared.
  await apply().ended;
  return counts();
};

it('a process that is killed at any step of its pass leaves nothing that another one makes twice, or never', async () => {
  let [next, end] = [1, Infinity];
  const lane = async (): Promise<void> => {
    for (let step = next++; step < end; step = next++) {
      const found = await killAt(step);
      if (found === null) end = Math.min(end, step);
      else expect({ step, found }).toEqual({ step, found: desired.map(() => 1) });
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  process.stdout.write(`killed at each of ${end - 1} steps\n`);
  expect(end).toBeGreaterThan(20);
}, 600_000);
