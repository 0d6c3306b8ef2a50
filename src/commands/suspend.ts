import { userInfo } from 'node:os';
import { openAppContext, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { matchTemplates } from '../app/match-templates.ts';
import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { suggestion } from '../lib/nearest.ts';
import { parseDuration } from '../model/duration.ts';
import type { SuspendedTemplate } from '../model/suspension.ts';

/** From now on nothing is written for these templates, or for all of the clients that `--client` names. */
export const suspend = async (patterns: readonly string[], options: Options): Promise<number> => {
  const reason = readReason(options['reason']);
  const duration = readDuration(options['for']);
  const by = whoAmI();
  return change(patterns, options, async ({ client, templates, name }) => {
    await client.suspending((one) => one.suspend({ templates, by, reason, duration }));
    const until =
      duration === null
        ? 'until it is resumed'
        : `until ${new Date(Date.now() + duration).toISOString()}, or until it is resumed`;
    return [`${name}: suspended by ${by} ${until}: ${reason}`];
  });
};

/** Ends the suspensions of these templates, whoever made them. */
export const resume = (patterns: readonly string[], options: Options): Promise<number> =>
  change(patterns, options, async ({ client, templates, name }) => {
    const ended = await client.suspending((one) => one.resume(templates));
    if (ended.length === 0) return [`${name}: was not suspended`];
    return ended.map(
      ({ template, by, reason }) => `${template ?? name}: resumed; ${by} had suspended it: ${reason}`,
    );
  });

interface Target {
  readonly client: Client;
  /** Null: all of the client. */
  readonly templates: readonly SuspendedTemplate[] | null;
  /** For messages. */
  readonly name: string;
}

const change = async (
  patterns: readonly string[],
  options: Options,
  act: (target: Target) => Promise<readonly string[]>,
): Promise<number> => {
  if (patterns.length === 0 && options['client'] === undefined)
    throw new UserError('name the templates, or all of a client with --client NAME');
  const context = await openAppContext(options, 2);
  try {
    for (const target of await targetsOf(patterns, context))
      for (const line of await act(target)) process.stdout.write(`${escapeControl(line)}\n`);
    return 0;
  } finally {
    await context.close();
  }
};

const targetsOf = async (patterns: readonly string[], { clients }: AppContext): Promise<Target[]> => {
  if (patterns.length === 0)
    return clients.map((client) => ({ client, templates: null, name: `client ${client.settings.name}` }));
  const { found, unknown, known } = await matchTemplates(patterns, clients);
  if (unknown.length > 0)
    throw new UserError(
      `no template is called ${unknown.map((name) => `${name}${suggestion(name, known)}`).join(', ')}`,
    );
  const targets: Target[] = [];
  for (const client of clients) {
    const { templates, unusable } = await client.load();
    for (const { template, id } of [...templates, ...unusable]) {
      if (template === null || !found.includes(template)) continue;
      targets.push({ client, templates: [{ template, templateId: id }], name: template });
    }
  }
  return targets;
};

const readReason = (reason: Options[string]): string => {
  if (typeof reason === 'string' && reason.trim() !== '') return reason.trim();
  throw new UserError('--reason: say why, for those who see the report');
};

const readDuration = (text: Options[string]): number | null => {
  if (typeof text !== 'string') return null;
  const duration = parseDuration(text);
  if (duration === null || duration === 0 || duration > longest)
    throw new UserError(`--for: expected a duration such as 30m, 2h or 1d, 1000d at most, not \`${text}\``);
  return duration;
};

const longest = 1_000 * 86_400_000;

/** A container may have no name for its user. */
const whoAmI = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
};
