import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { inAppContext, onlyClient, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { whileShown } from '../app/progress.ts';
import { ownersIn } from '../cluster/owners.ts';
import { messageOf } from '../errors.ts';
import { asJson, escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { durationText } from '../model/duration.ts';
import { isDescribable } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { exchange } from '../network/exchange.ts';
import { openCheckouts } from '../source/checkout.ts';
import { readVersion } from '../version.ts';
import type { Run } from './table.ts';

/** `problem`: it cannot work, or would write wrongly, until that is changed. */
interface Finding {
  readonly about: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
}

const ok = (about: string, text: string): Finding => ({ about, state: 'ok', text });
const note = (about: string, text: string): Finding => ({ about, state: 'note', text });
const problem = (about: string, text: string): Finding => ({ about, state: 'problem', text });

const signs = { ok: '✓', note: '!', problem: '✗' } as const;

/** Examines one client's service and surroundings, and only reads. Exits with 1 if something keeps it from working. */
export const doctor: Run = (_, options, io) =>
  inAppContext(options, io, async (context) => {
    const client = onlyClient(context);
    const findings = await whileShown(io, 'examining the service', async () => [
      ...(await examineService(client, context)),
      ...(await examineClock(client, context)),
      examineSettings(client),
      await examineFiles(client),
      ...(await examineState(client, context)),
    ]);
    const status = findings.some(({ state }) => state === 'problem') ? 'problem' : 'ok';
    const [version, { node }, { name }] = [readVersion(), process.versions, client.settings];
    const schema = 'dns-template-sync/doctor/v1';
    const found = context.redact({ schema, version, node, client: name, status, findings });
    const lines = [
      `dns-template-sync ${version}, Node.js ${node}, client ${found.client}`,
      ...found.findings.map(
        ({ about, state, text }) => `${signs[state]} ${about.padEnd(15)}${escapeControl(text)}`,
      ),
    ];
    io.stdout.write(options['format'] === 'json' ? asJson(found) : `${lines.join('\n')}\n`);
    return status === 'ok' ? 0 : 1;
  });

/** Whether it can be reached and understood, what it has, and whether a second listing says the same. */
const examineService = async (
  { settings, service }: Client,
  { clock, sandboxUrl }: AppContext,
): Promise<Finding[]> => {
  const { baseUrl, proxy } = settings;
  const way = proxy === null ? '' : `, through the proxy ${proxy.shown} (${proxy.place})`;
  try {
    const first = await service.listDnsTemplates();
    const settle = sandboxUrl === null ? settings.settle : 0;
    await clock.sleep(settle, new AbortController().signal);
    const second = await service.listDnsTemplates();
    return [
      ok('service', `${baseUrl} answers as specified${way}`),
      ...examineTemplates(second),
      compareListings(first, second, `${durationText(settle)} apart`),
    ];
  } catch (error) {
    const failed = problem('service', `${messageOf(error)}${way}`);
    if (/\/api\/v\d+\/*$/.test(baseUrl)) return [failed];
    const whole = `${baseUrl.replace(/\/+$/, '')}/api/v1`;
    return [problem('baseUrl', `${baseUrl} does not end with /api/v1: should it be ${whole}?`), failed];
  }
};

const examineTemplates = (templates: readonly ActualTemplate[]): Finding[] => {
  const own = templates.filter(({ publiclyAvailable }) => !publiclyAvailable);
  const records = own.flatMap((template) => template.records);
  const counted = `${plural(own.length, 'own template')} with ${plural(records.length, 'record')}, ${templates.length - own.length} public`;
  const found = [(records.length === 0 ? note : ok)('templates', counted)];
  const strange = records.filter((record) => !isDescribable(record));
  if (strange[0]) {
    const { id, type, name } = strange[0];
    const such = `such as ${id} (${type} ${name ?? '@'}): counted, never written`;
    found.push(note('records', `${strange.length} of other types or unreadable, ${such}`));
  }
  const unstated = templates.filter(({ isOwnerStated }) => isOwnerStated === false);
  if (unstated[0]) {
    const such = `such as ${unstated[0].name}: never written, since they may be public`;
    found.push(problem('templates', `${unstated.length} without publicly_available, ${such}`));
  }
  return found;
};

const compareListings = (
  first: readonly ActualTemplate[],
  second: readonly ActualTemplate[],
  apart: string,
): Finding => {
  const partsOf = (all: readonly ActualTemplate[]): string[] =>
    all.flatMap(({ id, records }) => [String(id), ...records.map((one) => JSON.stringify(one))]);
  const [before, after] = [new Set(partsOf(first)), new Set(partsOf(second))];
  const gone = [...before].filter((one) => !after.has(one)).length;
  const come = [...after].filter((one) => !before.has(one)).length;
  if (gone + come === 0) return ok('two listings', `${apart}, they agree`);
  const why = 'does somebody work there now, or is a listing not whole?';
  return problem('two listings', `${apart}, of all templates and records ${gone} gone, ${come} new: ${why}`);
};

/** What keeps a request without tokens from being answered, the listing has said. */
const examineClock = async ({ settings }: Client, { clock }: AppContext): Promise<Finding[]> => {
  const { origin, pathname } = new URL(settings.baseUrl);
  const signal = new AbortController().signal;
  const answer = await exchange({
    // Nothing but a GET: doctor only reads.
    kind: 'read',
    origin,
    path: pathname,
    route: settings,
    headers: {},
    body: null,
    timeout: 5_000,
    signal,
    maxSize: settings.maxAnswerSize,
  }).catch(() => null);
  const off = Math.round(Math.abs(clock.now() - Date.parse(String(answer?.headers.date))) / 1_000);
  if (Number.isNaN(off)) return [];
  if (off < 5) return [ok('clock', 'agrees with that of the service')];
  return [note('clock', `differs by ${off} s from that of the service`)];
};

const examineSettings = ({ settings }: Client): Finding =>
  ok('settings', settings.places().join(', ') || 'all have their defaults');

const examineFiles = async (client: Client): Promise<Finding> => {
  const { files, templates, problems } = await client.load();
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (files === 0) return note('template files', `none yet: ${errors[0]?.message ?? ''}`);
  const file = templates[0] && path.resolve(client.settings.cwd, templates[0].source.file);
  const commit = (file && openCheckouts()(file)?.commit) ?? null;
  const where = commit === null ? 'outside of git' : `at commit ${commit.slice(0, 12)}`;
  const text = `${plural(templates.length, 'template')} in ${plural(files, 'file')}, ${where}`;
  if (errors.length === 0) return ok('template files', text);
  return problem('template files', `${text}; ${plural(errors.length, 'error')}: see validate`);
};

/** Of the store that passes use, also with the embedded service. */
const examineState = async ({ savedAt, settings }: Client, context: AppContext): Promise<Finding[]> => {
  const { store, shared } = context;
  try {
    const [suspensions = []] = await store.suspended([savedAt]);
    const suspended = suspensions.length === 0 ? '' : `, ${plural(suspensions.length, 'suspension')}`;
    if (shared === null) {
      const unsaved = `nothing saved yet in ${savedAt.file}: the first write waits for a second listing`;
      accessSync(existing(savedAt.stateDir), constants.W_OK | constants.X_OK);
      if (!existsSync(savedAt.file)) return [note('state', unsaved)];
      return [ok('state', `${savedAt.file}${suspended}`)];
    }
    const { processes, clients } = await ownersIn(await shared.opened());
    const owner = clients.find(({ client }) => client === settings.name)?.owner;
    return [
      ok('state', `in ${shared.database().place}${suspended}`),
      ...processes.map(({ place, version, clients: owned }) =>
        ok('fleet', `${place}, version ${version}: makes the passes of ${plural(owned, 'client')}`),
      ),
      owner
        ? ok('fleet', `passes of this client are made by ${owner}`)
        : note('fleet', 'no living process makes the passes of this client'),
    ];
  } catch (error) {
    return [problem('state', messageOf(error))];
  }
};

/** The directory, or what it will be made in. */
const existing = (directory: string): string =>
  existsSync(directory) ? directory : existing(path.dirname(directory));
