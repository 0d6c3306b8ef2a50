import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { never, triggerToken } from '../daemon/daemon.ts';
import { startProcess } from '../process.ts';
import { json } from '../wire/scripted-server.ts';
import { addressOf, allPassed, newFleet, passedBy } from './fleet.ts';
import { ask, startPostgres } from './postgres.ts';

const readinessOf = async (address: string): Promise<{ code: number; reason: string }> => {
  const answer = await fetch(`${address}/readyz`);
  const { reason } = (await answer.json()) as { reason: string | null };
  return { code: answer.status, reason: reason ?? '' };
};

describe('a database that is away', () => {
  it('is told by readiness, metric and page, and refuses requests until it is back', async () => {
    const server = await startPostgres();
    onTestFinished(server.remove);
    const { daemon, env, clients } = await newFleet({ schedule: never, leaseDuration: 2_000, count: 2 });
    Object.assign(env, { DNS_SYNC_STORE: server.url, DNS_SYNC_TRIGGER_TOKEN: triggerToken });
    const daemons = [daemon('--listen', '127.0.0.1:0'), daemon('--listen', '127.0.0.1:0')];
    const addresses = await Promise.all(daemons.map(addressOf));
    await allPassed(clients, daemons);
    const post = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${triggerToken}` };
      return (await fetch(`${addresses[0]}/api/reconcile`, { method: 'POST', headers })).status;
    };
    const all = async (code: number): Promise<void> => {
      for (const address of addresses)
        while ((await readinessOf(address)).code !== code) await setTimeout(20);
    };
    const up = async (address: string): Promise<string | undefined> =>
      /^dns_template_sync_database_up (\d)$/m.exec(await (await fetch(`${address}/metrics`)).text())?.[1];
    await all(200);
    expect(await post()).toBe(202);

    for (const address of addresses)
      while (!(await (await fetch(address)).text()).includes('<h2 id="processes">')) await setTimeout(20);
    // A request for a client that is its own needs no database.
    const database = new Client(server.url);
    await database.connect();
    const owners = 'SELECT DISTINCT owner FROM dns_sync.clients WHERE owner IS NOT NULL';
    while ((await database.query(owners)).rows.length < 2) await setTimeout(20);
    await database.end();

    await server.stop('SIGQUIT');
    await all(503);
    for (const address of addresses) {
      expect((await readinessOf(address)).reason).toContain('check that PostgreSQL runs');
      // It follows at the next look.
      while ((await up(address)) !== '0') await setTimeout(20);
      expect(await (await fetch(address)).text()).toContain('check that PostgreSQL runs');
    }
    expect(await post()).toBe(503);

    await server.start();
    await all(200);
    for (const address of addresses) while ((await up(address)) !== '1') await setTimeout(20);
    expect(await post()).toBe(202);
  });
});

describe('locks that a stranger holds in the database', () => {
  it('keep the tables from being made, and it says whose they are until they are gone', async () => {
    const { clients, env, daemon } = await newFleet({ schedule: never, leaseDuration: 2_000, count: 2 });
    const server = new URL(env.DNS_SYNC_STORE);
    await ask({ url: server.href }, 'CREATE ROLE stranger LOGIN');
    server.username = 'stranger';
    const stranger = new Client(server.href);
    await stranger.connect();
    onTestFinished(() => stranger.end());
    await stranger.query('SELECT pg_advisory_lock(4771009326)');
    const first = daemon('--listen', '127.0.0.1:0');
    const address = await addressOf(first);
    const { code, reason } = await readinessOf(address);
    expect([code, reason]).toEqual([503, expect.stringContaining('stranger')]);
    expect(reason).toContain('REVOKE CONNECT');
    await stranger.query('SELECT pg_advisory_unlock_all()');
    await allPassed(clients, [first]);
    while ((await readinessOf(address)).code !== 200) await setTimeout(20);
  });
});

describe('a password that is changed', () => {
  it('is read again from its file, and connections stay within their limit', async () => {
    const server = await startPostgres();
    onTestFinished(server.remove);
    const password = async (value: string): Promise<void> => {
      await ask(server, `ALTER ROLE worker PASSWORD '${value}'`);
      await writeFile(file, server.url.replace('tester@', `worker:${value}@`));
    };
    const fleet = await newFleet({ schedule: '*/10 * * * * *', leaseDuration: 2_000, count: 4 });
    const { env, cwd, clients, daemon } = fleet;
    const file = path.join(cwd, 'store');
    await ask(server, 'CREATE ROLE worker LOGIN SUPERUSER');
    await password('first');
    Reflect.deleteProperty(env, 'DNS_SYNC_STORE');
    Object.assign(env, { DNS_SYNC_STORE_FILE: file, DNS_SYNC_STORE_CONNECTIONS: '5' });
    const daemons = [daemon('--listen', '127.0.0.1:0'), daemon()];
    await allPassed(clients, daemons);
    const connections = "SELECT FROM pg_stat_activity WHERE usename = 'worker'";
    expect((await ask(server, connections)).length).toBeLessThanOrEqual(10);

    await server.requirePasswords();
    await password('second');
    await ask(server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'`);
    const moment = Date.now();
    await allPassed(clients, daemons, ({ status, time }) => {
      return status === 'in-sync' && Date.parse(String(time)) > moment;
    });
    expect((await ask(server, connections)).length).toBeLessThanOrEqual(10);
    const address = await addressOf(daemons[0]!);
    while ((await readinessOf(address)).code !== 200) await setTimeout(20);
    for (const one of daemons) expect(one.output()).not.toMatch(/worker:(first|second)/);
  });
});

