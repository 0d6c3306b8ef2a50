import { inAppContext, type AppContext } from '../app/app-context.ts';
import { templateOf } from '../app/client-answers.ts';
import type { Client } from '../app/client.ts';
import { problemsOfTemplates } from '../app/template-files.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { formatProblem } from '../desired/problem.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { asJson, escapeControl } from '../lib/escape-control.ts';
import { canonicalName, canonicalRecord, canonicalType } from '../model/canonical.ts';
import { groupBy } from '../model/group.ts';
import { canonicalHost } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import { isRecordType, recordTypes, type RecordData } from '../model/record.ts';
import type { ActualTemplate, DesiredTemplate } from '../model/template.ts';
import { matchesIgnore } from '../plan/ignore.ts';
import { isParkedName } from '../plan/parked.ts';
import { answersKey, isFaulty, remarksOn, serverLabels } from '../report/answers.ts';
import { shorten, shortenPair } from '../report/columns.ts';
import { wordOf } from '../report/row.ts';
import { notAsked } from '../result.ts';
import type { Run } from './table.ts';
import { asTable, type TextRow } from './text-table.ts';

/** Names as file, template, service and each name server have them, side by side. Writes nothing. */
export const check: Run = (names, options, io) =>
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
    return options['detailedExitcode'] === true && checked.some(({ status }) => status === 'drifted') ? 2 : 0;
  });

type CheckedName = Awaited<ReturnType<typeof checkName>>;

const checkName = async (name: string, { clients }: AppContext, io: Io) => {
  // Reverse zones of less than 256 addresses have a slash in a label (RFC 2317).
  if (/[:@\s]|(?<!\d)\/|\/(?!\d)/.test(name))
    throw new UserError(`${name} is not a host name: give the name alone, such as www.example.net`);
  const found = await whileShown(io, `checking ${name}`, () => findName(name, clients));
  const { client, state, subdomain, naming, desired, template } = found;
  const isMeant = (of: string): boolean =>
    [of, subdomain].some((one) => canonicalHost(one) === canonicalHost(name));
  const rows = rowsOf(found).filter(({ row }) => isMeant(`${row.name ?? '@'}.${subdomain}`));
  if (rows.length === 0) throw new UserError(`${subdomain} has no record of that name`);
  const differences = found.answers.differences.filter((one) => isMeant(one.name));
  const { servers } = found.answers;
  const isOfOthers = differences.length === 0 && servers.length > 0 && !servers.some(isFaulty);
  const byServers = isOfOthers ? ('in-sync' as const) : found.answers.status;
  // Any file may be the one that should name it.
  const problems = problemsOfTemplates(state, naming === null ? [] : [naming.template]);
  const isFailed = byServers === 'failed' || problems.some(({ severity }) => severity === 'error');
  const settled = byServers === 'off' ? ('in-sync' as const) : byServers;
  return {
    name,
    /** The subdomain itself, or the one that it is below. */
    subdomain,
    client: client.settings.name,
    status: isFailed
      ? ('failed' as const)
      : rows.some(({ differs }) => differs)
        ? ('drifted' as const)
        : settled,
    problems,
    /** Null if no file names the subdomain or describes its template. */
    file: desired?.source.file ?? null,
    template: template?.name ?? desired?.template ?? null,
    templateId: template?.id ?? null,
    records: rows.map(({ row }) => row),
    answers: { ...found.answers, differences, status: byServers },
  };
};

