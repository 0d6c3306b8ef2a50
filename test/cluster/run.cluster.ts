import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { never, triggerToken } from '../daemon/daemon.ts';
import { startProcess } from '../process.ts';
import { reportOf } from '../program.ts';
import type { Meddling } from '../service.ts';
import { reset } from '../wire/scripted-server.ts';
import { ask } from './postgres.ts';
import { connected } from './databases.ts';
import { addressOf, allPassed, linesOf, newFleet, passedBy, writesBy } from './fleet.ts';

const leaseDuration = 4_000;
/** Of one that nobody waits for, nor loses while the machine is busy. */
const longLease = 30_000;
const asPasses = z.object({ passes: z.array(z.object({ client: z.string(), run: z.string() })) });

/** A write that was under way when its sender died is tried again by a later pass. */
const often = '*/10 * * * * *';

/**
 * Lets writes wait for their answers. A process makes the passes of twelve clients at a time, and so has one under way when
 * thirteen of another one and its own are.
 */
const newGate = () => {
  const held = { count: 0 };
  let open = (): void => undefined;
  let opened = Promise.resolve();
  const meddle: Meddling = async ({ method }) => {
    if (method === 'GET') return null;
    held.count += 1;
    await opened;
    return null;
  };
  return {
    meddle,
    close: (): void => {
      held.count = 0;
      opened = new Promise((resolve) => (open = resolve));
    },
    untilBothWrite: async (): Promise<void> => {
      while (held.count < 13) await setTimeout(20);
    },
    open: (): void => open(),
  };
};

/** How many clients each living process owns. */
const sharesOn = (url: string) => {
  const database = connected(url);
  const owned = `SELECT (SELECT count(*)::int FROM dns_sync.clients WHERE owner = p.id) AS clients
    FROM dns_sync.processes p WHERE alive_until > clock_timestamp() AND is_daemon ORDER BY 1`;
  return async (...shares: readonly number[]): Promise<void> => {
    const now = async (): Promise<number[]> =>
      (await database.query<{ clients: number }>(owned)).map(({ clients }) => clients);
    while (String(await now()) !== String(shares)) await setTimeout(20);
  };
};

describe('several that run at once', () => {
  it('share the clients; what one leaves when it dies or stops, another one takes over', async () => {
    const { meddle, ...gate } = newGate();
    const fleet = await newFleet({ schedule: often, leaseDuration, meddle });
    const { clients, service, env, describeAll, agree, daemon } = fleet;
    const shared = sharesOn(env.DNS_SYNC_STORE);
    const [killed, stopped] = [daemon(), daemon()];
    await allPassed(clients, [killed, stopped]);
    expect(service.writes()).toEqual([]);
    await shared(12, 12);

    // Two more for each client, so that one waits behind that under way.
    const wanted = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    gate.close();
    await describeAll(wanted);
    await gate.untilBothWrite();
    killed.signal('SIGKILL');
    gate.open();
    await shared(24);
    await agree(wanted);

    daemon();
    await shared(12, 12);
    wanted.push('192.0.2.4', '192.0.2.5');
    gate.close();
    await describeAll(wanted);
    await gate.untilBothWrite();
    stopped.signal('SIGSTOP');
    gate.open();
    await agree(wanted);
    const made = service.writes().length;
    stopped.signal('SIGCONT');
    await shared(12, 12);
    stopped.signal('SIGTERM');
    await shared(24);
    await agree(wanted);
    expect(service.writes()).toHaveLength(made);
  });

  it('hand over at once what they have when they are told to end', async () => {
    const { meddle, ...gate } = newGate();
    // Whatever is not handed over comes when this test is long over.
    const fleet = await newFleet({ schedule: never, leaseDuration: 1_200_000, meddle });
    const { clients, env, describeAll, agree, daemon } = fleet;
    const [ended, other] = [daemon(), daemon()];
    await allPassed(clients, [ended, other]);
    await sharesOn(env.DNS_SYNC_STORE)(12, 12);
    const wanted = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    gate.close();
    await describeAll(wanted);
    await gate.untilBothWrite();
    // Its files are in use until it has left, which is after the others were told what it gave up.
    await ask(
      { url: env.DNS_SYNC_STORE },
      `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN OLD; END $$`,
      'CREATE TRIGGER wait BEFORE DELETE ON dns_sync.processes FOR EACH ROW EXECUTE FUNCTION wait()',
    );
    ended.signal('SIGTERM');
    gate.open();
    expect(await ended.ended).toMatchObject({ code: 0 });
    await agree(wanted);
  });

  it('make what was asked for while nobody could make it, under the ids that were told', async () => {
    const { clients, env, daemon } = await newFleet({ schedule: never, leaseDuration: longLease, count: 6 });
    const first = daemon();
    await allPassed(clients, [first]);
    first.signal('SIGTERM');
    await first.ended;
    const asked = (await ask(
      { url: env.DNS_SYNC_STORE },
      `INSERT INTO dns_sync.requests (scope, run) SELECT scope, 'asked of ' || name FROM dns_sync.clients RETURNING run`,
    )) as { run: string }[];
    expect(asked).toHaveLength(clients.length);
    const second = daemon();
    const runs = (): unknown[] =>
      linesOf(second)
        .filter(({ event }) => event === 'pass.started')
        .map(({ run }) => run);
    while (!asked.every(({ run }) => runs().includes(run))) await setTimeout(20);
  });

  it('make what is asked for at any of them, and all of them show what any of them did', async () => {
    const { clients, service, env, describeAll, agree, daemon } = await newFleet({
      schedule: never,
      leaseDuration: longLease,
      count: 6,
    });
    Object.assign(env, { DNS_SYNC_TRIGGER_TOKEN: triggerToken });
    const daemons = [daemon('--listen', '127.0.0.1:0'), daemon('--listen', '127.0.0.1:0')];
    await allPassed(clients, daemons);
    await sharesOn(env.DNS_SYNC_STORE)(3, 3);
    const [address = '', other = ''] = await Promise.all(daemons.map(addressOf));
    for (const one of [address, other]) while (!(await fetch(`${one}/readyz`)).ok) await setTimeout(20);
    const wanted = ['192.0.2.1', '192.0.2.2'];
    await describeAll(wanted);
    await agree(wanted);
    expect(service.writes()).toHaveLength(clients.length);
    const all = clients.map((client) => `web-of-${client} 2`).toSorted();
    for (const one of [address, other]) {
      const statuses = async (): Promise<string[]> => {
        const report = reportOf(await (await fetch(`${one}/api/report`)).text());
        return report.templates.map(({ template, inSync }) => `${template} ${inSync}`).toSorted();
      };
      while (String(await statuses()) !== String(all)) await setTimeout(20);
      expect(await (await fetch(`${one}/api/history`)).json()).toHaveLength(clients.length);
      const page = await (await fetch(one)).text();
      expect(page).toContain('<h2 id="processes">');
      expect(page).not.toContain('No process makes the passes of');
    }
    const asked = await fetch(`${address}/api/reconcile`, {
      method: 'POST',
      headers: { authorization: `Bearer ${triggerToken}` },
    });
    expect(asked.status).toBe(202);
    const { passes } = asPasses.parse(await asked.json());
    expect(passes.map(({ client }) => client).toSorted()).toEqual(clients.toSorted());
    // The process that makes a pass logs it under the id that the other one answered.
    const started = (): string[] =>
      daemons
        .flatMap(linesOf)
        .filter(({ event, trigger }) => event === 'pass.started' && trigger === 'request')
        .map(({ client, run }) => `${String(client)} ${String(run)}`)
        .toSorted();
    const ids = passes.map(({ client, run }) => `${client} ${run}`).toSorted();
    while (String(started()) !== String(ids)) await setTimeout(20);
    expect(passedBy(daemons[0]!).length).toBeGreaterThan(0);
  });
});

