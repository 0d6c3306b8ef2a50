import { userInfo } from 'node:os';
import { inAppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { describedIn } from '../app/load-templates.ts';
import { matchTemplates, unknownNames } from '../app/names.ts';
import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { escapeControl } from '../lib/escape-control.ts';
import {
  parseSuspensionLength,
  refusedReason,
  suspensionText,
  type SuspendedTemplate,
} from '../model/suspension.ts';

/** From now on nothing is written for these templates, or for all of the clients that `--client` names. */
export const suspend = (patterns: readonly string[], options: Options, io: Io): Promise<number> => {
  const reason = String(options['reason'] ?? '').trim();
  const { for: length } = options;
  const duration = typeof length === 'string' ? parseSuspensionLength(length) : null;
  if (length !== undefined && duration === null)
    throw new UserError(
      `--for: expected a duration such as 30m, 2h or 1d, 1000d at most, not \`${String(length)}\``,
    );
  const by = whoAmI();
  return forEachTarget(patterns, options, io, describedBy, async ({ client, named, redact }) => {
    const refused = refusedReason(reason, redact);
    if (refused !== null) throw new UserError(`--reason: ${refused}`);
    const templates = named && (await withIds(named, client));
    const saved = await client.suspending((one) => one.suspend({ templates, by, reason, duration }));
    return saved.map((one) => `${one.template ?? nameOf(client)}: ${suspensionText(one, localTime)}`);
  });
};

/** Ends the suspensions of these templates, whoever made them. */
export const resume = (patterns: readonly string[], options: Options, io: Io): Promise<number> =>
  forEachTarget(patterns, options, io, everKnown, async ({ client, named, known }) => {
    const name = named?.[0]?.template ?? nameOf(client);
    const ids = new Set(named?.flatMap(({ templateId }) => templateId ?? []));
    // One that was suspended by name alone may have another name by now.
    const templates =
      named && known.filter((one) => one.template === name || ids.has(one.templateId ?? Number.NaN));
    const [ended, left] = await client.suspending(async (one) => [
      await one.resume(templates),
      (await one.suspensions()).filter(({ template }) => template === null),
    ]);
    const lines = [
      ...ended.map(
        ({ template, by, reason }) => `${template ?? name}: resumed; ${by} had suspended it: ${reason}`,
      ),
      ...left.map((one) => `${name}: ${nameOf(client)} is still ${suspensionText(one, localTime)}`),
    ];
    return lines.length === 0 ? [`${name}: was not suspended`] : lines;
  });

interface Target {
  readonly client: Client;
  /** All that is known of one name; null: all of the client. */
  readonly named: readonly SuspendedTemplate[] | null;
  readonly known: readonly SuspendedTemplate[];
  readonly redact: (text: string) => string;
}

const forEachTarget = async (
  patterns: readonly string[],
  options: Options,
  io: Io,
  knownOf: (client: Client) => Promise<readonly SuspendedTemplate[]>,
  act: (target: Target) => Promise<readonly string[]>,
): Promise<number> => {
  if (patterns.length === 0 && options['client'] === undefined)
    throw new UserError('name the templates, or all of a client with --client NAME');
  return inAppContext(options, io, async ({ clients, redact }) => {
    const found = await Promise.all(
      clients.map(async (client) => ({ client, known: await knownOf(client) })),
    );
    const all = found.flatMap(({ known }) => known.map(({ template }) => template));
    const names = await matchTemplates(patterns, clients, all);
    if (names.unknown.length > 0)
      throw new UserError(`no template is called ${unknownNames(names.unknown, names.known)}`);
    for (const { client, known } of found) {
      const ofNames = names.found.map((name) => known.filter(({ template }) => template === name));
      for (const named of patterns.length === 0 ? [null] : ofNames) {
        if (named?.length === 0) continue;
        for (const line of await act({ client, named, known, redact }))
          io.stdout.write(`${escapeControl(line)}\n`);
      }
    }
    return 0;
  });
};

/** The templates that files of a client describe. Several may have the same name. */
const describedBy = async (client: Client): Promise<readonly SuspendedTemplate[]> =>
  describedIn(await client.load()).map(({ template, id }) => ({ template, templateId: id }));

/** Also those whose file is gone, and what is suspended under an earlier name. */
const everKnown = async (client: Client): Promise<readonly SuspendedTemplate[]> => {
  const saved = await client.suspending(async (one) => [
    ...(await one.templates()),
    ...(await one.suspensions()),
  ]);
  return [
    ...(await describedBy(client)),
    ...saved.flatMap(({ template, templateId }) => (template === null ? [] : [{ template, templateId }])),
  ];
};

/** With the ids that the saved state or the service knows for their names, since they may get others. */
const withIds = async (
  all: readonly SuspendedTemplate[],
  client: Client,
): Promise<readonly SuspendedTemplate[]> => {
  const saved = withOnlyId(all, await client.suspending((memory) => memory.templates()));
  const missing = saved.find(({ templateId }) => templateId === null);
  if (!missing) return saved;
  try {
    const own = (await client.service.listDnsTemplates()).filter((one) => !one.publiclyAvailable);
    const listed = own.map(({ id, name }) => ({ template: name, templateId: id }));
    return withOnlyId(saved, listed);
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    throw new UserError(
      `${missing.template} may get another name, so its id is needed, and the service cannot be asked (${error.message}): state the id in its file, or suspend the whole client with --client`,
    );
  }
};

/** Where only one of them has a name, that one's id. */
const withOnlyId = (
  all: readonly SuspendedTemplate[],
  known: readonly SuspendedTemplate[],
): readonly SuspendedTemplate[] =>
  all.map(({ template, templateId }) => {
    const same = known.filter((one) => one.template === template);
    return { template, templateId: templateId ?? (same.length === 1 ? same[0]!.templateId : null) };
  });

/** For who has just said how long: `2026-11-27 16:05:00`. */
const localTime = (at: number): string => new Date(at).toLocaleString('sv-SE');

const nameOf = ({ settings }: Client): string => `client ${settings.name}`;

/** A container may have no name for its user. */
const whoAmI = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
};
