import { dataKey, type SeenRequest, type WireRecord, type WireTemplate } from './wire.ts';

/** A constant peculiarity of one service. */
export interface Quirk {
  /** Parameters of a write as the service takes them. */
  readonly store?: (request: SeenRequest, before: WireTemplate | undefined) => Record<string, string>;
  /** Parameters of an update that have no effect. */
  readonly ignores?: readonly string[];
  readonly refuses?: (request: SeenRequest, before: WireTemplate | undefined) => boolean;
  /** What a write changes besides its own record. */
  readonly alsoChanges?: (request: SeenRequest, after: WireTemplate) => readonly RecordEdit[];
  /** A template as the service shows it. */
  readonly show?: (
    template: WireTemplate,
    where: 'listing' | 'answer',
    before?: WireTemplate,
  ) => WireTemplate;
}

interface RecordEdit {
  readonly record_id: number;
  readonly ttl: number;
}

const contentOf = ({ parameters }: SeenRequest): string => parameters['content'] ?? '';

const recordOf = ({ parameters }: SeenRequest, template: WireTemplate | undefined): WireRecord | undefined =>
  template?.dns_template_records.find(({ id }) => String(id) === parameters['record_id']);

const typeOf = (request: SeenRequest, before: WireTemplate | undefined): string =>
  request.parameters['type'] ?? recordOf(request, before)?.type ?? '';

const ifSent = (
  request: SeenRequest,
  name: string,
  make: (value: string) => string,
): Record<string, string> => {
  const value = request.parameters[name];
  return value === undefined || value === '' ? {} : { [name]: make(value) };
};

const isOfHost = new Set(['CNAME', 'MX', 'PTR', 'SRV']);

export const quirks: Readonly<Record<string, Quirk>> = {
  'clamps TTLs to at least 300 seconds': {
    store: (request) => ifSent(request, 'ttl', (ttl) => String(Math.max(300, Number(ttl)))),
  },
  'keeps one TTL per record set': {
    alsoChanges: (request, after) => {
      const ttl = Number(request.parameters['ttl'] ?? Number.NaN);
      const own = recordOf(request, after) ?? after.dns_template_records.toSorted((a, b) => b.id - a.id)[0];
      if (!own || Number.isNaN(ttl)) return [];
      return after.dns_template_records
        .filter(({ type, name }) => type === own.type && name === own.name)
        .map(({ id }) => ({ record_id: id, ttl }));
    },
  },
  'puts texts into quotes': {
    store: (request, before) =>
      typeOf(request, before) === 'TXT'
        ? ifSent(request, 'content', (text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`)
        : {},
  },
  'writes texts anew, with other blanks': {
    store: (request, before) =>
      typeOf(request, before) === 'TXT'
        ? ifSent(request, 'content', (text) => text.replaceAll(/ /g, '  '))
        : {},
  },
  'adds a placeholder to names': {
    store: (request) =>
      ifSent(request, 'name', (name) => (name.includes('##') ? name : `${name}.##DOMAIN##`)),
  },
  'gives a name to what has none': {
    store: ({ operation, parameters }) =>
      operation === 'add' && (parameters['name'] ?? '') === '' ? { name: '##DOMAIN##' } : {},
  },
  'lower-cases hosts and ends them with a dot': {
    store: (request, before) =>
      isOfHost.has(typeOf(request, before))
        ? ifSent(request, 'content', (host) => `${host.toLowerCase().replace(/\.$/, '')}.`)
        : {},
  },
  'ignores the TTL of an update': { ignores: ['ttl'] },
  'ignores the content of an update': { ignores: ['content'] },
  'ignores the priority of an update': {
    store: (request, before) =>
      request.operation === 'update'
        ? ifSent(request, 'priority', (priority) => String(recordOf(request, before)?.priority ?? priority))
        : {},
  },
  'refuses exact copies': {
    refuses: (request, before) =>
      request.operation === 'add' &&
      (before?.dns_template_records ?? []).some(
        ({ type, name, content }) =>
          type === request.parameters['type'] &&
          content === contentOf(request) &&
          (name ?? '') === (request.parameters['name'] ?? ''),
      ),
  },
  'shows records in any order': {
    show: (template) => ({
      ...template,
      dns_template_records: template.dns_template_records.toSorted((a, b) => order(a) - order(b)),
    }),
  },
  'answers a write with a short list of records': {
    show: (template, where, before) => {
      if (where === 'listing' || !before) return template;
      const old = new Map(before.dns_template_records.map((record) => [record.id, dataKey(record)]));
      const isNew = (record: WireRecord): boolean => old.get(record.id) !== dataKey(record);
      return { ...template, dns_template_records: template.dns_template_records.filter(isNew) };
    },
  },
};

let shows = 0;
const order = ({ id }: WireRecord): number => {
  shows += 1;
  return (id * 7_919 + shows * 31) % 101;
};
