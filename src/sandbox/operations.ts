import { withTemplateRecords, type StoredAccount, type DnsTemplate, type SandboxData } from './data.ts';
import { addedRecord, updatedRecord } from './record-rules.ts';
import { Refusal, type DataParameters } from './request.ts';
import { followTemplate, currentRecords } from './subdomains.ts';

/** One request to an operation. `id` is from the path, if the path has one. */
interface OperationCall {
  readonly data: SandboxData;
  readonly parameters: DataParameters;
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The JSON text of the answer and, after a write, the new data. */
interface CallOutcome {
  readonly body: string | Buffer;
  readonly data?: SandboxData;
}

export interface SandboxOperation {
  readonly method: 'GET' | 'PUT';
  /** Relative to the base address; a group captures the id. */
  readonly path: RegExp;
  readonly run: (call: OperationCall) => CallOutcome;
}

/** Specification §4.1: the accounts of the client, complete. */
const listAccounts = ({ data }: OperationCall): CallOutcome => json(data.accounts.map(accountAnswer));

/** Specification §4.2. */
const showAccount = ({ data, id }: OperationCall): CallOutcome => json(accountAnswer(findAccount(data, id)));

/** Specification §4.3: grants carry their id here, and nowhere else. */
const listDatabases = ({ data, parameters }: OperationCall): CallOutcome => {
  const accountId = parameters.require('account_id');
  if (!/^\d{1,15}$/.test(accountId)) {
    throw new Refusal(422, 'Parameter account_id must be the id of an account.');
  }
  return json(findAccount(data, Number(accountId)).databases);
};

/** Specification §4.4. The listing can be long, so its text is cached until a template changes. */
const listTemplates = ({ data }: OperationCall): CallOutcome => {
  const body = listings.get(data.dns_templates) ?? Buffer.from(JSON.stringify(data.dns_templates));
  listings.set(data.dns_templates, body);
  return { body };
};
const listings = new WeakMap<DnsTemplate[], Buffer>();

/** Specification §4.5. */
const addRecord = ({ data, parameters, id, now }: OperationCall): CallOutcome => {
  const { dns_template_records } = findOwnTemplate(data, id);
  const records = [...dns_template_records, addedRecord(data.next_id, parameters)];
  const added = withTemplateRecords({ ...data, next_id: data.next_id + 1 }, id, records);
  return templateAnswer(followTemplate(added, id, now), id);
};

/** Specification §4.6. */
const updateRecord = ({ data, parameters, id, now }: OperationCall): CallOutcome => {
  const { dns_template_records } = findOwnTemplate(data, id);
  const recordId = parameters.require('record_id');
  const index = dns_template_records.findIndex((record) => String(record.id) === recordId);
  const record = dns_template_records[index];
  if (record === undefined) {
    throw new Refusal(404, `DNS template ${id} has no such record.`);
  }
  const records = dns_template_records.with(index, updatedRecord(record, parameters));
  return templateAnswer(followTemplate(withTemplateRecords(data, id, records), id, now), id);
};

/** Specification §4.7. */
const listDnsRecords = ({ data, parameters, now }: OperationCall): CallOutcome => {
  const name = parameters.require('subdomain').toLowerCase();
  const subdomain = data.subdomains.find((candidate) => candidate.name === name);
  if (subdomain === undefined) {
    throw new Refusal(404, 'There is no such subdomain.');
  }
  return json(currentRecords(subdomain, now));
};

export const operations: readonly SandboxOperation[] = [
  { method: 'GET', path: /^\/accounts$/, run: listAccounts },
  { method: 'GET', path: /^\/accounts\/(\d{1,15})$/, run: showAccount },
  { method: 'GET', path: /^\/databases$/, run: listDatabases },
  { method: 'GET', path: /^\/dns_templates$/, run: listTemplates },
  { method: 'PUT', path: /^\/dns_templates\/(\d{1,15})\/add_record$/, run: addRecord },
  { method: 'PUT', path: /^\/dns_templates\/(\d{1,15})\/update_record$/, run: updateRecord },
  { method: 'GET', path: /^\/dns_records$/, run: listDnsRecords },
];

const json = (value: unknown): CallOutcome => ({ body: JSON.stringify(value) });

const templateAnswer = (data: SandboxData, id: number): CallOutcome => ({
  ...json(data.dns_templates.find((template) => template.id === id)),
  data,
});

/** An account in answers: its grants have no ids. */
const accountAnswer = (account: StoredAccount) => ({
  ...account,
  databases: account.databases.map((database) => ({
    ...database,
    database_grants: database.database_grants.map(({ login, access_level }) => ({ login, access_level })),
  })),
});

const findAccount = (data: SandboxData, id: number): StoredAccount => {
  const account = data.accounts.find((candidate) => candidate.id === id);
  if (account === undefined) {
    throw new Refusal(404, `There is no account ${id}.`);
  }
  return account;
};

const findOwnTemplate = (data: SandboxData, id: number): DnsTemplate => {
  const template = data.dns_templates.find((candidate) => candidate.id === id);
  if (template === undefined) {
    throw new Refusal(404, `There is no DNS template ${id}.`);
  }
  if (template.publicly_available) {
    throw new Refusal(403, `DNS template ${id} is publicly available and cannot be changed.`);
  }
  return template;
};
