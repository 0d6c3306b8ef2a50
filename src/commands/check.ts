import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { formatProblem } from '../desired/problem.ts';
import { escapeControl, asJson } from '../lib/escape-control.ts';
import type { DesiredTemplate, ActualTemplate, Problem, SubdomainRecord } from '../model/template.ts';
import { compareSubdomain } from '../plan/subdomains.ts';
import { answersView, isFaulty, serverLabels } from '../report/answers-view.ts';
import { assembleReport } from '../report/assemble.ts';
import { shortenPair } from '../report/columns.ts';
import { asTable } from './text-table.ts';
import { statusWords } from '../report/view.ts';
import { answersKey, withAnswers } from '../report/with-answers.ts';
import { notAsked, type Status, type SubdomainAnswers, type TemplateResult } from '../result.ts';
import { areAlike, layerRows, setText, type LayerRow, type NameLayers } from './check-table.ts';
import type { Client } from '../app/client.ts';
import { templateOf } from '../app/client-answers.ts';
import { inAppContext, type AppContext } from '../app/app-context.ts';
import { passClients } from '../app/shown-passes.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { canonicalName } from '../model/canonical.ts';
import { canonicalHost } from '../model/host.ts';
import type { RecordData } from '../model/record.ts';

/** Names as file, template, service and each name server have them, side by side. Writes nothing. */
export const check = (names: readonly string[], options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const checked: CheckedName[] = [];
    let failed = false;
    for (const name of names) {
      try {
        checked.push(context.redact(await checkName(name, context, io)));
      } catch (error) {
        // One unknown name spoils no other.
        if (!(error instanceof UserError || error instanceof HostingError)) throw error;
        failed = true;
        const said = error.message.startsWith(name) ? error.message : `${name}: ${error.message}`;
        printLine(io, context.redact(said));
      }
    }
    io.stdout.write(options['format'] === 'json' ? asJson(checked) : checked.map(asText).join('\n'));
    const statuses = checked.map(({ status }) => status);
    if (failed || statuses.includes('failed')) return 1;
    const differs = statuses.some((one) => one !== 'in-sync' && one !== 'pending');
    return options['detailedExitcode'] === true && differs ? 2 : 0;
  });

interface CheckedName {
  readonly name: string;
  /** The subdomain itself, or the one that it is below. */
  readonly subdomain: string;
  readonly client: string;
  readonly status: Status | 'pending';
  /** Null if no file names the subdomain. */
  readonly file: string | null;
  /** Of that file, or, if no valid file names the subdomain, of all files. */
  readonly problems: readonly Problem[];
  /** Records of the template that do not count. */
  readonly parked: number;
  readonly ignored: number;
  readonly template: string | null;
  readonly templateId: number | null;
  readonly records: readonly LayerRow[];
  readonly answers: SubdomainAnswers;
}

const checkName = async (name: string, context: AppContext, io: Io): Promise<CheckedName> => {
  // Reverse zones of less than 256 addresses have a slash in a label (RFC 2317).
  if (/[:@\s]|(?<!\d)\/|\/(?!\d)/.test(name))
    throw new UserError(`${name} is not a host name: give the name alone`);
  const found = await whileShown(io, `checking ${name}`, () => layersOf(name, context));
  const { client, subdomain, desired, records, matching } = found;
  const isWhole = canonicalHost(name) === canonicalHost(subdomain);
  const whole = {
    file: desired?.records ?? null,
    template: matching?.records ?? null,
    service: records,
    answers: found.answers,
  };
  const layers = isWhole ? whole : layersAt(name, subdomain, whole);
  const { answers } = layers;
  const rows = layerRows(subdomain, layers);
  if (rows.length === 0) throw new UserError(`${subdomain} has no record of that name`);
  const judged =
    desired === null || !isWhole ? null : await judge(subdomain, desired, answers, client, context, io);
  const problems = judged?.problems ?? (await client.load()).problems;
  const isBehind = isWhole
    ? matching !== null && compareSubdomain(subdomain, matching, records).length > 0
    : rows.some((row) => differs(row));
  const status =
    answers.status === 'failed' || problems.some(({ severity }) => severity === 'error')
      ? 'failed'
      : (judged?.status ?? (isBehind ? 'drifted' : 'in-sync'));
  return {
    name,
    subdomain,
    client: client.settings.name,
    status:
      status === 'in-sync' ? shownStatus(judged?.isPending === true ? 'pending' : answers.status) : status,
    file: desired?.source.file ?? null,
    problems,
    parked: judged?.parked ?? 0,
    ignored: judged?.ignored ?? 0,
    template: matching?.name ?? desired?.template ?? null,
    templateId: matching?.id ?? null,
    records: rows,
    answers,
  };
};

/** Of a name below the subdomain, only that name. */
const layersAt = (name: string, subdomain: string, layers: NameLayers): NameLayers => {
  const wanted = canonicalHost(name);
  const isOfName = (record: RecordData): boolean => {
    const own = canonicalHost(canonicalName(record.name));
    return own === wanted || `${own}.${canonicalHost(subdomain)}` === wanted;
  };
  const { answers } = layers;
  const differences = answers.differences.filter((one) => one.name === wanted);
  const isOfOthers = differences.length === 0 && !answers.servers.some(isFaulty);
  return {
    file: layers.file?.filter(isOfName) ?? null,
    template: layers.template?.filter(isOfName) ?? null,
    service: layers.service?.filter(isOfName) ?? null,
    answers: {
      ...answers,
      differences,
      status: isOfOthers && answers.servers.length > 0 ? 'in-sync' : answers.status,
    },
  };
};

