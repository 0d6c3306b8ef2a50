import type { Options } from '../app/options.ts';
import { suggestion } from '../lib/nearest.ts';
import { ArgumentError, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { HostingService } from '../hosting/service.ts';
import { originFrom } from '../import/zone/origin.ts';
import { writeZone } from '../import/zone/write-zone.ts';
import { asJson } from '../lib/escape-control.ts';
import type { ActualRecord } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { redactTexts, redactor } from '../secrets.ts';
import { whileShown } from '../app/progress.ts';
import { asTable, type TextRow } from './text-table.ts';
import { inAppContext, onlyClient } from '../app/app-context.ts';

/** One of the five read operations. With several clients it needs `--client`. */
export const get = (what: string, argument: string | null, options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const client = onlyClient(context);
    const isJson = options['format'] === 'json';
    const isZone = options['format'] === 'zone';
    if (!isZone && options['origin'] !== undefined)
      throw new ArgumentError('--origin goes with --format zone');
    if (isZone && what === 'dns-templates')
      throw new ArgumentError('--format zone needs the name or the id of a template');
    const origin = options['origin'] === undefined ? null : originFrom(options['origin'], '--format zone');
    const answer = await whileShown(io, 'asking the service', () =>
      read(client.service, what, argument ?? '', isJson),
    );
    const found = redactTexts(answer, redactor(context.secrets()));
    io.stdout.write(
      isJson ? asJson(found.value) : isZone ? writeZone(found.records ?? [], origin) : asTable(found.rows),
    );
    return 0;
  });

interface FetchedList {
  readonly value: unknown;
  readonly rows: readonly TextRow[];
  /** Of one template. */
  readonly records?: readonly ActualRecord[];
}

const read = async (
  service: HostingService,
  what: string,
  argument: string,
  isJson: boolean,
): Promise<FetchedList> => {
  switch (what) {
    case 'accounts': {
      const value = await service.listAccounts();
      return { value, rows: value.map(accountRow) };
    }
    case 'account': {
      const value = await service.showAccount(idFrom(argument, 'get account'));
      return { value, rows: [accountRow(value)] };
    }
    case 'databases': {
      const value = await service.listDatabases(idFrom(argument, '--account'));
      return { value, rows: value.map(databaseRow) };
    }
    case 'dns-templates': {
      const value = await service.listDnsTemplates();
      return { value: asSpecified(value), rows: value.map(templateRow) };
    }
    case 'dns-template': {
      const value = templateCalled(argument, await service.listDnsTemplates());
      const rows = value.records.map(templateRecordRow);
      return { value: asSpecified(value), rows, records: value.records };
    }
    default: {
      const [value, templates] = await Promise.all([
        service.listDnsRecords(argument),
        isJson ? [] : service.listDnsTemplates(),
      ]);
      const followed = new Map(
        templates.flatMap(({ name, records }) => records.map(({ id }) => [id, name] as const)),
      );
      return { value: asSpecified(value), rows: value.map((record) => recordRow(record, followed)) };
    }
  }
};

/** The template with this name or id. */
const templateCalled = (nameOrId: string, templates: readonly ActualTemplate[]): ActualTemplate => {
  const named = templates.filter(({ name }) => name === nameOrId);
  const found = named.length > 0 ? named : templates.filter(({ id }) => String(id) === nameOrId);
  if (found.length > 1)
    throw new UserError(
      `the service has ${found.length} templates called ${nameOrId}: give the id of one, ${found.map(({ id }) => id).join(' or ')}`,
    );
  const names = templates.map(({ name }) => name);
  if (found[0] === undefined)
    throw new UserError(`the service has no template called ${nameOrId}${suggestion(nameOrId, names)}`);
  return found[0];
};

const templateRecordRow = ({
  id,
  type,
  name,
  priority,
  content,
  ttl,
}: ActualTemplate['records'][number]): TextRow => ({
  id,
  name: name ?? '@',
  type,
  priority,
  content,
  ttl,
});

const idFrom = (text: string, where: string): number => {
  if (!/^\d{1,15}$/.test(text))
    throw new UserError(`${where}: expected the id of an account, a whole number`);
  return Number(text);
};

type Listed = Awaited<ReturnType<HostingService['showAccount']>>;
type ListedRecord = Awaited<ReturnType<HostingService['listDnsRecords']>>[number];

const accountRow = (account: Listed): TextRow => ({
  id: account.id,
  name: shown(account['name']),
  created: shown(account['created_at']),
  'virtual server': shown(account['virtual_server_id']),
  applications: eachIn(account['applications'], (one) => shown(one['name'])),
  databases: eachIn(account['databases'], (one) => shown(one['name'])),
  'ftp users': eachIn(account['ftp_users'], (one) => shown(one['user'])),
});

const databaseRow = (database: Listed): TextRow => ({
  id: database.id,
  name: shown(database['name']),
  hosts: shown(database['hosts']),
  grants: eachIn(
    database['database_grants'],
    (one) => `${shown(one['login'])} (${shown(one['access_level'])})`,
  ),
});

/** What came, whatever it is. */
const shown = (value: unknown): string | number | null => {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.map(shown).join(', ') : JSON.stringify(value);
};

const eachIn = (list: unknown, text: (one: Record<string, unknown>) => unknown): string =>
  Array.isArray(list) ? list.map((one) => text(Object(one))).join(', ') : '';

const templateRow = ({ id, name, publiclyAvailable, subdomains, records }: ActualTemplate): TextRow => ({
  id,
  name,
  public: publiclyAvailable ? 'yes' : 'no',
  subdomains,
  records: records.length,
});

/** `followed`: by template record, the name of its template. */
const recordRow = (
  { id, type, name, priority, content, ttl, templateRecordId }: ListedRecord,
  followed: ReadonlyMap<number, string>,
): TextRow => ({
  id,
  name: name ?? '@',
  type,
  priority,
  content,
  ttl,
  template: templateRecordId === null ? null : (followed.get(templateRecordId) ?? '(in none)'),
  'template record': templateRecordId,
});

/** Templates and records with the field names of the specification (§2). */
const asSpecified = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asSpecified);
  if (typeof value !== 'object' || value === null) return value;
  const isTemplate = 'publiclyAvailable' in value;
  return Object.fromEntries(
    Object.entries(value)
      // Whether an owner was stated is no field.
      .filter(([key]) => key !== 'isOwnerStated')
      .map(([key, part]) => [
        isTemplate && key === 'records' ? 'dns_template_records' : nameOf(key),
        asSpecified(part),
      ]),
  );
};

const nameOf = (key: string): string =>
  key === 'templateRecordId'
    ? 'dns_template_record_id'
    : key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
