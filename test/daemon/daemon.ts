import { readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { parseScrape, type Scrape } from './scrape.ts';
import { parseLine, start, type Launch, type LogLine, type Program } from '../program.ts';
import type { Service } from '../service.ts';

/** A schedule that asks for no pass while a test runs. */
export const never = '0 0 29 2 *';

/** A schedule of every ten seconds, the first of them so many seconds from now. */
export const inSeconds = (seconds: number): string =>
  `${(new Date().getSeconds() + seconds) % 10}-59/10 * * * * *`;

export interface Daemon extends Program {
  /** Its own answer to a request. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
  readonly json: (path: string) => Promise<unknown>;
  /** Its log so far. */
  readonly lines: () => LogLine[];
  readonly scrape: () => Promise<Scrape>;
  /** Asks for a pass over HTTP, and waits for its end; of one client where a name is given. */
  readonly pass: (client?: string) => Promise<LogLine>;
}

export const triggerToken = 'the trigger token/1+"';

/**
 * The daemon without a schedule, listening on a free port, after its first log line; in this process where nothing else
 * is said.
 */
export const startDaemon = async (
  args: readonly string[],
  launch: Launch,
  begin: (args: readonly string[], launch: Launch) => Program = start,
): Promise<Daemon> => {
  await age(launch.cwd);
  const program = begin(['run', '--listen', '127.0.0.1:0', '--schedule', never, ...args], {
    ...launch,
    env: { DNS_SYNC_TRIGGER_TOKEN: triggerToken, ...launch.env },
  });
  const { listen } = await program.event('daemon.started');
  const ask: Daemon['ask'] = (place, init) => fetch(`${String(listen)}${place}`, init);
  onTestFinished(() => expect(program.output()).not.toMatch(defect));
  return {
    ...program,
    ask,
    json: async (place) => (await ask(place)).json(),
    lines: () => program.output().split('\n').slice(0, -1).map(parseLine),
    scrape: async () => parseScrape(await (await ask('/metrics')).text()),
    pass: async (client) => {
      await ask('/api/reconcile', { method: 'POST', headers: { authorization: `Bearer ${triggerToken}` } });
      return program.event(
        'pass.finished',
        (line) => line['trigger'] === 'request' && (client === undefined || line['client'] === client),
      );
    },
  };
};

/** An error of the code itself, which a daemon logs and goes on. */
const defect = /"type":"(?:Type|Reference|Range|Syntax)Error"/;

/** As if its template files had been there for a while: a daemon waits for those that may still be on their way. */
const age = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder, { recursive: true }))
    if (/\.ya?ml$/.test(name)) await utimes(path.join(folder, name), 0, 0).catch(() => undefined);
};

/** A template file with one address; further keys come before the records. */
export const describing = (template: string, address: string, keys = ''): string =>
  `template: ${template}\n${keys}records:\n  - {type: A, content: ${address}}\n`;

/** A template of the client's own with one address. Gives its id. */
export const addTemplate = async ({ change }: Service, name: string, address: string): Promise<number> => {
  const made: unknown = await change('add-template', { name, records: [{ type: 'A', content: address }] });
  expect(made).toMatchObject({ id: expect.any(Number) });
  return typeof made === 'object' && made !== null && 'id' in made ? Number(made.id) : 0;
};

/** The contents of its records at the service. */
export const contentsOf = async ({ records }: Service, id: number): Promise<string[]> =>
  (await records(id)).map(({ content }) => content);
