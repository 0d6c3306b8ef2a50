import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { addTemplate } from '../daemon/daemon.ts';
import { startProcess } from '../process.ts';
import { parseLine, workplace, type LogLine, type Program } from '../program.ts';
import { startService, userToken, type Meddling } from '../service.ts';
import { json } from '../wire/scripted-server.ts';
import { newDatabaseUrl } from './databases.ts';

export interface FleetSettings {
  readonly schedule: string;
  /** Milliseconds. */
  readonly leaseDuration: number;
  readonly count?: number;
  /** Asked before the service. */
  readonly meddle?: Meddling;
  /** More lines of the settings file. */
  readonly config?: string;
  /** More settings of a client, given the address of the service. */
  readonly settingsOf?: (client: string, url: string) => string;
}

/** At once: a file that is seen half written waits for half a minute, and another process may see it whole. */
export const putFile = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text);
  // Else its times could be those of a copy that is on its way.
  await utimes(`${file}.new`, 0, 0);
  await rename(`${file}.new`, file);
};

const clientIn = (query: string): string => /client_token=token-of-([\w-]+)/.exec(query)?.[1] ?? '';

/** Clients of which each sees its own template alone, and daemons that share a database. */
export const newFleet = async ({
  schedule,
  leaseDuration,
  count = 24,
  meddle = () => null,
  config = '',
  settingsOf = () => '',
}: FleetSettings) => {
  const clients = Array.from({ length: count }, (_, at) => `client-${at}`);
  const variable = (client: string): string => `TOKEN_OF_${client.replace('-', '_').toUpperCase()}`;
  const ids = new Map<string, number>();
  const service = await startService(async (request) => {
    const answer = await meddle(request);
    if (answer !== null) return answer;
    const { method, path: place, query } = request;
    const id = ids.get(clientIn(query));
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
      await putFile(path.join(cwd, client, 'web.yaml'), `template: web-of-${client}\nrecords:\n${records}`);
    }
  };
  await describeAll(['192.0.2.1']);
  const settings = clients.map(
    (client) =>
      `  ${client}: {templates: ./${client}, clientToken: {env: ${variable(client)}}${settingsOf(client, service.url)}}\n`,
  );
  await writeFile(
    path.join(cwd, 'dns-template-sync.yaml'),
    `${config}schedule: '${schedule}'\nclients:\n${settings.join('')}`,
  );
  const env = {
    DNS_SYNC_BASE_URL: service.url,
    DNS_SYNC_USER_TOKEN: userToken,
    DNS_SYNC_STORE: await newDatabaseUrl(),
    DNS_SYNC_UNKNOWN_PAUSE: '1s',
    DNS_SYNC_LEASE_DURATION: `${leaseDuration}ms`,
    ...Object.fromEntries(clients.map((client) => [variable(client), `token-of-${client}`])),
  };
  const daemon = (...args: readonly string[]): Program =>
    startProcess(
      [
        'run',
        '--config',
        'dns-template-sync.yaml',
        ...(args.includes('--listen') ? [] : ['--listen', 'off']),
        ...args,
      ],
      { cwd, env },
    );
  const contents = async (client: string): Promise<string[]> =>
    (await service.records(ids.get(client) ?? 0)).map(({ content }) => content).toSorted();
  /** Resolves when each client has what its file says, and no more. */
  const agree = async (addresses: readonly string[]): Promise<void> => {
    for (const client of clients) {
      while ((await contents(client)).length < addresses.length) await setTimeout(20);
      expect([client, await contents(client)]).toEqual([client, addresses]);
    }
  };
  return { clients, service, cwd, env, describeAll, contents, agree, daemon };
};

/** Its log so far, without a last line that is not complete. */
export const linesOf = (program: Program): LogLine[] =>
  program.output().split('\n').slice(0, -1).map(parseLine);

/** The clients whose passes a daemon has ended, one for each pass. */
export const passedBy = (daemon: Program): string[] =>
  linesOf(daemon).flatMap(({ event, client }) => (event === 'pass.finished' ? String(client) : []));

/** Resolves when each of the clients has had so many more passes by the daemons together. */
export const passAgain = async (
  clients: readonly string[],
  daemons: readonly Program[],
  times = 1,
): Promise<void> => {
  const counts = new Map(clients.map((client) => [client, 0]));
  const follow = async (daemon: Program, before: number): Promise<void> => {
    for (let seen = before; ; await daemon.event('pass.finished')) {
      const passed = passedBy(daemon);
      for (const client of passed.slice(seen)) counts.set(client, (counts.get(client) ?? 0) + 1);
      if ([...counts.values()].every((count) => count >= times)) return;
      seen = passed.length;
    }
  };
  await Promise.race(daemons.map((daemon) => follow(daemon, passedBy(daemon).length)));
};

/** Resolves when each of the clients has had such a pass, by whichever of the daemons. */
export const allPassed = async (
  clients: readonly string[],
  daemons: readonly Program[],
  isSo: (line: LogLine) => boolean = () => true,
): Promise<void> => {
  const haveAll = (): boolean => {
    const passes = daemons.flatMap(linesOf).filter((line) => line['event'] === 'pass.finished' && isSo(line));
    return clients.every((one) => passes.some(({ client }) => client === one));
  };
  while (!haveAll()) await setTimeout(20);
};

export const writesBy = (daemon: Program): number =>
  linesOf(daemon).filter(({ event }) => event === 'change.applied').length;

/** Where its page is. */
export const addressOf = async (daemon: Program): Promise<string> =>
  String((await daemon.event('daemon.started'))['listen']);
