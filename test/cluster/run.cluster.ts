import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { addTemplate } from '../e2e/daemon.ts';
import { start, workplace, type Program } from '../e2e/program.ts';
import { startService, userToken } from '../e2e/service.ts';
import { json } from '../hosting/scripted-server.ts';
import { newDatabaseUrl } from './databases.ts';

const clients = Array.from({ length: 60 }, (_, at) => `client-${at}`);
const variable = (client: string): string => `TOKEN_OF_${client.replace('-', '_').toUpperCase()}`;
const leaseDuration = 3_000;

/** A write that was under way when its sender died is tried again by the next pass. */
const often = '*/10 * * * * *';

/** Sixty clients, of which each sees its own template alone, and daemons that share a database. */
const newFleet = async () => {
  const ids = new Map<string, number>();
  const service = await startService(async ({ method, path: place, query }) => {
    const id = ids.get(/client_token=token-of-([\w-]+)/.exec(query)?.[1] ?? '');
    if (method !== 'GET' || !place.endsWith('/dns_templates') || id === undefined) return null;
    return json([await service.template(id)]);
  });
  const cwd = await workplace({ withExamples: false });
  for (const client of clients) {
    ids.set(client, await addTemplate(service, `web-of-${client}`, '192.0.2.1'));
    await mkdir(path.join(cwd, client));
  }
  const describeAll = async (addresses: readonly string[]): Promise<void> => {
    for (const client of clients) {
      const records = addresses.map((address) => `  - {type: A, content: ${address}}\n`).join('');
      await writeFile(path.join(cwd, client, 'web.yaml'), `template: web-of-${client}\nrecords:\n${records}`);
    }
  };
  await describeAll(['192.0.2.1']);
  const settings = clients.map(
    (client) => `  ${client}: {templates: ./${client}, clientToken: {env: ${variable(client)}}}\n`,
  );
  await writeFile(
    path.join(cwd, 'dns-template-sync.yaml'),
    `schedule: '${often}'\nclients:\n${settings.join('')}`,
  );
  const env = {
    DNS_SYNC_BASE_URL: service.url,
    DNS_SYNC_USER_TOKEN: userToken,
    DNS_SYNC_STORE: await newDatabaseUrl(),
    DNS_SYNC_UNKNOWN_PAUSE: '1s',
    DNS_SYNC_LEASE_DURATION: `${leaseDuration}ms`,
    ...Object.fromEntries(clients.map((client) => [variable(client), `token-of-${client}`])),
  };
  const daemon = () => start(['run', '--listen', 'off'], { cwd, env });
  const contents = async (client: string): Promise<string[]> =>
    (await service.records(ids.get(client) ?? 0)).map(({ content }) => content).toSorted();
  /** Resolves when each client has what its file says, and no more. */
  const agree = async (addresses: readonly string[]): Promise<void> => {
    for (const client of clients) {
      while ((await contents(client)).length < addresses.length) await setTimeout(20);
      expect([client, await contents(client)]).toEqual([client, addresses]);
    }
  };
  return { service, describeAll, agree, daemon };
};

const passed = async (daemon: Program, count: number): Promise<void> => {
  for (let passes = 0; passes < count; passes += 1) await daemon.event('pass.finished');
};

const applied = (daemon: Program): number => daemon.output().split('"event":"change.applied"').length - 1;

it('is run by several at once: what one leaves when it dies or stops, another one takes over', async () => {
  const { service, describeAll, agree, daemon } = await newFleet();
  const [killed, stopped] = [daemon(), daemon()];
  await Promise.all([passed(killed, clients.length), passed(stopped, clients.length)]);
  expect(service.writes()).toEqual([]);

  const first = ['192.0.2.1', '192.0.2.2'];
  await describeAll(first);
  while (service.writes().length < 20) await setTimeout(1);
  killed.signal('SIGKILL');
  const killedAt = performance.now();
  await agree(first);
  const killedFor = performance.now() - killedAt;

  const third = daemon();
  await passed(third, clients.length);
  const second = [...first, '192.0.2.3'];
  const before = service.writes().length;
  await describeAll(second);
  while (service.writes().length < before + 20) await setTimeout(1);
  stopped.signal('SIGSTOP');
  const stoppedAt = performance.now();
  await agree(second);
  const stoppedFor = performance.now() - stoppedAt;
  const made = service.writes().length;
  stopped.signal('SIGCONT');
  await stopped.event('pass.finished');
  stopped.signal('SIGTERM');
  await stopped.ended;
  await agree(second);
  const late = service.writes().length - made;
  process.stdout.write(
    `60 clients, lease ${leaseDuration} ms: ${applied(killed)}, ${applied(stopped)} and ${applied(third)} writes by each of three; ` +
      `${Math.round(killedFor)} ms from SIGKILL, ${Math.round(stoppedFor)} ms from SIGSTOP to the last record; ` +
      `${late} late writes, no record twice\n`,
  );
  expect(late).toBe(0);
});
