import { accounts } from './example-data.ts';
import {
  recordsOf,
  shownTemplate,
  withRecords,
  type DnsTemplate,
  type SandboxData,
  type TemplateRecord,
} from './data.ts';

/** An error answer. The message goes to the caller, so it must not repeat anything that may be a token. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

interface Call {
  readonly data: SandboxData;
  readonly parameters: URLSearchParams;
  /** From the path, if it has one. */
  readonly id: number;
}

/** What a call gives: the answer and, after a write, the new data. */
interface Outcome {
  readonly answer: unknown;
  readonly data: SandboxData;
}

interface Operation {
  readonly method: 'GET' | 'PUT';
  /** Below the base address; a group captures the id. */
  readonly path: RegExp;
  readonly run: (call: Call) => Outcome;
}

/** The seven operations of specification §4, in its order. */
const operations: readonly Operation[] = [
  {
    method: 'GET',
    path: /^\/accounts$/,
    run: ({ data }) => ({ data, answer: accounts.map(withoutGrantIds) }),
  },
  {
    method: 'GET',
    path: /^\/accounts\/(\d{1,15})$/,
    run: ({ data, id }) => ({ data, answer: withoutGrantIds(accountOf(id)) }),
  },
  {
    method: 'GET',
    path: /^\/databases$/,
    run: ({ data, parameters }) => {
      const id = wholeNumber('account_id', required(parameters, 'account_id'), 1e15);
      return { data, answer: accountOf(id).databases };
    },
  },
  {
    method: 'GET',
    path: /^\/dns_templates$/,
    run: ({ data }) => ({ data, answer: data.dns_templates.map((one) => shownTemplate(data, one)) }),
  },
  {
    method: 'PUT',
    path: /^\/dns_templates\/(\d{1,15})\/add_record$/,
    run: ({ data, parameters, id }) => {
      const type = required(parameters, 'type');
      ownTemplate(data, id);
      if (!types.includes(type)) throw new Refusal(422, `Parameter type must be one of ${types.join(', ')}.`);
      const content = required(parameters, 'content');
      const unset = { id: data.next_id, type, content, name: null, priority: null, ttl: defaultTtl };
      const record = { ...unset, ...givenFields(type, parameters) };
      const added = { ...data, next_id: data.next_id + 1 };
      return shown(
        withRecords(added, id, (records) => [...records, record]),
        id,
      );
    },
  },
  {
    method: 'PUT',
    path: /^\/dns_templates\/(\d{1,15})\/update_record$/,
    run: ({ data, parameters, id }) => {
      const recordId = required(parameters, 'record_id');
      const before = ownTemplate(data, id).dns_template_records.find((one) => String(one.id) === recordId);
      if (!before) throw new Refusal(404, `DNS template ${id} has no such record.`);
      const record = { ...before, ...givenFields(before.type, parameters) };
      return shown(
        withRecords(data, id, (all) => all.map((one) => (one === before ? record : one))),
        id,
      );
    },
  },
  {
    method: 'GET',
    path: /^\/dns_records$/,
    run: ({ data, parameters }) => {
      const name = required(parameters, 'subdomain').toLowerCase();
      const subdomain = data.subdomains.find((one) => one.name === name);
      if (!subdomain) throw new Refusal(404, 'There is no such subdomain.');
      return { data, answer: recordsOf(data, subdomain) };
    },
  },
];

/** The operation of a request; `path` is below the base address. Throws a {@link Refusal}. */
export const operationFor = (method: string, path: string, parameters: URLSearchParams) => {
  const [first, ...others] = operations.filter((one) => one.path.test(path));
  if (!first) throw new Refusal(404, 'There is no such path.');
  const operation = [first, ...others].find((one) => one.method === method);
  if (!operation) throw new Refusal(405, `Ask for this path with ${first.method}.`, { allow: first.method });
  if (!optional(parameters, 'user_token') || !optional(parameters, 'client_token'))
    throw new Refusal(401, 'Both user_token and client_token are required as data parameters.');
  const id = Number(operation.path.exec(path)?.[1]);
  return {
    isWrite: method === 'PUT',
    run: (data: SandboxData): Outcome => operation.run({ data, parameters, id }),
  };
};

const optional = (parameters: URLSearchParams, name: string): string | null => {
  if (parameters.getAll(name).length > 1)
    throw new Refusal(400, `Parameter ${name} is given more than once.`);
  return parameters.get(name);
};

const required = (parameters: URLSearchParams, name: string): string => {
  const value = optional(parameters, name);
  if (!value) throw new Refusal(422, `Parameter ${name} is required.`);
  return value;
};

const wholeNumber = (name: string, text: string, most: number): number => {
  if (!/^\d{1,15}$/.test(text) || Number(text) > most)
    throw new Refusal(422, `Parameter ${name} must be a whole number from 0 to ${most}.`);
  return Number(text);
};

const shown = (data: SandboxData, id: number): Outcome => ({
  data,
  answer: shownTemplate(data, ownTemplate(data, id)),
});

const accountOf = (id: number): (typeof accounts)[number] => {
  const account = accounts.find((one) => one.id === id);
  if (!account) throw new Refusal(404, `There is no account ${id}.`);
  return account;
};

/** Grants have an id only in the list of databases. */
const withoutGrantIds = ({ databases, ...account }: (typeof accounts)[number]) => ({
  ...account,
  databases: databases.map(({ database_grants, ...database }) => ({
    ...database,
    database_grants: database_grants.map(({ login, access_level }) => ({ login, access_level })),
  })),
});

const ownTemplate = (data: SandboxData, id: number): DnsTemplate => {
  const template = data.dns_templates.find((one) => one.id === id);
  if (!template) throw new Refusal(404, `There is no DNS template ${id}.`);
  if (template.publicly_available)
    throw new Refusal(403, `DNS template ${id} is publicly available and cannot be changed.`);
  return template;
};

const types = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT'];
const defaultTtl = 3600;

type Fields = Partial<Pick<TemplateRecord, 'content' | 'name' | 'priority' | 'ttl'>>;

/** The fields that a write gives a record of this type. What does not apply to the type is ignored. */
const givenFields = (type: string, parameters: URLSearchParams): Fields => {
  const isNamed = type === 'PTR' || type === 'SRV';
  const name = isNamed ? required(parameters, 'name') : optional(parameters, 'name');
  const hasPriority = type === 'MX' || type === 'SRV';
  const priority = hasPriority ? wholeNumber('priority', required(parameters, 'priority'), 65_535) : null;
  const ttl = optional(parameters, 'ttl');
  const content = optional(parameters, 'content') === null ? null : required(parameters, 'content');
  const [, weight, port] = /^(\d{1,5}) (\d{1,5}) \S+$/.exec(content ?? '') ?? [];
  if (type === 'SRV' && content !== null && !(Number(weight) <= 65_535 && Number(port) <= 65_535))
    throw new Refusal(422, 'Parameter content of an SRV record must be <weight> <port> <target>.');
  return {
    ...(name === null ? {} : { name: name === '' ? null : name }),
    ...(priority === null ? {} : { priority }),
    ...(ttl === null ? {} : { ttl: wholeNumber('ttl', ttl, 2_147_483_647) }),
    ...(content === null ? {} : { content }),
  };
};
