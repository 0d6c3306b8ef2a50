import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { never, triggerToken } from '../e2e/daemon.ts';
import { startProcess } from '../e2e/process.ts';
import { workplace, type Program } from '../e2e/program.ts';
import { openAddress } from './address.ts';
import { allPassed, linesOf, newFleet, passAgain, passedBy } from './fleet.ts';
import { ask, startPostgres } from './postgres.ts';
import { mutatedProgram } from '../e2e/mutated-program.ts';

/** Two processes with the same files, and a PostgreSQL of their own. */
const newOwnFleet = async (program?: string) => {
  const server = await startPostgres();
  onTestFinished(server.remove);
  const { url, lead } = await openAddress(server);
  const fleet = await newFleet({ schedule: '*/10 * * * * *', leaseDuration: 2_000, count: 2, program });
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

const losses = ['a standby that lacks it takes over', 'a dump from before it is restored'];

/** Two processes with the same files write an edit of them, and then the database forgets that it was published. */
const losePublication = async (what: string, program?: string) => {
  const fleet = await newOwnFleet(program);
  const { clients, service, server, lead, daemons, describeAll } = fleet;
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
  return fleet;
};

describe('files whose publication is lost', () => {
  it.each(losses)('are published again before anything is written: %s', async (what) => {
    const { clients, service, daemons, agree } = await losePublication(what);
    await inSyncAfter(Date.now(), clients, daemons);
    await agree(['192.0.2.2']);
    expect(service.writes()).toHaveLength(clients.length);
  });

  it.each(losses)('would be reverted without that, and the test finds it: %s', async (what) => {
    const folder = mutatedProgram(
      ['s.timeline <> current OR f.timeline <> current OR f.since', 'false AND f.since'],
      ['isOther=doubted!==null&&doubted.timeline!==this.#timeline', 'isOther=!1'],
    );
    const { clients, service, agree } = await losePublication(what, path.join(folder, 'main.js'));
    while (service.writes().length < 2 * clients.length) await setTimeout(20);
    await agree(['192.0.2.1']);
  });
});

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
    const roles = ['all', 'web'].map((role) => daemon('--role', role, '--listen', '127.0.0.1:0'));
    const addresses = await Promise.all(
      roles.map(async (one) => String((await one.event('daemon.started'))['listen'])),
    );
    await allPassed(clients, roles);
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

    for (const role of ['all', 'web'])
      while (
        !(await (await fetch(addresses[1]!)).text()).includes(
          `<td role="cell" data-label="Role">${role}</td>`,
        )
      )
        await setTimeout(20);
    const due = /^dns_template_sync_fleet_due_passes \d$/m;
    while (!due.test(await (await fetch(`${addresses[0]}/metrics`)).text())) await setTimeout(20);

    await server.stop('SIGQUIT');
    await all(503);
    for (const address of addresses) {
      expect((await readinessOf(address)).reason).toContain('check that PostgreSQL runs');
      expect(await up(address)).toBe('0');
      expect(await (await fetch(address)).text()).toContain('check that PostgreSQL runs');
    }
    expect(await post()).toBe(503);

    await server.start();
    await all(200);
    for (const address of addresses) expect(await up(address)).toBe('1');
    expect(await post()).toBe(202);
  });
});

describe('locks that a stranger holds in the database', () => {
  it('keep a process that starts from being ready, and it says whose they are until they are gone', async () => {
    const { clients, env, daemon } = await newFleet({ schedule: never, leaseDuration: 2_000, count: 2 });
    const first = daemon();
    await allPassed(clients, [first]);
    first.signal('SIGTERM');
    await first.ended;
    const server = new URL(env.DNS_SYNC_STORE);
    await ask({ url: server.href }, 'CREATE ROLE stranger LOGIN');
    server.username = 'stranger';
    const stranger = new Client(server.href);
    await stranger.connect();
    onTestFinished(() => stranger.end());
    const names = ['', 'create-queue'].map(
      (lock) => `convert_to(current_database() || '.pgboss.dns_template_sync_queue${lock}', 'UTF8')`,
    );
    const keys = names.map((name) => `('x' || encode(sha224(${name}), 'hex'))::bit(64)::bigint`);
    await stranger.query(`SELECT ${keys.map((key) => `pg_advisory_lock(${key})`).join(', ')}`);
    const roles = ['all', 'web'].map((role) => daemon('--role', role, '--listen', '127.0.0.1:0'));
    const addresses = await Promise.all(
      roles.map(async (one) => String((await one.event('daemon.started'))['listen'])),
    );
    for (const address of addresses) {
      let said = '';
      while (!said.includes('stranger')) {
        const { code, reason } = await readinessOf(address);
        expect([code, reason]).toEqual([503, expect.stringContaining('the queue of passes')]);
        said = reason;
        await setTimeout(20);
      }
      expect(said).toContain('REVOKE CONNECT');
    }
    await stranger.query('SELECT pg_advisory_unlock_all()');
    for (const address of addresses) while ((await readinessOf(address)).code !== 200) await setTimeout(20);
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
    await inSyncAfter(moment, clients, daemons);
    expect((await ask(server, connections)).length).toBeLessThanOrEqual(10);
    const address = String((await daemons[0]!.event('daemon.started'))['listen']);
    expect(await readinessOf(address)).toEqual({ code: 200, reason: '' });
    for (const one of daemons) expect(one.output()).not.toMatch(/worker:(first|second)/);
  });
});

