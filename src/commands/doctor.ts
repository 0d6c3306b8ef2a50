import { accessSync, constants, existsSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import path from 'node:path';
import { rootCertificates, TLSSocket } from 'node:tls';
import { inAppContext, onlyClient, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import type { Options } from '../app/options.ts';
import { whileShown } from '../app/progress.ts';
import { ownersIn } from '../cluster/owners.ts';
import type { PostgresStore } from '../cluster/store.ts';
import { messageOf } from '../errors.ts';
import { openCheckouts } from '../source/checkout.ts';
import type { Io } from '../io.ts';
import { asJson, escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { durationText } from '../model/duration.ts';
import { isDescribable } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { nameOf } from '../network/trust.ts';
import { readVersion } from '../version.ts';

/** `problem`: it cannot work, or would write wrongly, until that is changed. */
interface Finding {
  readonly about: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
}

const ok = (about: string, text: string): Finding => ({ about, state: 'ok', text });
const note = (about: string, text: string): Finding => ({ about, state: 'note', text });
const problem = (about: string, text: string): Finding => ({ about, state: 'problem', text });

/** Examines one client's service and surroundings, and only reads. Exits with 1 if something keeps it from working. */
export const doctor = (options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const client = onlyClient(context);
    const findings = await whileShown(io, 'examining the service', async () => [
      ...(await examineService(client, context)),
      ...(await examineClock(client, context)),
      examineSettings(client),
      await examineFiles(client),
      ...(await examineState(client, context)),
    ]);
    const [version, { node }, { name }] = [readVersion(), process.versions, client.settings];
    const status = findings.some(({ state }) => state === 'problem') ? 'problem' : 'ok';
    const schema = 'dns-template-sync/doctor/v1';
    const found = context.redact({ schema, version, node, client: name, status, findings });
    const lines = found.findings.map(
      ({ about, state, text }) => `${signs[state]} ${about.padEnd(15)}${escapeControl(text)}`,
    );
    const heading = `dns-template-sync ${version}, Node.js ${node}, client ${found.client}`;
    io.stdout.write(options['format'] === 'json' ? asJson(found) : `${[heading, ...lines].join('\n')}\n`);
    return status === 'ok' ? 0 : 1;
  });

const signs = { ok: '✓', note: '!', problem: '✗' } as const;

/** Whether it can be reached and understood, what it has, and whether a second listing says the same. */
const examineService = async (
  { settings, service }: Client,
  { clock, sandboxUrl }: AppContext,
): Promise<Finding[]> => {
  const { baseUrl, proxy } = settings;
  const unused = settings.given().proxies.join(', ');
  const direct = unused === '' ? '' : `, without a proxy though ${unused} is set`;
  const way = proxy === null ? direct : `, through the proxy ${proxy.shown} (${proxy.place})`;
  try {
    const first = await service.listDnsTemplates();
    const settle = sandboxUrl === null ? settings.settle : 0;
    await clock.sleep(settle, new AbortController().signal);
    const second = await service.listDnsTemplates();
    const listings = compareListings(first, second, durationText(settle));
    return [ok('service', `${baseUrl} answers as specified${way}`), ...examineTemplates(second), listings];
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
  for (const { id, type, name } of strange.slice(0, 1))
    found.push(
      note(
        'records',
        `${strange.length} of other types or unreadable, such as ${id} (${type} ${name ?? '@'}): counted, never written`,
      ),
    );
  const unstated = templates.filter(({ isOwnerStated }) => isOwnerStated === false);
  for (const { name } of unstated.slice(0, 1))
    found.push(
      problem(
        'templates',
        `${unstated.length} without publicly_available, such as ${name}: never written, since they may be public`,
      ),
    );
  return found;
};

const compareListings = (
  first: readonly ActualTemplate[],
  second: readonly ActualTemplate[],
  settle: string,
): Finding => {
  const [before, after] = [first, second].map(
    (all) =>
      new Set(all.flatMap(({ id, records }) => [String(id), ...records.map((one) => JSON.stringify(one))])),
  );
  const gone = [...before!].filter((one) => !after!.has(one)).length;
  const come = [...after!].filter((one) => !before!.has(one)).length;
  if (gone + come === 0) return ok('two listings', `${settle} apart, they agree`);
  const text = `${settle} apart, ${gone} templates or records are gone, ${come} new: does somebody work there now, or is a listing not whole?`;
  return problem('two listings', text);
};

/** One request without tokens tells of clock and certificate. What keeps it from being answered, the listing has said. */
const examineClock = ({ settings }: Client, { clock }: AppContext): Promise<Finding[]> => {
  const { baseUrl, proxy, ca } = settings;
  if (proxy !== null) return Promise.resolve([]);
  const trust = ca === null ? {} : { ca: [...rootCertificates, ca.pem()] };
  return new Promise((resolve) => {
    const request = baseUrl.startsWith('https:') ? requestSecure : requestPlain;
    const asked = request(baseUrl, { method: 'HEAD', agent: false, ...trust }, ({ headers, socket }) => {
      const off = Math.round(Math.abs(clock.now() - Date.parse(headers.date ?? '')) / 1_000);
      const agrees = ok('clock', 'agrees with that of the service');
      const found = off < 5 ? [agrees] : [note('clock', `differs by ${off} s from that of the service`)];
      if (socket instanceof TLSSocket) {
        const { issuer, valid_to: until } = socket.getPeerCertificate();
        found.push(ok('certificate', `of ${nameOf(issuer)}, valid until ${until}`));
      }
      asked.destroy();
      resolve(headers.date === undefined ? found.slice(1) : found);
    });
    const giveUp = setTimeout(() => asked.destroy(), 5_000);
    asked
      .on('error', () => resolve([]))
      .on('close', () => clearTimeout(giveUp))
      .end();
  });
};

const examineSettings = ({ settings }: Client): Finding => {
  const given = Object.entries(settings.given().settings).map(([key, place]) => `${key}: ${place}`);
  const { places } = settings.tokens.read();
  return ok('settings', [...given, ...(places === undefined ? [] : [places])].join(', '));
};

const examineFiles = async (client: Client): Promise<Finding> => {
  const { files, templates, problems } = await client.load();
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (files === 0) return note('template files', `none yet: ${errors[0]?.message ?? ''}`);
  const [first] = templates;
  const commit = first
    ? (openCheckouts()(path.resolve(client.settings.cwd, first.source.file))?.commit ?? null)
    : null;
  const where = commit === null ? 'outside of git' : `at commit ${commit.slice(0, 12)}`;
  const text = `${plural(templates.length, 'template')} in ${plural(files, 'file')}, ${where}`;
  if (errors.length === 0) return ok('template files', text);
  return problem('template files', `${text}; ${plural(errors.length, 'error')}: see validate`);
};

/** Of the store that passes use, also with the embedded service. */
const examineState = async (client: Client, context: AppContext): Promise<Finding[]> => {
  const { file, stateDir } = client.savedAt;
  try {
    const [suspensions = []] = await context.store.suspended([client.savedAt]);
    const suspended = suspensions.length === 0 ? '' : `, ${plural(suspensions.length, 'suspension')}`;
    if (context.shared !== null) {
      const { place } = context.shared.database();
      return [ok('state', `in ${place}${suspended}`), ...(await examineFleet(client, context.shared))];
    }
    if (!existsSync(file))
      return [note('state', `nothing saved yet in ${file}: the first write waits for a second listing`)];
    accessSync(stateDir, constants.W_OK | constants.X_OK);
    return [ok('state', `${file}${suspended}`)];
  } catch (error) {
    return [problem('state', messageOf(error))];
  }
};

/** The processes that share the clients, and which of them owns this one. */
const examineFleet = async ({ settings }: Client, store: PostgresStore): Promise<Finding[]> => {
  const { processes, clients } = await ownersIn(await store.opened());
  const found = processes.map(({ place, version, clients: owned }) =>
    ok('fleet', `${place}, version ${version}: makes the passes of ${plural(owned, 'client')}`),
  );
  const own = clients.find(({ client }) => client === settings.name);
  if (own?.owner) return [...found, ok('fleet', `passes of this client are made by ${own.owner}`)];
  if (processes.length === 0) return [note('fleet', 'no process is alive')];
  return [...found, note('fleet', 'no living process makes the passes of this client')];
};
