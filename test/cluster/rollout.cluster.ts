import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startProcess } from '../process.ts';
import { workplace, type Program } from '../program.ts';
import { connected } from './databases.ts';
import { allPassed, newFleet, passedBy, putFile } from './fleet.ts';

/** A process that loses its lease while the machine is busy brings other files into use. */
const leaseDuration = 15_000;

/** Three processes, each with template files of its own. */
const threeProcesses = async () => {
  const fleet = await newFleet({ schedule: '*/10 * * * * *', leaseDuration, count: 6 });
  const { clients, cwd, env, service } = fleet;
  const folders = await Promise.all(
    [1, 2, 3].map(async () => {
      const folder = await workplace({ withExamples: false });
      await cp(path.join(cwd, 'dns-template-sync.yaml'), path.join(folder, 'dns-template-sync.yaml'));
      for (const client of clients)
        await cp(path.join(cwd, client), path.join(folder, client), { recursive: true });
      return folder;
    }),
  );
  const start = (at: number): Program => startProcess(['run', '--listen', 'off'], { cwd: folders[at]!, env });
  const daemons = [start(0), start(1), start(2)];
  const database = connected(env.DNS_SYNC_STORE);
  /** So many processes are known to have the files in use of each client. Only one of those brings other ones into use. */
  const untilHad = async (count: number): Promise<void> => {
    const sql = `SELECT 1 FROM dns_sync.clients c WHERE $1 > (
      SELECT count(*) FROM dns_sync.files f WHERE f.scope = c.scope AND f.version = c.head)`;
    while ((await database.query(sql, [count])).length > 0) await setTimeout(50);
  };
  await allPassed(clients, daemons);
  await untilHad(daemons.length);
  const change = async (at: number, address: string): Promise<void> => {
    for (const client of clients) {
      const file = path.join(folders[at]!, client, 'web.yaml');
      const text = (await readFile(file, 'utf8')).replaceAll(/192\.0\.2\.\d+/g, address);
      await putFile(file, text);
    }
  };
  /** What was written, in order, without what the same client was written before. */
  const steps = (): string[] => {
    const byClient = new Map<string, string[]>();
    for (const { path: place, body } of service.writes()) {
      const [address = ''] = /192\.0\.2\.\d+/.exec(decodeURIComponent(body)) ?? [];
      byClient.set(place, [...(byClient.get(place) ?? []), address]);
    }
    return [...new Set([...byClient.values()].map((addresses) => addresses.join(' ')))];
  };
  const untilAll = async (address: string): Promise<void> => {
    const are = async (): Promise<boolean> => {
      const templates = await Promise.all(clients.map((client) => fleet.contents(client)));
      return templates.every((contents) => contents.join() === address);
    };
    while (!(await are())) await setTimeout(50);
  };
  /** Every client has so many more passes. */
  const passes = async (count: number): Promise<void> => {
    const made = (): number => daemons.reduce((sum, one) => sum + passedBy(one).length, 0);
    for (const before = made(); made() < before + count * clients.length;) await setTimeout(20);
  };
  return { ...fleet, daemons, start, change, steps, untilAll, untilHad, passes };
};

describe('a rollout over three processes', () => {
  it('and its revert change each value once in each direction, whoever is late', async () => {
    const { change, steps, untilAll, untilHad, passes } = await threeProcesses();
    await change(0, '192.0.2.2');
    await untilAll('192.0.2.2');
    await passes(1);
    await change(1, '192.0.2.2');
    await untilHad(2);
    await passes(1);
    // The third one never has the new files before somebody goes back.
    await change(0, '192.0.2.1');
    await untilAll('192.0.2.1');
    await change(1, '192.0.2.1');
    await passes(1);
    await change(0, '192.0.2.3');
    await untilAll('192.0.2.3');
    await passes(1);
    expect(steps()).toEqual(['192.0.2.2 192.0.2.1 192.0.2.3']);
  });

  it('goes on where a process with the newest files is killed and started again on old ones', async () => {
    const { change, steps, untilAll, passes, daemons, start } = await threeProcesses();
    await change(0, '192.0.2.2');
    await change(1, '192.0.2.2');
    await untilAll('192.0.2.2');
    daemons[2]!.signal('SIGKILL');
    await daemons[2]!.ended;
    daemons.push(start(2));
    await passes(2);
    expect(steps()).toEqual(['192.0.2.2']);
  });
});
