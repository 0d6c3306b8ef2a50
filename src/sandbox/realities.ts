import { gzipSync } from 'node:zlib';
import type { DnsTemplate, TemplateRecord } from './data.ts';
import { Refusal, type DataParameters, type ParameterPlace } from './request.ts';

type AnswerChange = NonNullable<Reality['answer']>;

const ofWrites = (change: (template: DnsTemplate, request: OperationRequest) => unknown): AnswerChange =>
  onSuccess('PUT', (answer, request) => ({ ...answer, body: change(asTemplate(answer.body), request) }));

const ofTemplates = (change: (templates: readonly DnsTemplate[]) => unknown): AnswerChange =>
  listing((answer) => ({ ...answer, body: change(asTemplates(answer.body)) }));

const onSuccess =
  (method: string, change: AnswerChange): AnswerChange =>
  (answer, request) =>
    request.method === method && answer.status === 200 ? change(answer, request) : answer;

// oxlint-disable typescript/no-unsafe-type-assertion -- the sandbox's own answers
const asTemplate = (body: unknown): DnsTemplate => body as DnsTemplate;
const asTemplates = (body: unknown): readonly DnsTemplate[] => body as readonly DnsTemplate[];
// oxlint-enable typescript/no-unsafe-type-assertion

/** The record that a write has added or changed. */
const written = (
  { dns_template_records: records }: DnsTemplate,
  { parameters }: OperationRequest,
): TemplateRecord | undefined =>
  records.find(({ id }) => String(id) === parameters.get('record_id')) ?? records.at(-1);

const withRecords = (
  templates: readonly DnsTemplate[],
  change: (records: readonly TemplateRecord[]) => readonly unknown[],
): unknown[] =>
  templates.map((template) => ({
    ...template,
    dns_template_records: change(template.dns_template_records),
  }));

/** With a record that lacks its content, in each template. */
const withEmpty = (templates: readonly DnsTemplate[], type: string, name: string | null): unknown[] =>
  templates.map((template) => {
    const empty = { id: 900_000 + template.id, type, content: null, name, priority: null, ttl: 300 };
    return { ...template, dns_template_records: [...template.dns_template_records, empty] };
  });

const error = { status: 200, headers: {} };
const pageSize = 2;
const recordsShown = 6;

/** A page of a listing, and how many there are. */
const paged = (
  templates: readonly DnsTemplate[],
  { parameters }: OperationRequest,
): { page: readonly DnsTemplate[]; number: number; count: number } => {
  const number = Number(parameters.get('page') ?? 1);
  const page = templates.slice((number - 1) * pageSize, number * pageSize);
  return { page, number, count: Math.ceil(templates.length / pageSize) };
};

const listing = (change: AnswerChange): AnswerChange =>
  onSuccess('GET', (answer, request) =>
    request.operation === 'dns_templates' ? change(answer, request) : answer,
  );

