import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Program } from '../program.ts';
import { newFleet, passAgain, passedBy } from './fleet.ts';

const often = '*/10 * * * * *';
/** Of one process, of 16 in all. */
const placesOfServer = 12;

const isSlow = (client: string): boolean => Number(/\d+$/.exec(client)?.[0]) % 3 > 0;

/**
 * Forty clients of a service that does not answer before it is released, twenty of one that does, and two processes for all
 * of them.
 */
const newSlowFleet = async () => {
  const held: string[] = [];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const fleet = await newFleet({
    schedule: often,
    leaseDuration: 10_000,
    count: 60,
    // The same machine by another name counts as another server.
    settingsOf: (client, url) =>
      isSlow(client)
        ? `, baseUrl: '${url.replace('127.0.0.1', 'localhost')}', requestTimeout: 10m`
        : `, baseUrl: '${url}'`,
    meddle: async ({ headers, query }) => {
      if (headers.host?.startsWith('localhost') !== true) return null;
      held.push(query);
      await released;
      return null;
    },
  });
  Reflect.deleteProperty(fleet.env, 'DNS_SYNC_BASE_URL');
  const fast = fleet.clients.filter((client) => !isSlow(client));
  const daemons = [fleet.daemon(), fleet.daemon()];
  /** Resolves when so many requests wait for their answer. */
  const holds = async (count: number): Promise<void> => {
    while (held.length < count) await setTimeout(20);
    expect(held).toHaveLength(count);
  };
  return { fast, daemons, holds, release };
};

const endAll = async (daemons: readonly Program[]): Promise<void> => {
  for (const daemon of daemons) daemon.signal('SIGTERM');
  for (const daemon of daemons) expect(await daemon.ended).toMatchObject({ code: 0 });
};

describe('a hosting service that does not answer', () => {
  it('leaves room for the clients of another one: each of them has its passes', async () => {
    const { fast, daemons, holds, release } = await newSlowFleet();
    await holds(2 * placesOfServer);
    await passAgain(fast, daemons, 2);
    await holds(2 * placesOfServer);
    expect(daemons.flatMap(passedBy).filter(isSlow)).toEqual([]);
    release();
    await endAll(daemons);
  });
});