describe('a pass that nobody asks for', () => {
  it.each(['the answer to the commit is lost', 'the source dies first'])(
    'is made for files that were published where %s',
    async (what) => {
      const fleet = await newFleet({ schedule: never, leaseDuration: 2_000, count: 1 });
      const { clients, env, daemon, describeAll, agree } = fleet;
      const direct = new URL(env.DNS_SYNC_STORE);
      const { url, lose } = await openAddress({ port: Number(direct.port) });
      const worker = daemon('--role', 'worker');
      const around = new URL(direct);
      around.port = new URL(url).port;
      const source = startProcess(['run', '--listen', 'off', '--role', 'source'], {
        cwd: fleet.cwd,
        env: { ...env, DNS_SYNC_STORE: around.href },
      });
      await allPassed(clients, [worker]);
      const published = (): Promise<unknown[]> =>
        ask({ url: direct.href }, 'SELECT FROM dns_template_sync.snapshots WHERE number = 2');
      lose('COMMIT\0', 1);
      await describeAll(['192.0.2.2']);
      while ((await published()).length === 0) await setTimeout(1);
      if (what.includes('dies')) source.signal('SIGKILL');
      // On a slow machine the source may have asked for the pass before it dies.
      await vi.waitFor(() => agree(['192.0.2.2']), { timeout: 60_000 });
    },
  );

  it('reaches a process that knows its client, whoever takes it first', async () => {
    const fleet = await newFleet({ schedule: never, leaseDuration: 2_000, count: 2 });
    const { clients, service, cwd, env, daemon, describeAll, agree } = fleet;
    const [first = ''] = clients;
    const elsewhere = await workplace({ withExamples: false });
    const settings = await readFile(path.join(cwd, 'dns-template-sync.yaml'), 'utf8');
    await writeFile(
      path.join(elsewhere, 'dns-template-sync.yaml'),
      settings.replace(new RegExp(`^  ${first}:.*\n`, 'm'), ''),
    );
    const knowing = daemon();
    await allPassed(clients, [knowing]);
    const ignorant = startProcess(['run', '--listen', 'off', '--role', 'worker'], { cwd: elsewhere, env });
    await ignorant.event('daemon.started');
    for (let round = 1; round <= 6; round += 1) {
      await describeAll([`192.0.2.${round + 1}`]);
      while (service.writes().length < round * clients.length) await setTimeout(20);
      await agree([`192.0.2.${round + 1}`]);
    }
  });
});

/** The program with one more migration. */
const newerProgram = (oldest: number): string => {
  const folder = mutatedProgram(['`],oldestProgram=9,', `\`,\`SELECT 1\`],oldestProgram=${oldest},`]);
  return path.join(folder, 'main.js');
};

describe('a process of a newer version', () => {
  const newerFleet = async (oldest: number) => {
    const fleet = await newFleet({ schedule: '*/10 * * * * *', leaseDuration: 2_000, count: 12 });
    const { cwd, env, clients, daemon } = fleet;
    const old = daemon('--listen', '127.0.0.1:0');
    await allPassed(clients, [old]);
    const newer = startProcess(['run', '--listen', '127.0.0.1:0'], { cwd, env }, newerProgram(oldest));
    const addressOf = async (program: Program): Promise<string> =>
      String((await program.event('daemon.started'))['listen']);
    return { clients, old, newer, addresses: [await addressOf(old), await addressOf(newer)] as const };
  };

  it('shares the work with an older one whose tables it has only added to', async () => {
    const { old, newer } = await newerFleet(9);
    await newer.event('pass.finished');
    const before = passedBy(old).length;
    while (passedBy(old).length === before) await setTimeout(20);
    expect(linesOf(old).filter(({ status }) => status === 'failed')).toEqual([]);
  });

  it('takes all work from an older one that cannot use its tables, and no failure of that', async () => {
    const { clients, old, newer, addresses } = await newerFleet(10);
    await old.event('queue.unusable');
    await passAgain(clients, [newer], 2);
    expect(old.output()).toContain('newer version of this program (schema 10, this one knows 9)');
    for (const one of [old, newer])
      expect(
        linesOf(one).filter(({ event, status }) => event === 'pass.finished' && status === 'failed'),
      ).toEqual([]);
    expect(await readinessOf(addresses[0])).toMatchObject({
      code: 503,
      reason: expect.stringContaining('newer version'),
    });
    expect(await readinessOf(addresses[1])).toEqual({ code: 200, reason: '' });
  });
});
