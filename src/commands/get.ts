import { inAppContext, onlyClient } from '../app/app-context.ts';
import { whileShown } from '../app/progress.ts';
import { ArgumentError, UserError } from '../errors.ts';
import type { HostingService } from '../hosting/service.ts';
import { originFrom } from '../import/zone/data.ts';
import { writeZone } from '../import/zone/write-zone.ts';
import { asJson } from '../lib/escape-control.ts';
import { suggestion } from '../lib/nearest.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { Run } from './table.ts';
import { asTable, type TextRow } from './text-table.ts';

/** One of the five read operations, by the field names of the specification. With several clients it needs `--client`. */
export const get =
  (what: string): Run =>
  ([of], options, io) =>
    inAppContext(options, io, async (context) => {
      const { service } = onlyClient(context);
      const { redact } = context;
      const { format, origin } = options;
      const isTemplate = what.startsWith('dns-template') && of !== undefined;
      if (format !== 'zone' && origin !== undefined)
        throw new ArgumentError('--origin goes with --format zone');
      if (format === 'zone' && !isTemplate)
        throw new ArgumentError('--format zone needs the name or the id of a template');
      const zone = origin === undefined ? null : originFrom(origin, '--format zone');
      const text = await whileShown(io, 'asking the service', async () => {
        if (format === 'zone') {
          const { records } = templateCalled(of ?? '', await service.listDnsTemplates());
          return writeZone(records, zone, redact);
        }
        const answer = redact(await ask(service, what, of ?? String(options['account'] ?? '')));
        const shown = isTemplate ? templateCalled(of, listIn(answer)) : answer;
        if (format === 'json') return asJson(shown);
        if (isTemplate)
          return asTable(listIn(Object(shown)['dns_template_records']).map((one) => rowOf(one)));
        const found = listIn([answer].flat());
        if (what !== 'dns-records') return asTable(found.map((one) => rowOf(one, columns[what])));
        const templates = redact(await service.listDnsTemplates());
        const ofTemplate = (one: Fields) => followed(one['dns_template_record_id'], templates);
        return asTable(found.map((one) => ({ ...rowOf(one), ...ofTemplate(one) })));
      });
      io.stdout.write(text);
      return 0;
    });

const ask = (service: HostingService, what: string, of: string): Promise<unknown> => {
  switch (what) {
    case 'accounts':
      return service.show('list-accounts', '/accounts');
    case 'account':
      return service.show('show-account', `/accounts/${idFrom(of, 'get account')}`);
    case 'databases':
      return service.show('list-databases', '/databases', { account_id: idFrom(of, '--account') });
    case 'dns-records':
      return service.show('list-dns-records', '/dns_records', { subdomain: of });
    default:
      return service.show('list-dns-templates', '/dns_templates');
  }
};

const idFrom = (text: string, where: string): number => {
  if (!/^\d{1,15}$/.test(text))
    throw new UserError(
      `${where}: expected the id of an account, a whole number${text && `, not \`${text}\``}`,
    );
  return Number(text);
};

type Fields = Readonly<Record<string, unknown>>;

const listIn = (answer: unknown): readonly Fields[] => (Array.isArray(answer) ? answer.map(Object) : []);

/** The template with this name or id. */
const templateCalled = <Template extends { readonly id?: unknown; readonly name?: unknown }>(
  nameOrId: string,
  templates: readonly Template[],
): Template => {
  const named = templates.filter(({ name }) => name === nameOrId);
  const [found, ...others] = named.length > 0 ? named : templates.filter(({ id }) => String(id) === nameOrId);
  if (others.length > 0)
    throw new UserError(
      `the service has ${named.length} templates called ${nameOrId}: give the id of one, ${named.map(({ id }) => id).join(' or ')}`,
    );
  if (found !== undefined) return found;
  const names = templates.map(({ name }) => String(name));
  throw new UserError(`the service has no template called ${nameOrId}${suggestion(nameOrId, names)}`);
};

/** What the tables show. */
const columns: Readonly<Record<string, string>> = {
  accounts: 'id name created_at virtual_server_id applications databases ftp_users',
  account: 'id name created_at virtual_server_id applications databases ftp_users',
  databases: 'id name hosts database_grants',
  'dns-templates': 'id name publicly_available subdomains dns_template_records',
};

const ofRecord = 'id name type priority content ttl';

const rowOf = (fields: Fields, keys = ofRecord): TextRow => {
  const entries = keys.split(' ').map((key) => {
    const { [key]: value = null } = fields;
    const isOfApex = (value === null || value === '') && key === 'name' && keys === ofRecord;
    return [key.replaceAll('_', ' '), isOfApex ? '@' : cellOf(value)];
  });
  return Object.fromEntries(entries);
};

/** Records are counted; of other things in a list the name is shown. */
const cellOf = (value: unknown): string | number | null => {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (!Array.isArray(value)) return value === null ? null : JSON.stringify(value);
  const named = value.map((one) => (typeof one === 'string' ? one : (one?.name ?? one?.user ?? one?.login)));
  return value.some((one) => Object(one).content !== undefined) ? value.length : named.join(', ');
};

/** Which template record a record comes from. */
const followed = (of: unknown, templates: readonly ActualTemplate[]): TextRow => {
  const template = templates.find(({ records }) => records.some(({ id }) => String(id) === String(of)));
  const isOfNone = of === null || of === undefined;
  return {
    template: isOfNone ? null : (template?.name ?? '(in none)'),
    'template record': isOfNone ? null : cellOf(of),
  };
};
