import type { Options } from './options.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import { escapeControl } from '../lib/escape-control.ts';
import type { DesiredTemplate, ActualTemplate, SubdomainRecord } from '../model/template.ts';
import { compareSubdomain } from '../plan/subdomains.ts';
import { answersView } from '../report/answers-view.ts';
import { shorten } from '../report/columns.ts';
import { asJson } from '../report/json-text.ts';
import { statusWords } from '../report/view.ts';
import { answersKey } from '../report/with-answers.ts';
import { notAsked, type SubdomainAnswers } from '../result.ts';
import { areAlike, layerRows, setText, type LayerRow } from './check-table.ts';
import type { Client } from './client.ts';
import { templateOf } from './client-answers.ts';
import { openAppContext } from './app-context.ts';
import { asTable } from './table.ts';

/** Names as file, template, service and each name server have them, side by side. Writes nothing. */
export const check = async (subdomains: readonly string[], options: Options): Promise<number> => {
  const context = await openAppContext(options, 2, { asksNameServers: true });
  try {
    const checked: CheckedName[] = [];
    for (const subdomain of subdomains)
      checked.push(context.redact(await checkName(subdomain, context.clients)));
    process.stdout.write(options['format'] === 'json' ? asJson(checked) : checked.map(asText).join('\n'));
    const statuses = checked.map(({ status }) => status);
    if (statuses.includes('failed')) return 1;
    return options['detailedExitcode'] === true && statuses.some((one) => one !== 'in-sync') ? 2 : 0;
  } catch (error) {
    if (error instanceof HostingError) throw new UserError(error.message, { cause: error });
    throw error;
  } finally {
    await context.close();
  }
};

interface CheckedName {
  readonly subdomain: string;
  readonly client: string;
  readonly status: 'in-sync' | 'pending' | 'drifted' | 'failed';
  /** Null if no file names the subdomain. */
  readonly file: string | null;
  readonly template: string | null;
  readonly templateId: number | null;
  readonly records: readonly LayerRow[];
  readonly answers: SubdomainAnswers;
}

const checkName = async (subdomain: string, clients: readonly Client[]): Promise<CheckedName> => {
  if (/[/:@\s]/.test(subdomain))
    throw new UserError(`${subdomain} is not a host name: give the subdomain alone`);
  const { client, desired } = await ownerOf(subdomain, clients);
  const [records, templates] = await Promise.all([
    client.service.listDnsRecords(subdomain),
    client.service.listDnsTemplates(),
  ]);
  const matching = templateFor(desired, records, templates);
  const answers = await answersOf(subdomain, desired, client);
  const file = desired?.records ?? null;
  const rows = layerRows(subdomain, { file, template: matching?.records ?? null, service: records, answers });
  const isBehind = matching !== null && compareSubdomain(subdomain, matching, records).length > 0;
  const differs = file !== null && rows.some((row) => !areAlike(row.file, row.template ?? []));
  return {
    subdomain,
    client: client.settings.name,
    status: answers.status === 'failed' ? 'failed' : differs || isBehind ? 'drifted' : shownStatus(answers),
    file: desired?.source.file ?? null,
    template: matching?.name ?? desired?.template ?? null,
    templateId: matching?.id ?? null,
    records: rows,
    answers,
  };
};

const shownStatus = ({ status }: SubdomainAnswers): CheckedName['status'] =>
  status === 'off' ? 'in-sync' : status;

/** The client whose files name the subdomain, else one whose service knows it. */
const ownerOf = async (
  subdomain: string,
  clients: readonly Client[],
): Promise<{ client: Client; desired: DesiredTemplate | null }> => {
  for (const client of clients) {
    const desired = templateOf(subdomain, (await client.load()).templates);
    if (desired !== null) return { client, desired };
  }
  const [first, ...others] = clients;
  if (!first || others.length > 0)
    throw new UserError(
      `no template file names ${subdomain} under subdomains: choose a client with --client`,
    );
  return { client: first, desired: null };
};

const templateFor = (
  desired: DesiredTemplate | null,
  records: readonly SubdomainRecord[],
  templates: readonly ActualTemplate[],
): ActualTemplate | null => {
  const own = templates.filter(({ publiclyAvailable }) => !publiclyAvailable);
  if (desired !== null) {
    const { id, template } = desired;
    return own.find((one) => (id === null ? one.name === template : one.id === id)) ?? null;
  }
  const ids = new Set(records.map(({ templateRecordId }) => templateRecordId));
  return templates.find((template) => template.records.some(({ id }) => ids.has(id))) ?? null;
};

const answersOf = async (
  subdomain: string,
  desired: DesiredTemplate | null,
  client: Client,
): Promise<SubdomainAnswers> => {
  const found = await client.askNameServers({
    templates: [],
    isCommand: true,
    subdomains: [subdomain],
    signal: new AbortController().signal,
    previous: new Map(),
  });
  return found.get(answersKey(desired?.template ?? null, subdomain)) ?? notAsked;
};

const asText = (checked: CheckedName): string => {
  const { subdomain, status, file, template, templateId, records, answers } = checked;
  const follows =
    template === null ? 'no template' : `${template}${templateId === null ? '' : ` (${templateId})`}`;
  const view = answersView(answers, subdomain);
  const heading = [`${subdomain}: ${statusWords[status]}`, follows, file ?? 'in no template file'].join(
    ' · ',
  );
  const table = asTable(records.map(tableRow));
  return [
    `${escapeControl(heading)}\n`,
    table,
    ...(records.length === 0 ? [] : ['= same as to the left, - nothing, ? could not be read\n']),
    ...answers.servers.flatMap(({ name, serial }) =>
      serial === null ? [] : [`${escapeControl(name)}: serial ${serial}\n`],
    ),
    ...(view?.remarks ?? []).map((remark) => `${remark}\n`),
  ].join('');
};

const tableRow = ({ name, type, file, template, service, servers }: LayerRow): Record<string, string> => {
  const cell = (own: LayerRow['file'], left: LayerRow['file']): string =>
    own !== null && areAlike(own, left) ? (own.length === 0 ? '-' : '=') : shorten(setText(own), maxContent);
  return {
    name: name ?? '@',
    type,
    file: shorten(setText(file), maxContent),
    template: cell(template, file),
    service: cell(service, template),
    ...Object.fromEntries(Object.entries(servers).map(([server, own]) => [server, cell(own, service)])),
  };
};

/** Characters of a cell: four or five cells have to fit side by side. */
const maxContent = 36;