/** A page is made once for all who ask for it: each search has its own. */
const pageOf = async (address: string, text: number): Promise<string> =>
  (await fetch(`${address}/?q=${text}`)).text();

describe('a command that takes a client from its owner in the middle of a write', () => {
  it.each([
    ['is answered late', null],
    ['comes to nothing', reset],
  ])('waits for it, and nothing is written twice where that write %s', async (_, answer) => {
    const wanted = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    let [arrive, release] = [(): void => undefined, (): void => undefined];
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    let isHeld = true;
    const { service, cwd, env, describeAll, agree, daemon } = await newFleet({
      schedule: often,
      leaseDuration: 9_000,
      count: 1,
      meddle: async ({ method }) => {
        if (method === 'GET' || !isHeld) return null;
        isHeld = false;
        arrive();
        await released;
        return answer;
      },
    });
    // The write is held for several renewals.
    Object.assign(env, { DNS_SYNC_SETTLE: '50ms', DNS_SYNC_WRITE_TIMEOUT: '2m' });
    const owner = daemon('--listen', '127.0.0.1:0');
    const address = await addressOf(owner);
    await owner.event('pass.finished');
    await describeAll(wanted);
    await arrived;
    const command = startProcess(['apply', '--yes', '--lock-timeout', '60s'], { cwd, env });
    // A row while the owner has it, although it is wanted.
    const keeping = async () =>
      (await ask(
        { url: env.DNS_SYNC_STORE },
        'SELECT renewals FROM dns_sync.clients JOIN dns_sync.processes ON id = owner WHERE wanted_by <> owner',
      )) as { renewals: number }[];
    while ((await keeping()).length === 0) await setTimeout(20);
    const [first] = await keeping();
    for (let now = first; now?.renewals === first?.renewals; [now] = await keeping()) {
      expect(now).toBeDefined();
      await setTimeout(20);
    }
    expect(await keeping()).toHaveLength(1);
    expect(service.writes()).toHaveLength(1);
    // A renewal does not show that the owner knows of the command: on a busy machine it may be before it has looked.
    for (let text = 0; !(await pageOf(address, text)).includes('No schedule'); text += 1)
      await setTimeout(20);
    release();
    await command.ended;
    // The owner began no other write, and has the client again.
    expect(writesBy(owner)).toBe(answer === null ? 1 : 0);
    await agree(wanted);
    await owner.event('pass.finished', ({ status }) => status === 'in-sync');
    expect(service.writes()).toHaveLength(answer === null ? 2 : 3);
  });
});
