import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { never, triggerToken } from '../daemon/daemon.ts';
import { startProcess } from '../process.ts';
import { reportOf, type Program } from '../program.ts';
import { reset } from '../wire/scripted-server.ts';
import { ask } from './postgres.ts';
import { allPassed, linesOf, newFleet, passedBy, runningIn, writesBy } from './fleet.ts';

const leaseDuration = 6_000;
const asPasses = z.object({ passes: z.array(z.object({ client: z.string(), run: z.string() })) });

/** A write that was under way when its sender died is tried again by a later pass. */
const often = '*/10 * * * * *';

const since = (moment: number): number => Math.round(performance.now() - moment);

/** How many clients each living process owns. */
const sharesIn = async (url: string): Promise<number[]> => {
  const rows = (await ask(
    { url },
    `SELECT (SELECT count(*)::int FROM dns_sync.clients WHERE owner = p.id) AS clients FROM dns_sync.processes p
     WHERE alive_until > clock_timestamp() AND is_daemon ORDER BY 1`,
  )) as { clients: number }[];
  return rows.map(({ clients }) => clients);
};

const shared = async (url: string, shares: readonly number[]): Promise<void> => {
  while (String(await sharesIn(url)) !== String(shares)) await setTimeout(20);
};

describe('several that run at once', () => {
  it('share the clients; what one leaves when it dies or stops, another one takes over', async () => {
    const { clients, service, env, describeAll, agree, daemon } = await newFleet({
      schedule: often,
      leaseDuration,
    });
    const [killed, stopped] = [daemon(), daemon()];
    await allPassed(clients, [killed, stopped]);
    expect(service.writes()).toEqual([]);
    await shared(env.DNS_SYNC_STORE, [30, 30]);

    const first = ['192.0.2.1', '192.0.2.2'];
    await describeAll(first);
    while (service.writes().length < 20 || runningIn(killed).length === 0) await setTimeout(1);
    killed.signal('SIGKILL');
    const killedAt = performance.now();
    await killed.ended;
    await shared(env.DNS_SYNC_STORE, [60]);
    const killedFor = since(killedAt);
    await agree(first);

    const third = daemon();
    const joinedAt = performance.now();
    await shared(env.DNS_SYNC_STORE, [30, 30]);
    const joinedFor = since(joinedAt);
    const second = [...first, '192.0.2.3'];
    const count = service.writes().length;
    await describeAll(second);
    while (service.writes().length < count + 20 || runningIn(stopped).length === 0) await setTimeout(1);
    stopped.signal('SIGSTOP');
    const stoppedAt = performance.now();
    await agree(second);
    const stoppedFor = since(stoppedAt);
    const made = service.writes().length;
    stopped.signal('SIGCONT');
    await shared(env.DNS_SYNC_STORE, [30, 30]);
    stopped.signal('SIGTERM');
    const toldAt = performance.now();
    await shared(env.DNS_SYNC_STORE, [60]);
    const toldFor = since(toldAt);
    await stopped.ended;
    await agree(second);
    const late = service.writes().length - made;
    process.stdout.write(
      `60 clients, lease ${leaseDuration} ms: ${writesBy(killed)}, ${writesBy(stopped)} and ${writesBy(third)} writes by each of three; ` +
        `all taken over ${killedFor} ms after SIGKILL, ${toldFor} ms after SIGTERM; a newcomer had its share after ${joinedFor} ms; ` +
        `${stoppedFor} ms from SIGSTOP to the last record; ${late} late writes, no record twice\n`,
    );
    expect(late).toBe(0);
  });

  it('hand over at once what they have when they are told to end', async () => {
    // Whatever is not handed over comes when this test is long over.
    const quiet = { schedule: never, leaseDuration: 600_000 };
    const { clients, service, describeAll, agree, daemon } = await newFleet(quiet);
    const [ended, other] = [daemon(), daemon()];
    await allPassed(clients, [ended, other]);
    const wanted = Array.from({ length: 5 }, (_, at) => `192.0.2.${at + 1}`);
    await describeAll(wanted);
    while (service.writes().length < 30 || runningIn(ended).length === 0) await setTimeout(1);
    ended.signal('SIGTERM');
    expect(await ended.ended).toMatchObject({ code: 0 });
    await agree(wanted);
  });

  it('make what was asked for while nobody could make it, under the ids that were told', async () => {
    const { clients, env, daemon } = await newFleet({ schedule: never, leaseDuration });
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
      leaseDuration,
      count: 6,
    });
    Object.assign(env, { DNS_SYNC_TRIGGER_TOKEN: triggerToken });
    const daemons = [daemon('--listen', '127.0.0.1:0'), daemon('--listen', '127.0.0.1:0')];
    await allPassed(clients, daemons);
    await shared(env.DNS_SYNC_STORE, [3, 3]);
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
      leaseDuration,
      count: 1,
      meddle: async ({ method }) => {
        if (method === 'GET' || !isHeld) return null;
        isHeld = false;
        arrive();
        await released;
        return answer;
      },
    });
    Object.assign(env, { DNS_SYNC_SETTLE: '50ms' });
    const owner = daemon();
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
    release();
    await command.ended;
    // The owner began no other write, and has the client again.
    expect(writesBy(owner)).toBe(answer === null ? 1 : 0);
    await agree(wanted);
    await owner.event('pass.finished', ({ status }) => status === 'in-sync');
    expect(service.writes()).toHaveLength(answer === null ? 2 : 3);
  });
});

const addressOf = async (program: Program): Promise<string> =>
  String((await program.event('daemon.started'))['listen']);
