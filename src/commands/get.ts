import { inAppContext, onlyClient } from '../app/app-context.ts';
import type { Options } from '../app/options.ts';
import { whileShown } from '../app/progress.ts';
import { ArgumentError, UserError } from '../errors.ts';
import type { HostingService } from '../hosting/service.ts';
import { originFrom } from '../import/zone/data.ts';
import { writeZone } from '../import/zone/write-zone.ts';
import type { Io } from '../io.ts';
import { asJson } from '../lib/escape-control.ts';
import { suggestion } from '../lib/nearest.ts';
import type { ActualTemplate } from '../model/template.ts';
import { asTable, type TextRow } from './text-table.ts';

/** One of the five read operations. With several clients it needs `--client`. */
export const get = (what: string, of: string | undefined, options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const { service } = onlyClient(context);
    const { redact } = context;
    const isTemplate = what.startsWith('dns-template') && of !== undefined;
    const { format, origin } = options;
    if (format !== 'zone' && origin !== undefined)
      throw new ArgumentError('--origin goes with --format zone');
    if (format === 'zone' && !isTemplate)
      throw new ArgumentError('--format zone needs the name or the id of a template');
    const zone = origin === undefined ? null : originFrom(origin, '--format zone');
    const text = await whileShown(io, 'asking the service', async () => {
      if (isTemplate) {
        const template = redact(templateCalled(of, await service.listDnsTemplates()));
        if (format === 'zone') return writeZone(template.records, zone);
        return format === 'json'
          ? asJson(asSpecified(template))
          : asTable(template.records.map((record) => recordRow({ ...record })));
      }
      const value = redact(asSpecified(await ask(service, what, of ?? String(options['account']))));
      if (format === 'json') return asJson(value);
      const found = [value].flat().map((one): Fields => Object(one));
      if (what !== 'dns-records') return asTable(found.map(rows[what] ?? recordRow));
      const templates = redact(await service.listDnsTemplates());
      return asTable(found.map((record) => ({ ...recordRow(record), ...followed(record, templates) })));
    });
    io.stdout.write(text);
    return 0;
  });

const ask = (service: HostingService, what: string, of: string): Promise<unknown> => {
  switch (what) {
    case 'accounts':
      return service.listAccounts();
    case 'account':
      return service.showAccount(idFrom(of, 'get account'));
    case 'databases':
      return service.listDatabases(idFrom(of, '--account'));
    case 'dns-templates':
      return service.listDnsTemplates();
    default:
      return service.listDnsRecords(of);
  }
};

const idFrom = (text: string, where: string): number => {
  if (!/^\d{1,15}$/.test(text))
    throw new UserError(`${where}: expected the id of an account, a whole number`);
  return Number(text);
};

/** The template with this name or id. */
const templateCalled = (nameOrId: string, templates: readonly ActualTemplate[]): ActualTemplate => {
  const named = templates.filter(({ name }) => name === nameOrId);
  const [found, ...others] = named.length > 0 ? named : templates.filter(({ id }) => String(id) === nameOrId);
  if (others.length > 0)
    throw new UserError(
      `the service has ${named.length} templates called ${nameOrId}: give the id of one, ${named.map(({ id }) => id).join(' or ')}`,
    );
  if (found !== undefined) return found;
  const names = templates.map(({ name }) => name);
  throw new UserError(`the service has no template called ${nameOrId}${suggestion(nameOrId, names)}`);
};

type Fields = Readonly<Record<string, unknown>>;

/** What the tables show, by the field names of the specification. */
const accountRow = (account: Fields): TextRow => ({
  id: shown(account['id']),
  name: shown(account['name']),
  created: shown(account['created_at']),
  'virtual server': shown(account['virtual_server_id']),
  applications: eachIn(account['applications'], ({ name }) => shown(name)),
  databases: eachIn(account['databases'], ({ name }) => shown(name)),
  'ftp users': eachIn(account['ftp_users'], ({ user }) => shown(user)),
});

const rows: Readonly<Record<string, (one: Fields) => TextRow>> = {
  accounts: accountRow,
  account: accountRow,
  databases: ({ id, name, hosts, database_grants: grants }) => ({
    id: shown(id),
    name: shown(name),
    hosts: shown(hosts),
    grants: eachIn(grants, ({ login, access_level: level }) => `${shown(login)} (${shown(level)})`),
  }),
  'dns-templates': ({ id, name, subdomains, ...more }) => ({
    id: shown(id),
    name: shown(name),
    public: more['publicly_available'] === true ? 'yes' : 'no',
    subdomains: shown(subdomains),
    records: [more['dns_template_records']].flat().length,
  }),
};

const recordRow = ({ id, name, type, priority, content, ttl }: Fields): TextRow => ({
  id: shown(id),
  name: shown(name) ?? '@',
  type: shown(type),
  priority: shown(priority),
  content: shown(content),
  ttl: shown(ttl),
});

/** Which template record a record comes from. */
const followed = (
  { dns_template_record_id: of }: Fields,
  templates: readonly ActualTemplate[],
): Pick<TextRow, string> => {
  const template = templates.find(({ records }) => records.some(({ id }) => id === of));
  return { template: of === null ? null : (template?.name ?? '(in none)'), 'template record': shown(of) };
};

/** What came, whatever it is. */
const shown = (value: unknown): string | number | null => {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? value.map(shown).join(', ') : JSON.stringify(value);
};

const eachIn = (list: unknown, text: (one: Fields) => unknown): string =>
  Array.isArray(list) ? list.map((one) => text(Object(one))).join(', ') : '';

/** Templates and records with the field names of the specification. */
const asSpecified = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asSpecified);
  if (typeof value !== 'object' || value === null) return value;
  const isTemplate = 'publiclyAvailable' in value;
  const nameOf = (key: string): string => {
    if (key === 'templateRecordId') return 'dns_template_record_id';
    if (isTemplate && key === 'records') return 'dns_template_records';
    return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  };
  // Whether an owner was stated is no field.
  const fields = Object.entries(value).filter(([key]) => key !== 'isOwnerStated');
  return Object.fromEntries(fields.map(([key, part]) => [nameOf(key), asSpecified(part)]));
};
