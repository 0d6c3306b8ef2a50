import { inAppContext, type AppContext } from '../app/app-context.ts';
import { templateOf } from '../app/client-answers.ts';
import type { Client } from '../app/client.ts';
import type { Options } from '../app/options.ts';
import { passClients } from '../app/passes.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { formatProblem } from '../desired/problem.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { asJson, escapeControl } from '../lib/escape-control.ts';
import { canonicalHost } from '../model/host.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { answersKey, answersView, isFaulty, serverLabels, withAnswers } from '../report/answers.ts';
import { assembleReport } from '../report/assemble.ts';
import { shorten, shortenPair } from '../report/columns.ts';
import { wordOf } from '../report/row.ts';
import { notAsked, type SubdomainAnswers } from '../result.ts';
import { areAlike, layerRows, setText, type Layer, type LayerRow } from './check-layers.ts';
import { asTable } from './text-table.ts';

/** Names as file, template, service and each name server have them, side by side. Writes nothing. */
export const check = (names: readonly string[], options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const checked: CheckedName[] = [];
    for (const name of names) {
      try {
        checked.push(context.redact(await checkName(name, context, io)));
      } catch (error) {
        // One unknown name spoils no other.
        if (!(error instanceof UserError || error instanceof HostingError)) throw error;
        const said = error.message.startsWith(name) ? error.message : `${name}: ${error.message}`;
        printLine(io, context.redact(said));
      }
    }
    io.stdout.write(options['format'] === 'json' ? asJson(checked) : checked.map(asText).join('\n'));
    if (checked.length < names.length || checked.some(({ status }) => status === 'failed')) return 1;
    const differs = checked.some(({ status }) => status !== 'in-sync' && status !== 'pending');
    return options['detailedExitcode'] === true && differs ? 2 : 0;
  });

type CheckedName = Awaited<ReturnType<typeof checkName>>;

const checkName = async (name: string, context: AppContext, io: Io) => {
  // Reverse zones of less than 256 addresses have a slash in a label (RFC 2317).
  if (/[:@\s]|(?<!\d)\/|\/(?!\d)/.test(name))
    throw new UserError(`${name} is not a host name: give the name alone, such as www.example.net`);
  const found = await whileShown(io, `checking ${name}`, () => findName(name, context.clients));
  const { client, subdomain, desired, template } = found;
  const isWhole = canonicalHost(name) === canonicalHost(subdomain);
  const all = layerRows(subdomain, found);
  const rows = isWhole
    ? all
    : all.filter((row) => canonicalHost(`${row.name}.${subdomain}`) === canonicalHost(name));
  if (rows.length === 0) throw new UserError(`${subdomain} has no record of that name`);
  const answers = isWhole ? found.answers : answersOn(name, found.answers);
  // Any file may be the one that should name it.
  const { problems } = await client.load();
  const judged =
    desired !== null && isWhole
      ? await judge(subdomain, desired, answers, client, context, io)
      : {
          status: rows.some(differs) ? ('drifted' as const) : ('in-sync' as const),
          problems,
          parked: 0,
          ignored: 0,
        };
  const isFailed =
    answers.status === 'failed' || judged.problems.some(({ severity }) => severity === 'error');
  const byServers = answers.status === 'off' ? 'in-sync' : answers.status;
  const settled = judged.status === 'in-sync' ? byServers : judged.status;
  return {
    name,
    /** The subdomain itself, or the one that it is below. */
    subdomain,
    client: client.settings.name,
    ...judged,
    status: isFailed ? ('failed' as const) : settled,
    /** Null if no file names the subdomain. */
    file: desired?.source.file ?? null,
    template: template?.name ?? desired?.template ?? null,
    templateId: template?.id ?? null,
    records: rows,
    answers,
  };
};

/** All layers of the nearest subdomain at or above the name that files name or the service knows. */
const findName = async (name: string, clients: readonly Client[]) => {
  const { client, subdomain, desired, service } = await ownerOf(name, clients);
  const ids = new Set(service.map(({ templateRecordId }) => templateRecordId));
  const template = (await client.service.listDnsTemplates()).find((one) => {
    if (desired === null) return one.records.some(({ id }) => ids.has(id));
    const isMeant = desired.id === null ? one.name === desired.template : one.id === desired.id;
    return isMeant && !one.publiclyAvailable;
  });
  const known = await client.askNameServers({
    templates: [],
    isCommand: true,
    subdomains: [subdomain],
    signal: new AbortController().signal,
    previous: new Map(),
  });
  const answers = known.get(answersKey(desired?.template ?? null, subdomain)) ?? notAsked;
  return { client, subdomain, desired, template, service, answers };
};

