import { userInfo } from 'node:os';
import { openAppContext, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import {
  describedTemplates,
  everKnownTemplates,
  withIds,
  type KnownTemplates,
} from '../app/known-templates.ts';
import { matchTemplates, unknownNames } from '../app/match-templates.ts';
import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
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
  const reason = readReason(options['reason']);
  const duration = readDuration(options['for']);
  const by = whoAmI();
  return withContext(patterns, options, io, async ({ clients, redact }) => {
    const refused = refusedReason(reason, redact);
    if (refused !== null) throw new UserError(`--reason: ${refused}`);
    return eachTarget(patterns, await knownOf(clients, describedTemplates), async (client, named) => {
      const templates = named && (await withIds(named, client));
      const saved = await client.suspending((one) => one.suspend({ templates, by, reason, duration }));
      return saved.map((one) => `${one.template ?? nameOf(client)}: ${suspensionText(one, localTime)}`);
    });
  });
};

/** Ends the suspensions of these templates, whoever made them. */
export const resume = (patterns: readonly string[], options: Options, io: Io): Promise<number> =>
  withContext(patterns, options, io, async ({ clients }) => {
    const known = await knownOf(clients, everKnownTemplates);
    return eachTarget(patterns, known, async (client, named) => {
      const name = named?.[0]?.template ?? nameOf(client);
      const ids = new Set(named?.map(({ templateId }) => templateId));
      // One that was suspended by name alone may have another name by now.
      const templates =
        named && known.get(client)!.templates.filter((one) => one.template === name || isOneOf(one, ids));
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
  });

const withContext = async (
  patterns: readonly string[],
  options: Options,
  io: Io,
  act: (context: AppContext) => Promise<readonly string[]>,
): Promise<number> => {
  if (patterns.length === 0 && options['client'] === undefined)
    throw new UserError('name the templates, or all of a client with --client NAME');
  const context = await openAppContext(options, io);
  try {
    for (const line of await act(context)) io.stdout.write(`${escapeControl(line)}\n`);
    return 0;
  } finally {
    await context.close();
  }
};

type KnownByClient = ReadonlyMap<Client, KnownTemplates>;

const knownOf = async (
  clients: readonly Client[],
  find: (client: Client) => Promise<KnownTemplates>,
): Promise<KnownByClient> =>
  new Map(await Promise.all(clients.map(async (client) => [client, await find(client)] as const)));

/** Acts on each named template, with all that is known of that name, or on each client with null. */
const eachTarget = async (
  patterns: readonly string[],
  known: KnownByClient,
  act: (client: Client, named: readonly SuspendedTemplate[] | null) => Promise<readonly string[]>,
): Promise<string[]> => {
  const names = [...known.values()].flatMap(({ templates }) => templates.map(({ template }) => template));
  const clients = [...known].map(([{ service }, { files }]) => ({
    service,
    load: () => Promise.resolve(files),
  }));
  const match = await matchTemplates(patterns, clients, names);
  if (match.unknown.length > 0)
    throw new UserError(`no template is called ${unknownNames(match.unknown, match.known)}`);
  const lines: string[] = [];
  for (const [client, { templates }] of known) {
    if (patterns.length === 0) lines.push(...(await act(client, null)));
    for (const name of match.found) {
      const named = templates.filter(({ template }) => template === name);
      if (named.length > 0) lines.push(...(await act(client, named)));
    }
  }
  return lines;
};

/** For who has just said how long: `2026-11-27 16:05:00`. */
const localTime = (at: number): string => new Date(at).toLocaleString('sv-SE');

const nameOf = ({ settings }: Client): string => `client ${settings.name}`;

const isOneOf = ({ templateId }: SuspendedTemplate, ids: ReadonlySet<number | null>): boolean =>
  templateId !== null && ids.has(templateId);

const readReason = (reason: Options[string]): string => {
  if (typeof reason === 'string' && reason.trim() !== '') return reason.trim();
  throw new UserError('--reason: say why, for those who see the report');
};

const readDuration = (text: Options[string]): number | null => {
  if (typeof text !== 'string') return null;
  const duration = parseSuspensionLength(text);
  if (duration === null)
    throw new UserError(`--for: expected a duration such as 30m, 2h or 1d, 1000d at most, not \`${text}\``);
  return duration;
};

/** A container may have no name for its user. */
const whoAmI = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
};