/** By name, as `sandbox --reality NAME` takes them. */
export const realities = {
  'get-form': { about: 'reads parameters of a GET in a form body only', parameters: { GET: 'form' } },
  'get-json': { about: 'reads parameters of a GET in a JSON body only', parameters: { GET: 'json' } },
  'put-query': { about: 'reads parameters of a PUT in the query only', parameters: { PUT: 'query' } },
  'put-json': { about: 'reads parameters of a PUT in a JSON body only', parameters: { PUT: 'json' } },
  'put-empty': {
    about: 'answers a write with 204 and nothing',
    answer: onSuccess('PUT', () => ({ status: 204, headers: {}, body: undefined })),
  },
  'put-record': { about: 'answers a write with the record alone', answer: ofWrites(written) },
  'put-id': {
    about: 'answers a write with the id of the record alone',
    answer: ofWrites((template, request) => ({ id: written(template, request)?.id })),
  },
  'put-wrapped': {
    about: 'answers a write with {"dns_template": …}',
    answer: ofWrites((template) => ({ dns_template: template })),
  },
  'put-partial': {
    about: 'answers a write with the template and the record alone, without its other ones',
    answer: ofWrites((template, request) => ({
      ...template,
      dns_template_records: [written(template, request)],
    })),
  },
  'put-list': {
    about: "answers a write with a list of the template's records",
    answer: ofWrites(({ dns_template_records }) => dns_template_records),
  },
  'errors-200': {
    about: 'refuses with 200 and {"error": …}',
    answer: (answer) => (answer.status < 400 ? answer : { ...error, body: answer.body }),
  },
  'errors-success': {
    about: 'refuses with 200 and {"success": false, "message": …}',
    answer: (answer) =>
      answer.status < 400
        ? answer
        : {
            ...error,
            body: { success: false, message: Object.values(Object(answer.body)).join(' ') },
          },
  },
  'pages-link': {
    about: `lists ${pageSize} templates a page, with a link to the next one`,
    answer: listing((answer, request) => {
      const { page, number, count } = paged(asTemplates(answer.body), request);
      const link = { link: `<${request.url}?page=${number + 1}>; rel="next"` };
      return { ...answer, headers: number < count ? link : {}, body: page };
    }),
  },
  'pages-number': {
    about: `lists ${pageSize} templates a page, with the number of pages in a header`,
    answer: listing((answer, request) => {
      const { page, count } = paged(asTemplates(answer.body), request);
      return { ...answer, headers: { 'x-total-pages': String(count) }, body: page };
    }),
  },
  'apex-empty': {
    about: 'refuses an add without a name: that of the subdomain itself is an empty one',
    check: ({ operation, parameters }) => {
      if (operation === 'add_record' && parameters.get('name') === null)
        throw new Refusal(422, 'Parameter name is required.');
    },
  },
  'apex-at': {
    about: 'refuses an add without a name, or with an empty one: that of the subdomain itself is @',
    check: ({ operation, parameters }) => {
      if (operation === 'add_record') parameters.require('name');
    },
  },
  'null-content': {
    about: 'lists an ALIAS without content in each template',
    answer: ofTemplates((templates) => withEmpty(templates, 'ALIAS', null)),
  },
  'null-known': {
    about: 'lists an A without content in each template, at host.empty',
    answer: ofTemplates((templates) => withEmpty(templates, 'A', 'host.empty')),
  },
  'no-owner': {
    about: 'does not say whether a template is public',
    answer: ofTemplates((templates) =>
      templates.map((template) => ({ ...template, publicly_available: undefined })),
    ),
  },
  'cut-listing': {
    about: `lists only ${recordsShown} records of each template; its answers to writes are whole`,
    answer: ofTemplates((templates) => withRecords(templates, (records) => records.slice(0, recordsShown))),
  },
  'empty-listing': {
    about: 'lists templates without their records; its answers to writes are whole',
    answer: ofTemplates((templates) => withRecords(templates, () => [])),
  },
  placeholders: {
    about: 'shows names as www.##DOMAIN##, but none for the subdomain itself; keeps those of adds as sent',
    answer: (answer) => (answer.status === 200 ? { ...answer, body: withPlaceholders(answer.body) } : answer),
  },
  'list-wrapped': {
    about: 'answers a list as {"data": […]}',
    answer: onSuccess('GET', (answer) =>
      Array.isArray(answer.body) ? { ...answer, body: { data: answer.body } } : answer,
    ),
  },
  'list-key': {
    about: 'answers a list as {"data": […], "included": […]}',
    answer: onSuccess('GET', (answer) =>
      Array.isArray(answer.body) ? { ...answer, body: { data: answer.body, included: [] } } : answer,
    ),
  },
  gzip: {
    about: 'compresses each answer, whether asked to or not',
    answer: (answer) => ({
      ...answer,
      headers: { ...answer.headers, 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(answer.body)),
    }),
  },
} satisfies Readonly<Record<string, Reality>>;

/** Ids from here on are those of records that were added by an operation or by hand (example-data.ts). */
const firstAddedId = 2001;

/** In templates and lists of them: those of the example data, which somebody made with the service's own page. */
const withPlaceholders = (body: unknown): unknown => {
  const one = (template: DnsTemplate): DnsTemplate => ({
    ...template,
    dns_template_records: template.dns_template_records.map((record) =>
      record.name === null || record.id >= firstAddedId
        ? record
        : { ...record, name: `${record.name}.##DOMAIN##` },
    ),
  });
  const isTemplate = (value: unknown): value is DnsTemplate =>
    typeof value === 'object' && value !== null && 'dns_template_records' in value;
  if (Array.isArray(body)) return body.map((value) => (isTemplate(value) ? one(value) : value));
  return isTemplate(body) ? one(body) : body;
};

/** Several at once, each on what those before it in the table have made of the answer. */
export const allOf = (names: readonly RealityName[]): Omit<Reality, 'about'> => {
  const chosen: readonly Reality[] = Object.entries(realities).flatMap(([name, reality]) =>
    names.some((one) => one === name) ? reality : [],
  );
  return {
    parameters: Object.assign({}, ...chosen.map(({ parameters }) => parameters)),
    check: (request) => {
      for (const { check } of chosen) check?.(request);
    },
    answer: (given, request) =>
      chosen.reduce((answer, reality) => reality.answer?.(answer, request) ?? answer, given),
  };
};

export type RealityName = keyof typeof realities;

export const isReality = (name: string): name is RealityName => Object.hasOwn(realities, name);

/** Another way in which a service may fill what the specification leaves open. */
export interface Reality {
  readonly about: string;
  /** The only place where the parameters of a method count. */
  readonly parameters?: Partial<Record<string, ParameterPlace>>;
  /** Refuses a request that the sandbox would accept. */
  readonly check?: (request: OperationRequest) => void;
  /** What it answers instead. */
  readonly answer?: (answer: OperationAnswer, request: OperationRequest) => OperationAnswer;
}

export interface OperationRequest {
  readonly method: string;
  /** The last part of the path, such as `dns_templates` or `add_record`. */
  readonly operation: string;
  readonly parameters: DataParameters;
  /** Without its query. */
  readonly url: string;
}

export interface OperationAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, bytes as they are, or nothing. */
  readonly body: unknown;
}