const ownerOf = async (name: string, clients: readonly Client[]) => {
  const [only, ...others] = clients;
  let unknown: unknown = new UserError(
    'no template file names it, or a name above it, under subdomains: choose a client with --client',
  );
  const labels = name.replace(/\.$/, '').split('.');
  // The name and all above it but the top-level domain.
  for (let from = 0; from < Math.max(labels.length - 1, 1); from += 1) {
    const subdomain = labels.slice(from).join('.');
    for (const client of clients) {
      const desired = templateOf(subdomain, (await client.load()).templates);
      if (desired !== null)
        return { client, subdomain, desired, service: await client.service.listDnsRecords(subdomain) };
    }
    if (only === undefined || others.length > 0) continue;
    try {
      const service = await only.service.listDnsRecords(subdomain);
      return { client: only, subdomain, desired: null, service };
    } catch (error) {
      if (!(error instanceof HostingError) || error.status !== 404) throw error;
      if (from === 0) unknown = error;
    }
  }
  throw unknown;
};

/** Of a name below the subdomain, only what is about that name. */
const answersOn = (name: string, answers: SubdomainAnswers): SubdomainAnswers => {
  const { servers, status } = answers;
  const differences = answers.differences.filter((one) => one.name === canonicalHost(name));
  const isOfOthers = differences.length === 0 && servers.length > 0 && !servers.some(isFaulty);
  return { ...answers, differences, status: isOfOthers ? 'in-sync' : status };
};

const differs = ({ file, template, service, servers }: LayerRow): boolean =>
  [template, service, ...Object.values(servers)].some(
    (one) => one !== null && !areAlike(one, file ?? service),
  );

/** As `plan --answers` judges the template, if it had this subdomain alone. */
const judge = async (
  subdomain: string,
  { template }: DesiredTemplate,
  answers: SubdomainAnswers,
  client: Client,
  context: AppContext,
  io: Io,
) => {
  const how = { dryRun: true, lockTimeout: 0, subdomain };
  const passes = await passClients(io, { ...context, clients: [client] }, how, [template]);
  const subdomains = passes.flatMap(({ templates }) => templates.flatMap((one) => one.subdomains));
  const known = new Map(subdomains.map((one) => [answersKey(template, one.subdomain), answers]));
  const { status, problems, templates } = assembleReport(passes.map((pass) => withAnswers(pass, known)));
  const isPending = status === 'in-sync' && subdomains.some((one) => one.status === 'pending');
  return {
    status: isPending ? ('pending' as const) : status,
    problems,
    /** Records of the template that do not count. */
    parked: templates.reduce((sum, one) => sum + one.parked, 0),
    ignored: templates.reduce((sum, one) => sum + one.ignored, 0),
  };
};

const asText = (checked: CheckedName): string => {
  const { name, subdomain, status, file, template, templateId, records, answers, problems } = checked;
  const hasErrors = problems.some(({ severity }) => severity === 'error');
  const heading = [
    `${name}: ${wordOf(status)}`,
    ...(canonicalHost(name) === canonicalHost(subdomain) ? [] : [`in ${subdomain}`]),
    `${template ?? 'no template'}${templateId === null ? '' : ` (${templateId})`}`,
    file ?? (hasErrors ? 'in no valid template file' : 'in no template file'),
  ].join(' · ');
  const kinds = (['parked', 'ignored'] as const).filter((kind) => checked[kind] > 0);
  const uncounted = kinds.map((kind) => `${checked[kind]} ${kind}`).join(', ');
  const labelOf = serverLabels(answers.servers);
  const lines = [
    '= same as to the left, - nothing, ? not asked, or not readable',
    ...(kinds.length === 0 ? [] : [`records of the template that do not count: ${uncounted}`]),
    ...problems.map(formatProblem),
    ...answers.servers.flatMap((server) =>
      server.serial === null ? [] : [`${labelOf(server)}: serial ${server.serial}`],
    ),
    ...(answersView(answers, subdomain)?.remarks ?? []),
    ...answers.differences.flatMap((one) =>
      one.message === undefined ? [] : [`${one.kind}: ${one.name} ${one.type}: ${one.message}`],
    ),
  ];
  const text = (line: string): string => `${escapeControl(line)}\n`;
  return [text(heading), asTable(records.map(tableRow)), ...lines.map(text)].join('');
};

const tableRow = ({ name, type, file, template, service, servers }: LayerRow): Record<string, string> => {
  const cell = (own: Layer, left: Layer): string => {
    if (own !== null && areAlike(own, left)) return own.length === 0 ? '-' : '=';
    return shortenPair(setText(left), setText(own), maxContent)[1];
  };
  const others = [template, service, ...Object.values(servers)];
  const differing = others.find((one) => one !== null && !areAlike(one, file));
  return {
    name: name ?? '@',
    type,
    file: differing
      ? shortenPair(setText(file), setText(differing), maxContent)[0]
      : shorten(setText(file), maxContent),
    template: cell(template, file),
    service: cell(service, template),
    ...Object.fromEntries(Object.entries(servers).map(([server, own]) => [server, cell(own, service)])),
  };
};

/** Characters of a cell: four or five cells have to fit side by side. */
const maxContent = 36;
