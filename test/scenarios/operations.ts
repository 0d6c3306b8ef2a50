/** What a hosting service knows, and its seven operations as a pure function: data and request give data and reply. */
export interface ServiceData {
  readonly templates: readonly StoredTemplate[];
  readonly subdomains: readonly StoredSubdomain[];
  /** Of all records. */
  readonly lastId: number;
}

export interface StoredTemplate {
  readonly id: number;
  readonly name: string;
  /** The client that it belongs to; null: it is offered to all clients. */
  readonly owner: string | null;
  readonly records: readonly StoredRecord[];
}

export interface StoredRecord {
  readonly id: number;
  readonly type: string;
  readonly name: string | null;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number;
}

export interface StoredSubdomain {
  readonly name: string;
  readonly templateId: number;
  /** Its records where they follow the template no more; null: they are those of the template. */
  readonly own: readonly DerivedRecord[] | null;
}

export type DerivedRecord = StoredRecord & { readonly dns_template_record_id: number | null };

export type OperationName = 'accounts' | 'account' | 'databases' | 'listing' | 'add' | 'update' | 'subdomain';

export interface ServiceRequest {
  readonly operation: OperationName;
  /** Of the account or template in its path. */
  readonly id: number;
  /** Without the tokens. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Whose client token it has; null: nobody's. */
  readonly client: string | null;
}

export interface Reply {
  readonly status: number;
  /** Of a template as it is stored. */
  readonly body: unknown;
  readonly data: ServiceData;
}

/** What becomes of a record that is added, or updated: null refuses it. */
export type Storing = (
  record: StoredRecord,
  before: StoredRecord | null,
  template: StoredTemplate,
) => StoredRecord | null;