describe('a process of a newer version', () => {
  it('ends those that are older, which say why', async () => {
    const fleet = await newFleet({ schedule: never, leaseDuration: 2_000, count: 2 });
    const old = fleet.daemon();
    await allPassed(fleet.clients, [old]);
    await ask({ url: fleet.env.DNS_SYNC_STORE }, 'UPDATE dns_sync.schema_version SET version = 99');
    const { code, stderr } = await old.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('newer version of this program (schema 99')]);
    expect(await fleet.daemon().ended).toMatchObject({ code: 1, stderr });
  });
});

describe('a process of version 0.1 that is alive', () => {
  it('keeps this one from starting, whose state is apart', async () => {
    const { env, clients, daemon } = await newFleet({ schedule: never, leaseDuration: 2_000, count: 2 });
    const server = { url: env.DNS_SYNC_STORE };
    await ask(
      server,
      'CREATE SCHEMA dns_template_sync',
      'CREATE TABLE dns_template_sync.leases (name text, holder text, lease_until timestamptz)',
      "INSERT INTO dns_template_sync.leases VALUES ('lock', 'process 7 on old', clock_timestamp() + interval '1 h')",
    );
    const { code, stderr } = await daemon().ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('process 7 on old. Stop all of them')]);
    await ask(server, "UPDATE dns_template_sync.leases SET lease_until = '-infinity'");
    await allPassed(clients, [daemon()]);
  });
});

describe('a process with a token of another account', () => {
  it('says so and is not ready, while the owner goes on', async () => {
    const { clients, cwd, env, daemon } = await newFleet({
      schedule: never,
      leaseDuration: 2_000,
      count: 1,
      meddle: ({ query, path: place }) =>
        Promise.resolve(
          query.includes('token-of-somebody') && place.endsWith('/dns_templates') ? json([]) : null,
        ),
    });
    const owner = daemon();
    await allPassed(clients, [owner]);
    const other = startProcess(['run', '--listen', '127.0.0.1:0'], {
      cwd,
      env: { ...env, TOKEN_OF_CLIENT_0: 'token-of-somebody' },
    });
    const address = await addressOf(other);
    const said = await other.event('fleet.account');
    expect(String(said['msg'])).toContain('client client-0 of this store is another account');
    const { code, reason } = await readinessOf(address);
    expect({ code, reason }).toEqual({ code: 503, reason: expect.stringContaining('is another account') });
    expect(passedBy(other)).toEqual([]);
  });
});
