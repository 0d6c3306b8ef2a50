import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Program } from '../e2e/program.ts';
import { openAddress } from './address.ts';
import { allPassed, linesOf, newFleet } from './fleet.ts';
import { ask, startPostgres } from './postgres.ts';

/** Two processes with the same files, and a PostgreSQL of their own. */
const newOwnFleet = async () => {
  const server = await startPostgres();
  onTestFinished(server.remove);
  const { url, lead } = await openAddress(server);
  const fleet = await newFleet({ schedule: '*/10 * * * * *', leaseDuration: 2_000, count: 2 });
  Object.assign(fleet.env, { DNS_SYNC_STORE: url });
  const daemons = [fleet.daemon(), fleet.daemon()];
  await allPassed(fleet.clients, daemons);
  return { ...fleet, server, lead, daemons };
};

/** Resolves when scheduled passes have found each client as its files say, after so many milliseconds since the epoch. */
const inSyncAfter = async (moment: number, clients: readonly string[], daemons: readonly Program[]) => {
  const isSo = (): boolean => {
    const later = daemons
      .flatMap(linesOf)
      .filter(({ event, trigger }) => event === 'pass.finished' && trigger === 'schedule')
      .filter(({ time, status }) => status === 'in-sync' && Date.parse(String(time)) > moment);
    return clients.every((one) => later.filter(({ client }) => client === one).length > 0);
  };
  while (!isSo()) await setTimeout(20);
};

describe('files whose publication is lost', () => {
  it.each(['a standby that lacks it takes over', 'a dump from before it is restored'])(
    'are published again before anything is written: %s',
    async (what) => {
      const { clients, service, server, lead, daemons, describeAll, agree } = await newOwnFleet();
      let lose: () => Promise<unknown>;
      if (what.includes('standby')) {
        const standby = await server.standby();
        onTestFinished(standby.remove);
        await ask(standby, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
        while ((await ask(server, 'SELECT FROM pg_stat_replication')).length > 0) await setTimeout(20);
        lose = async () => {
          await server.stop('SIGKILL');
          await ask(standby, 'SELECT pg_promote()');
          lead(standby);
        };
      } else {
        const restore = server.dump();
        lose = () => Promise.resolve(restore());
      }
      await describeAll(['192.0.2.2']);
      while (service.writes().length < clients.length) await setTimeout(20);
      await inSyncAfter(Date.now(), clients, daemons);
      await lose();
      await inSyncAfter(Date.now(), clients, daemons);
      await agree(['192.0.2.2']);
      expect(service.writes()).toHaveLength(clients.length);
    },
  );
});