interface Operation {
  readonly method: 'GET' | 'PUT';
  readonly path: RegExp;
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const data = ['name', 'ttl', 'priority'];
export const operations: Readonly<Record<OperationName, Operation>> = {
  accounts: { method: 'GET', path: /^\/accounts$/, required: [], optional: [] },
  account: { method: 'GET', path: /^\/accounts\/(\d+)$/, required: [], optional: [] },
  databases: { method: 'GET', path: /^\/databases$/, required: ['account_id'], optional: [] },
  listing: { method: 'GET', path: /^\/dns_templates$/, required: [], optional: [] },
  subdomain: { method: 'GET', path: /^\/dns_records$/, required: ['subdomain'], optional: [] },
  add: {
    method: 'PUT',
    path: /^\/dns_templates\/(\d+)\/add_record$/,
    required: ['type', 'content'],
    optional: data,
  },
  update: {
    method: 'PUT',
    path: /^\/dns_templates\/(\d+)\/update_record$/,
    required: ['record_id'],
    optional: ['content', ...data],
  },
};

/** Refuses everything that the specification does not allow. */
export const answer = (before: ServiceData, request: ServiceRequest, stores: Storing): Reply => {
  const { operation, id, parameters, client } = request;
  const refuse = (status: number, error: string): Reply => ({ status, body: { error }, data: before });
  const show = (body: unknown): Reply => ({ status: 200, body, data: before });
  if (client === null) return refuse(401, 'unknown tokens');
  const { required, optional } = operations[operation];
  const missing = required.find((name) => (parameters[name] ?? '') === '');
  if (missing !== undefined) return refuse(400, `${missing} is missing`);
  const stray = Object.keys(parameters).find((name) => !required.includes(name) && !optional.includes(name));
  if (stray !== undefined) return refuse(400, `${stray} is no parameter of this operation`);
  switch (operation) {
    case 'accounts':
      return show([account]);
    case 'account':
      return id === account.id ? show(account) : refuse(404, 'no such account');
    case 'databases':
      return show([]);
    case 'listing':
      return show(templatesOf(client, before));
    case 'subdomain': {
      const found = before.subdomains.find(({ name }) => name === parameters['subdomain']);
      return found
        ? show([...ownRecords, ...derivedRecords(before, found)])
        : refuse(404, 'no such subdomain');
    }
    case 'add':
    case 'update': {
      const template = before.templates.find((one) => one.id === id && one.owner === client);
      if (!template) return refuse(404, 'no such template of yours');
      const old = template.records.find((one) => String(one.id) === parameters['record_id']) ?? null;
      if (operation === 'update' && old === null) return refuse(404, 'no such record');
      const wanted = old === null ? added(before.lastId + 1, parameters) : updated(old, parameters);
      const error = errorIn(wanted, parameters);
      if (error !== null) return refuse(422, error);
      const record = stores(wanted, old, template);
      if (record === null) return refuse(422, 'refused');
      const records = old === null ? [...template.records, record] : replaced(template.records, record);
      const after = { ...template, records };
      return {
        status: 200,
        body: after,
        data: {
          ...before,
          templates: replaced(before.templates, after),
          lastId: Math.max(before.lastId, record.id),
        },
      };
    }
  }
};

/** What a client sees: its own, and the public ones. */
export const templatesOf = (client: string | null, { templates }: ServiceData): readonly StoredTemplate[] =>
  templates.filter(({ owner }) => owner === null || owner === client);

/** Element of the same id by another one. */
export const replaced = <T extends { readonly id: number }>(all: readonly T[], by: T): T[] =>
  all.map((one) => (one.id === by.id ? by : one));

export const derivedRecords = (
  { templates }: ServiceData,
  { templateId, own }: StoredSubdomain,
): readonly DerivedRecord[] =>
  own ??
  (templates.find(({ id }) => id === templateId)?.records ?? []).map((record) => ({
    ...record,
    id: record.id + firstDerived,
    dns_template_record_id: record.id,
  }));

const firstDerived = 1_000;

/** What every subdomain has beside the records of its template. */
const ownRecords: readonly DerivedRecord[] = [
  { type: 'SOA', content: 'ns1.example.net hostmaster.example.net 1 10800 3600 604800 3600' },
  { type: 'NS', content: 'ns1.example.net' },
].map((one, at) => ({
  ...one,
  id: at + 1,
  name: null,
  priority: null,
  ttl: 3600,
  dns_template_record_id: null,
}));

const account = {
  id: 1,
  name: 'example',
  created_at: '2026-01-02 03:04:05 +0000',
  virtual_server_id: 1,
  applications: [],
  databases: [],
  ftp_users: [],
  ssh_keys: [],
};

const defaultTtl = 3_600;

const added = (id: number, { type = '', content = '', name, priority, ttl }: Parameters): StoredRecord => ({
  id,
  type,
  name: name ?? null,
  content,
  priority: priority === undefined ? null : Number(priority),
  ttl: ttl === undefined ? defaultTtl : Number(ttl),
});

/** Only the supplied fields change. */
const updated = (old: StoredRecord, { content, name, priority, ttl }: Parameters): StoredRecord => ({
  ...old,
  ...(content === undefined ? {} : { content }),
  ...(name === undefined ? {} : { name }),
  ...(priority === undefined ? {} : { priority: Number(priority) }),
  ...(ttl === undefined ? {} : { ttl: Number(ttl) }),
});

type Parameters = ServiceRequest['parameters'];

const errorIn = ({ type, content }: StoredRecord, { name, priority, ttl }: Parameters): string | null => {
  if (!types.has(type)) return `${type} is no type`;
  if (content === '') return 'the content is empty';
  if (name === '') return 'the name is empty';
  if ((type === 'PTR' || type === 'SRV') && name === undefined) return `a ${type} record needs its name`;
  const hasPriority = type === 'MX' || type === 'SRV';
  if (hasPriority !== (priority !== undefined)) return `${hasPriority ? 'no' : 'a'} priority for ${type}`;
  if (priority !== undefined && !isNumberUpTo(priority, 65_535)) return 'the priority is no number';
  if (ttl !== undefined && !isNumberUpTo(ttl, 2_147_483_647)) return 'the TTL is no number of seconds';
  if (type === 'SRV' && !/^\d+ \d+ \S+$/.test(content)) return 'the content is no weight, port and target';
  return null;
};

const types: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT']);

const isNumberUpTo = (text: string, most: number): boolean => /^\d+$/.test(text) && Number(text) <= most;
