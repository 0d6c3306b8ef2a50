import type { Options } from '../app/options.ts';
import type { Found } from '../doctor/finding.ts';
import { examineWrite, ownValues } from '../doctor/write.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { openProbe } from '../hosting/probe.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { canonicalName } from '../model/canonical.ts';
import { isDescribable, type ActualRecord } from '../model/record.ts';
import { suspensionOf, suspensionText } from '../model/suspension.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { MemoryReader } from '../state/memory.ts';
import type { Client } from '../app/client.ts';
import { canAsk, confirm } from '../app/progress.ts';

interface WriteTrial {
  /** A template's name or id. */
  readonly write: string;
  readonly record: string;
  /** Milliseconds, to be held against how long a listing takes to show a change; null: that is not tried. */
  readonly settle: number | null;
  readonly options: Options;
}

/** Updates one record with the values that it has, after it was shown and agreed to, while nobody else writes. */
export const tryWrite = async (client: Client, request: WriteTrial, io: Io): Promise<Found> => {
  if (client.settings.dryRun) throw new UserError('dryRun is set, so nothing is written: unset it');
  const isYes = request.options['yes'] === true;
  if (!isYes && !canAsk(io))
    throw new UserError('doctor --write asks before it writes, and this is not a terminal: give --yes');
  const { signal } = new AbortController();
  return client.alone({ lockTimeout: lockTimeout, signal }, async (connection, memory) => {
    const template = templateIn(await client.service.listDnsTemplates(), request.write);
    const record = recordIn(template, request.record);
    await requireUnsuspended(template, client, memory);
    const isTimed = request.settle !== null && record.ttl !== null;
    const test = !isTimed ? '' : `, then ttl=${record.ttl + 1}, and ttl=${record.ttl} again`;
    const values = Object.entries(ownValues(record)).map(([key, value]) => `${key}=${value}`);
    io.stderr.write(
      `${escapeControl(`update_record of template ${template.id} (${template.name}): ${values.join(' ')}${test}`)}\n`,
    );
    if (!isYes && !(await confirm(io, `Send this record its own values${test}?`)))
      throw new UserError('nothing was written');
    await requireUnsuspended(template, client, memory);
    const probe = openProbe(connection);
    try {
      const { service, settings: dialect } = client;
      const tokens = connection.tokens();
      return await examineWrite(template, record, {
        probe,
        service,
        tokens,
        dialect,
        settle: request.settle,
      });
    } finally {
      await probe.close();
    }
  });
};

/** Milliseconds. */
const lockTimeout = 60_000;

const templateIn = (templates: readonly ActualTemplate[], nameOrId: string): ActualTemplate => {
  const found = templates.filter(({ id, name }) => name === nameOrId || String(id) === nameOrId);
  const [template] = found;
  if (template === undefined || found.length > 1)
    throw new UserError(`${found.length} templates of the service are called ${nameOrId}: give an id`);
  if (template.publiclyAvailable)
    throw new UserError(`${template.name} (${template.id}) is or may be public, and is never written`);
  return template;
};

const requireUnsuspended = async (
  { id, name }: ActualTemplate,
  client: Client,
  memory: MemoryReader,
): Promise<void> => {
  const described = (await client.load()).templates.filter((one) => one.id === id);
  const saved = (await memory.template(id))?.row.template ?? null;
  const names = [name, saved, ...described.map(({ template }) => template)];
  const suspension = suspensionOf(await memory.suspensions(), { templateId: id, names });
  if (suspension === null) return;
  throw new UserError(
    `${name} (${id}) is ${suspensionText(suspension)}; nothing is written until \`resume\``,
  );
};

const recordIn = ({ name: template, records }: ActualTemplate, wanted: string): ActualRecord => {
  const [name = '', type = ''] = wanted.split(/\s+/);
  const isWanted = (record: ActualRecord): boolean =>
    String(record.id) === wanted ||
    (canonicalName(record.name) === canonicalName(name) && record.type.toUpperCase() === type.toUpperCase());
  const found = records.filter(isWanted);
  const [record] = found;
  if (record === undefined || found.length > 1)
    throw new UserError(
      `${found.length} records of ${template} are ${wanted}: give the id of one, as get dns-template shows it`,
    );
  if (!isDescribable(record))
    throw new UserError(
      `record ${record.id} (${record.type}) is of another type or unreadable, and is never written`,
    );
  return record;
};
