import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type { WorldStore } from '../chaos/world-store.ts';
import { ask } from './postgres.ts';

/** In a database that loses its last commits now and then, as one does that fails over to a standby that is behind. */
export const postgresWorldStore = async (): Promise<WorldStore> => {
  const name = `round_${randomUUID().replaceAll('-', '')}`;
  const kept = `${name}_kept`;
  const server = { url: inject('postgres') };
  const own = new URL(server.url);
  own.pathname = `/${name}`;
  const copy = (from: string, to: string): Promise<unknown> =>
    ask(server, `DROP DATABASE IF EXISTS ${to} WITH (FORCE)`, `CREATE DATABASE ${to} TEMPLATE ${from}`);
  const rows = async (table: string, where = 'true'): Promise<number> =>
    (await ask({ url: own.href }, `SELECT FROM dns_sync.${table} WHERE ${where}`)).length;
  await ask(server, `CREATE DATABASE ${name}`);
  return {
    env: { DNS_SYNC_STORE: own.href, DNS_SYNC_LEASE_DURATION: '2s' },
    takesOver: true,
    keep: async () => void (await copy(name, kept)),
    damage: async () => {
      const lost = `${name}_lost`;
      await copy(kept, lost);
      // As after a promotion or a restore, nothing that was claimed before is ours any more.
      const inLost = new URL(own);
      inLost.pathname = `/${lost}`;
      const [{ hasTables } = { hasTables: false }] = (await ask(
        { url: inLost.href },
        `SELECT to_regclass('dns_sync.clients') IS NOT NULL AS "hasTables"`,
      )) as { hasTables: boolean }[];
      if (hasTables) await ask({ url: inLost.href }, 'VACUUM FULL dns_sync.clients');
      await ask(server, `DROP DATABASE ${name} WITH (FORCE)`, `ALTER DATABASE ${lost} RENAME TO ${name}`);
      return 'commits lost';
    },
    count: async () => ({
      history: await rows('history'),
      open: await rows('journal', "body::json ->> 'state' = 'sent'"),
    }),
  };
};
