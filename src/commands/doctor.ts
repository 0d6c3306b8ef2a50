import type { Options } from '../app/options.ts';
import { examineAddress, examineClock } from '../doctor/address.ts';
import { examineFields } from '../doctor/fields.ts';
import {
  findingsAbout,
  type Finding,
  type Found,
  type ToSet,
  asText,
  type Examination,
} from '../doctor/finding.ts';
import { examineListing, examineRejection } from '../doctor/listing.ts';
import { compareListings, examineSubdomains } from '../doctor/stability.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { openProbe } from '../hosting/probe.ts';
import { connectHosting, type HostingOptions } from '../hosting/service.ts';
import type { Clock } from '../lib/clock.ts';
import { durationText } from '../model/duration.ts';
import type { ActualTemplate } from '../model/template.ts';
import { asJson } from '../lib/escape-control.ts';
import { readVersion } from '../version.ts';
import { inAppContext, onlyClient } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { examineSurroundings } from './doctor-surroundings.ts';
import { tryWrite } from './doctor-write.ts';
import { whileShown } from '../app/progress.ts';
import type { ClientSettings } from '../settings/client.ts';

/** Examines one client's service and surroundings. Exits with 1 if something keeps it from working. */
export const doctor = (record: string | null, options: Options, io: Io): Promise<number> => {
  const write = typeof options['write'] === 'string' ? options['write'] : null;
  if ((write === null) !== (record === null))
    throw new UserError('doctor --write needs a template and a record: doctor --write TEMPLATE RECORD');
  const isTimed = options['lag'] === true;
  if (write === null && isTimed) throw new UserError('--lag needs --write TEMPLATE RECORD');
  return inAppContext(
    options,
    io,
    async (context) => {
      const client = onlyClient(context);
      const settle = context.sandboxUrl === null ? client.settings.settle : 0;
      const found = await whileShown(io, 'examining the service', () =>
        examine(client, settle, context.settings.store !== null, io.clock),
      );
      if (write !== null && record !== null)
        found.push(await tryWrite(client, { write, record, settle: isTimed ? settle : null, options }, io));
      const findings = found.flatMap((one) => one.findings);
      const set = changesIn(client, Object.assign({}, ...found.map((one) => one.set)));
      const examination = context.redact<Examination>({
        schema: 'dns-template-sync/doctor/v1',
        version: readVersion(),
        node: process.versions.node,
        client: client.settings.name,
        status: findings.some(({ state }) => state === 'problem') ? 'problem' : 'ok',
        findings,
        set: Object.fromEntries(Object.entries(set).map(([key, value]) => [key, JSON.stringify(value)])),
        settings: settingsFile(client.settings, set),
      });
      io.stdout.write(options['format'] === 'json' ? asJson(examination) : asText(examination));
      return examination.status === 'ok' ? 0 : 1;
    },
    { asksNameServers: true },
  );
};

const examine = async (
  client: Client,
  settle: number,
  isStateShared: boolean,
  clock: Clock,
): Promise<Found[]> => {
  const { connection, settings } = client;
  const { baseUrl, requestTimeout } = settings;
  const desired = await client.load();
  const found: Found[] = [await examineAddress(baseUrl, settings, settings.given().proxies, requestTimeout)];
  const probe = openProbe(connection);
  try {
    const tokens = connection.tokens();
    const listing = await examineListing(probe, tokens, settings);
    found.push(listing);
    if (listing.answer !== null) {
      const timing = examineClock(listing.answer.headers['date'], clock.now());
      const fitting = { ...connection, ...listing.set };
      found.push(await examineRejection(probe, listing.answer, fitting));
      const subdomains = desired.templates.flatMap((template) => template.subdomains);
      found.push(...(await examineTemplates(fitting, settle, subdomains, clock)), timing);
      found.push(limitsIn(listing.answer.headers));
    }
  } finally {
    await probe.close();
  }
  const isUnderstood = found.every(
    ({ findings, set = {} }) =>
      findings.every(({ state }) => state !== 'problem') && Object.keys(changesIn(client, set)).length === 0,
  );
  found.push(...(await examineSurroundings(client, desired, { isUnderstood, isStateShared })));
  return found;
};

const examineTemplates = async (
  connection: HostingOptions,
  settle: number,
  subdomains: readonly string[],
  clock: Clock,
): Promise<Found[]> => {
  const service = connectHosting(connection);
  try {
    const first = await service.listDnsTemplates();
    await clock.sleep(settle, new AbortController().signal);
    const second: readonly ActualTemplate[] = await service.listDnsTemplates();
    return [
      examineFields(second),
      compareListings(first, second, durationText(settle)),
      await examineSubdomains(service, [...new Set(subdomains)], [first, second]),
    ];
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    const finding: Finding = { about: 'records', state: 'problem', text: error.message };
    return [{ findings: [finding] }];
  } finally {
    await service.close();
  }
};

const limitsIn = (headers: Readonly<Record<string, string | string[] | undefined>>): Found => {
  const { all, ok } = findingsAbout('limits');
  const said = Object.entries(headers).filter(([name]) => /rate-?limit|^retry-after$/.test(name));
  ok(
    said.length === 0
      ? 'the service names none'
      : said.map(([name, value]) => `${name}: ${String(value)}`).join(', '),
  );
  return { findings: all };
};

/** Without what is set already. */
const changesIn = ({ settings }: Client, set: ToSet): ToSet =>
  Object.fromEntries(
    Object.entries(set).filter(
      ([key, value]) => !Object.entries(settings).some((one) => one[0] === key && one[1] === value),
    ),
  );

/** The settings file that has what is set now, and what is to set. Tokens are named, not shown. */
const settingsFile = (settings: ClientSettings, set: ToSet): string => {
  const given = settings.given().settings;
  const lines = new Map<string, string>([['baseUrl', settings.baseUrl]]);
  for (const [key, { texts }] of Object.entries(given)) lines.set(key, yamlOf(texts));
  for (const [key, value] of Object.entries(set)) lines.set(key, yamlOf([value ?? '']));
  // A proxy's address may have a password.
  if (settings.proxy?.url !== `${settings.proxy?.shown}/`) lines.delete('proxy');
  const { places = '' } = settings.tokens.read();
  const tokens = places.split(', ').filter((one) => one !== '');
  return [
    ...[...lines].map(([key, value]) => `${key}: ${value}`),
    ...tokens.map((one) => tokenLine(one)),
  ].join('\n');
};

const tokenLine = (text: string): string => {
  const [key = '', place = ''] = text.split(': ');
  if (/^[A-Z][A-Z0-9_]*_FILE$/.test(place)) return `${key}: { file: PATH } # that of ${place}`;
  if (/^[A-Z][A-Z0-9_]*$/.test(place)) return `${key}: { env: ${place} }`;
  return `# ${key}: as in ${place}`;
};

const yamlOf = (texts: readonly string[]): string =>
  texts.length === 1 ? scalar(texts[0]!) : `[${texts.map(scalar).join(', ')}]`;

const scalar = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : JSON.stringify(text));
