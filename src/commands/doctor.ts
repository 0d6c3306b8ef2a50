import type { Options } from '../app/options.ts';
import { examineAddress } from '../doctor/address.ts';
import { examineFields } from '../doctor/fields.ts';
import { findingsAbout, type Found, asText, type Examination } from '../doctor/finding.ts';
import { compareListings, examineSubdomains } from '../doctor/stability.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { connectHosting, type HostingOptions } from '../hosting/service.ts';
import type { Clock } from '../lib/clock.ts';
import { durationText } from '../model/duration.ts';
import type { ActualTemplate } from '../model/template.ts';
import { asJson } from '../lib/escape-control.ts';
import { readVersion } from '../version.ts';
import { inAppContext, onlyClient } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { examineSurroundings } from './doctor-surroundings.ts';
import { whileShown } from '../app/progress.ts';
import type { ClientSettings } from '../settings/client.ts';

/** Examines one client's service and surroundings. Exits with 1 if something keeps it from working. */
export const doctor = (options: Options, io: Io): Promise<number> =>
  inAppContext(
    options,
    io,
    async (context) => {
      const client = onlyClient(context);
      const settle = context.sandboxUrl === null ? client.settings.settle : 0;
      const found = await whileShown(io, 'examining the service', () =>
        examine(client, settle, context.settings.store !== null, io.clock),
      );
      const findings = found.flatMap((one) => one.findings);
      const examination = context.redact<Examination>({
        schema: 'dns-template-sync/doctor/v1',
        version: readVersion(),
        node: process.versions.node,
        client: client.settings.name,
        status: findings.some(({ state }) => state === 'problem') ? 'problem' : 'ok',
        findings,
        settings: settingsFile(client.settings),
      });
      io.stdout.write(options['format'] === 'json' ? asJson(examination) : asText(examination));
      return examination.status === 'ok' ? 0 : 1;
    },
    { asksNameServers: true },
  );

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
  const subdomains = desired.templates.flatMap((template) => template.subdomains);
  found.push(...(await examineTemplates(connection, settle, subdomains, clock)));
  const isUnderstood = found.every(({ findings }) => findings.every(({ state }) => state !== 'problem'));
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
    const { all, problem } = findingsAbout('GET /dns_templates');
    problem(error.message);
    return [{ findings: all }];
  } finally {
    await service.close();
  }
};

/** What is set now, as a settings file. Tokens are named, not shown. */
const settingsFile = (settings: ClientSettings): string => {
  const given = settings.given().settings;
  const lines = new Map<string, string>([['baseUrl', settings.baseUrl]]);
  for (const [key, { texts }] of Object.entries(given)) lines.set(key, yamlOf(texts));
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