/** All layers of the nearest subdomain at or above the name that files name or the service knows. */
const findName = async (name: string, clients: readonly Client[]) => {
  const { client, subdomain, desired: naming, service } = await ownerOf(name, clients);
  const ids = new Set(service.map(({ templateRecordId }) => templateRecordId));
  const describes = (one: DesiredTemplate, its: ActualTemplate): boolean =>
    (one.id === null ? its.name === one.template : its.id === one.id) && !its.publiclyAvailable;
  const template = (await client.service.listDnsTemplates()).find((one) =>
    naming === null ? one.records.some(({ id }) => ids.has(id)) : describes(naming, one),
  );
  // The template that a subdomain follows may have a file that does not name the subdomain.
  const state = await client.load();
  const desired = naming ?? (template && state.templates.find((one) => describes(one, template))) ?? null;
  const known = await client.askNameServers({
    isCommand: true,
    subdomains: [subdomain],
    signal: new AbortController().signal,
    previous: new Map(),
  });
  const answers = known.get(answersKey(naming?.template ?? null, subdomain)) ?? notAsked;
  return { client, state, subdomain, naming, desired, template, service, answers };
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

/** The records of a name and type in one layer: file, template, service, or a name server; null if it could not be read. */
type Layer = readonly RecordData[] | null;

type Row = ReturnType<typeof rowsOf>[number]['row'];

/** All layers of a subdomain by name and type: itself first, types in the order of the model. */
const rowsOf = ({ subdomain, desired, template, service, answers }: Awaited<ReturnType<typeof findName>>) => {
  const apex = canonicalHost(subdomain);
  const relative = (name: string | null): string => {
    const plain = canonicalHost(canonicalName(name));
    if (plain === apex) return '';
    return plain.endsWith(`.${apex}`) ? plain.slice(0, -apex.length - 1) : plain;
  };
  // Sorts as shown.
  const keyOf = ({ type, name }: Pick<RecordData, 'type' | 'name'>): string => {
    const order = String(types.indexOf(canonicalType(type)) + 1).padStart(3);
    return `${relative(name)}\n${order}\n${canonicalType(type)}`;
  };
  // The service's own templates have a placeholder.
  const named = (text: string): string => text.replaceAll('##DOMAIN##', subdomain);
  const [file, inTemplate, atService] = [desired?.records, template?.records, service].map((records) => {
    const shown = records
      ?.filter(({ type }) => canonicalType(type) !== 'SOA')
      .map((one) => ({ ...one, name: one.name && named(one.name), content: named(one.content) }));
    return shown && groupBy(shown, keyOf);
  });
  const wrong = groupBy(answers.differences, keyOf);
  const labelOf = serverLabels(answers.servers);
  const keys = new Set([file, inTemplate, atService, wrong].flatMap((sets) => [...(sets?.keys() ?? [])]));
  return [...keys].sort().map((key) => {
    const [, name = '', type = ''] = /^(.*)\n *\d+\n(.*)$/s.exec(key) ?? [];
    const recordsIn = (sets: typeof file): Layer => (sets ? (sets.get(key) ?? []) : null);
    const answerOf = (server: (typeof answers.servers)[number]): Layer => {
      // Name servers are asked only for types that a template can have.
      if (isFaulty(server) || !isRecordType(type)) return null;
      const isOf = (one: (typeof answers.differences)[number]): boolean =>
        one.server === server.name && one.address === server.address;
      return wrong.get(key)?.find(isOf)?.current ?? recordsIn(atService);
    };
    const counts = (record: RecordData): boolean => {
      if ('templateRecordId' in record && record.templateRecordId === null) return false;
      return !isParkedName(name) && !matchesIgnore(desired?.ignore ?? [], { ...record, name });
    };
    const layers = [file, inTemplate, atService].map((sets) => recordsIn(sets)?.filter(counts) ?? null);
    const known = layers.filter((layer) => layer !== null);
    return {
      /** Of what counts: neither ignored nor parked records, nor those that come from no template. */
      differs:
        haveCopies(layers[0], layers[1]) ||
        known.some((layer, at) => at > 0 && !areAlike(known[at - 1]!, layer)),
      row: {
        /** Null: the subdomain itself. */
        name: name === '' ? null : name,
        type,
        file: recordsIn(file),
        template: recordsIn(inTemplate),
        service: recordsIn(atService),
        servers: Object.fromEntries(answers.servers.map((one) => [labelOf(one), answerOf(one)])),
      },
    };
  });
};

const types: readonly string[] = recordTypes;

/** Whether two layers agree. Placeholders agree with everything: the service replaces them. */
const areAlike = (one: Layer, other: Layer): boolean => {
  if (one === null || other === null) return one === other;
  if ([...one, ...other].some(({ content }) => hasPlaceholder(content))) return one.length === other.length;
  const [some, others] = [distinct(one), distinct(other)];
  const isAlike = ([text, { ttl }]: readonly [string, RecordData], index: number): boolean => {
    const [otherText, { ttl: otherTtl }] = others[index]!;
    return text === otherText && (ttl === null || otherTtl === null || ttl === otherTtl);
  };
  return some.length === others.length && some.every(isAlike);
};

/** A copy is surplus in a template; what comes of it at the service may be there once. */
const haveCopies = (file: Layer = null, template: Layer = null): boolean =>
  file !== null && template !== null && file.length !== template.length;

/** By their texts: one layer may have two copies of what the next one has once. */
const distinct = (records: readonly RecordData[]): (readonly [string, RecordData])[] => {
  const textOf = (record: RecordData): string => {
    const { content, priority } = canonicalRecord(record);
    return [priority ?? [], content].flat().join(' ');
  };
  const byText = new Map(records.map((record) => [textOf(record), record]));
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1));
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
  const labelOf = serverLabels(answers.servers);
  const lines = [
    '= same as to the left, - nothing, ? not asked, or not readable; ignored and parked records do not count',
    ...problems.map(formatProblem),
    ...answers.servers.flatMap((server) =>
      server.serial === null ? [] : [`${labelOf(server)}: serial ${server.serial}`],
    ),
    ...remarksOn(answers),
    ...answers.differences.flatMap((one) =>
      one.message === undefined ? [] : [`${one.kind}: ${one.name} ${one.type}: ${one.message}`],
    ),
  ];
  const text = (line: string): string => `${escapeControl(line)}\n`;
  return [text(heading), asTable(records.map(cellsOf)), ...lines.map(text)].join('');
};

const cellsOf = ({ name, type, file, template, service, servers }: Row): TextRow => {
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
    template:
      haveCopies(file, template) && areAlike(template, file)
        ? `= ${template?.length} records`
        : cell(template, file),
    service: cell(service, template),
    ...Object.fromEntries(Object.entries(servers).map(([server, own]) => [server, cell(own, service)])),
  };
};

/** A record set as one text. */
const setText = (records: Layer): string => {
  if (records === null) return '?';
  if (records.length === 0) return '-';
  const ttls = [...new Set(records.flatMap(({ ttl }) => ttl ?? []))];
  const texts = distinct(records).map(([text]) => text);
  return [texts.join(', '), ttls.length === 0 ? [] : `ttl ${ttls.join('/')}`].flat().join(' ');
};

/** Characters of a cell: four or five cells have to fit side by side. */
const maxContent = 36;