const differs = ({ file, template, service, servers }: LayerRow): boolean =>
  [template, service, ...Object.values(servers)]
    .filter((one) => one !== null)
    .some((one) => !areAlike(one, file ?? service));

const layersOf = async (name: string, { clients }: AppContext) => {
  const { client, subdomain, desired, records } = await ownerOf(name, clients);
  const templates = await client.service.listDnsTemplates();
  const matching = templateFor(desired, records, templates);
  const answers = await answersOf(subdomain, desired, client);
  return { client, subdomain, desired, records, matching, answers };
};

const shownStatus = (answers: SubdomainAnswers['status']): CheckedName['status'] =>
  answers === 'off' ? 'in-sync' : answers;

interface Judged extends Pick<CheckedName, 'parked' | 'ignored' | 'problems'> {
  readonly status: Status;
  readonly isPending: boolean;
}

/** As `plan --answers` judges the template, if it had this subdomain alone. */
const judge = async (
  subdomain: string,
  { template }: DesiredTemplate,
  answers: SubdomainAnswers,
  client: Client,
  { redact, clock }: AppContext,
  io: Io,
): Promise<Judged> => {
  const how = { dryRun: true, lockTimeout: 0, subdomain };
  const passes = await passClients(io, { clients: [client], redact, clock }, how, [template]);
  const known = new Map(
    passes.flatMap(({ templates }) =>
      templates.flatMap((one) =>
        one.subdomains.map((own) => [answersKey(one.template, own.subdomain), answers] as const),
      ),
    ),
  );
  const { status, templates, problems } = assembleReport(passes.map((pass) => withAnswers(pass, known)));
  const sum = (count: (one: TemplateResult) => number): number =>
    templates.reduce((total, one) => total + count(one), 0);
  return {
    status,
    problems,
    isPending: templates.some((one) => one.subdomains.some((own) => own.status === 'pending')),
    parked: sum((one) => one.parked),
    ignored: sum((one) => one.ignored),
  };
};

/** The nearest subdomain at or above the name that files name or the service knows, with its client. */
const ownerOf = async (name: string, clients: readonly Client[]) => {
  const [only, ...others] = clients;
  let unknown: unknown = null;
  for (const subdomain of namesFrom(name)) {
    for (const client of clients) {
      const desired = templateOf(subdomain, (await client.load()).templates);
      if (desired !== null)
        return { client, subdomain, desired, records: await client.service.listDnsRecords(subdomain) };
    }
    if (!only || others.length > 0) continue;
    try {
      return {
        client: only,
        subdomain,
        desired: null,
        records: await only.service.listDnsRecords(subdomain),
      };
    } catch (error) {
      if (!(error instanceof HostingError) || error.status !== 404) throw error;
      unknown ??= error;
    }
  }
  throw (
    unknown ??
    new UserError(
      'no template file names it, or a name above it, under subdomains: choose a client with --client',
    )
  );
};

/** The name and all above it but the top-level domain. */
const namesFrom = (name: string): readonly string[] => {
  const labels = name.replace(/\.$/, '').split('.');
  return labels.slice(0, Math.max(labels.length - 1, 1)).map((_, index) => labels.slice(index).join('.'));
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
  const { name, subdomain, status, file, template, templateId, records, answers, problems } = checked;
  const follows =
    template === null ? 'no template' : `${template}${templateId === null ? '' : ` (${templateId})`}`;
  const view = answersView(answers, subdomain);
  const labelOf = serverLabels(answers.servers);
  const hasErrors = problems.some(({ severity }) => severity === 'error');
  const where = file ?? (hasErrors ? 'in no valid template file' : 'in no template file');
  const below = canonicalHost(name) === canonicalHost(subdomain) ? [] : [`in ${subdomain}`];
  const heading = [`${name}: ${statusWords[status]}`, ...below, follows, where].join(' · ');
  const uncounted = (['parked', 'ignored'] as const)
    .filter((kind) => checked[kind] > 0)
    .map((kind) => `${checked[kind]} ${kind}`);
  const table = asTable(records.map(tableRow));
  return [
    `${escapeControl(heading)}\n`,
    table,
    ...(records.length === 0 ? [] : ['= same as to the left, - nothing, ? not asked, or not readable\n']),
    ...(uncounted.length > 0 ? [`records of the template that do not count: ${uncounted.join(', ')}\n`] : []),
    ...problems.map((problem) => `${escapeControl(formatProblem(problem))}\n`),
    ...answers.servers.flatMap((server) =>
      server.serial === null ? [] : [`${escapeControl(labelOf(server))}: serial ${server.serial}\n`],
    ),
    ...(view?.remarks ?? []).map((remark) => `${remark}\n`),
    ...answers.differences.flatMap(({ kind, type, name: asked, message }) =>
      message === undefined ? [] : [`${kind}: ${escapeControl(`${asked} ${type}: ${message}`)}\n`],
    ),
  ].join('');
};

const tableRow = ({ name, type, file, template, service, servers }: LayerRow): Record<string, string> => {
  const others = [template, service, ...Object.values(servers)];
  const cell = (own: LayerRow['file'], left: LayerRow['file']): string =>
    own !== null && areAlike(own, left)
      ? own.length === 0
        ? '-'
        : '='
      : shortenPair(setText(left), setText(own), maxContent)[1];
  const differing = others.find((one) => one !== null && !areAlike(one, file)) ?? file;
  return {
    name: name ?? '@',
    type,
    file: shortenPair(setText(file), setText(differing), maxContent)[0],
    template: cell(template, file),
    service: cell(service, template),
    ...Object.fromEntries(Object.entries(servers).map(([server, own]) => [server, cell(own, service)])),
  };
};

/** Characters of a cell: four or five cells have to fit side by side. */
const maxContent = 36;
