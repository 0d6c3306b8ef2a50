import { userInfo } from 'node:os';
import { inAppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { describedIn } from '../app/template-files.ts';
import { matchTemplates, refuseSeveral } from '../app/names.ts';
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
import type { Run } from './table.ts';

/** From now on nothing is written for these templates, or for all of the clients that `--client` names. */
export const suspend: Run = (patterns, options, io) => {
  const reason = String(options['reason'] ?? '').trim();
  const { for: length } = options;
  const duration = typeof length === 'string' ? parseSuspensionLength(length) : null;
  if (length !== undefined && duration === null)
    throw new UserError(
      `--for: expected a duration such as 30m, 2h or 1d, 1000d at most, not \`${String(length)}\``,
    );
  return forEachName(patterns, options, io, async ({ client, templates, redact }) => {
    const refused = refusedReason(reason, redact);
    if (refused !== null) throw new UserError(`--reason: ${refused}`);
    const request = { templates, by: whoAmI(), reason, duration };
    const saved = await client.suspending((one) => one.suspend(request));
    return saved.map((one) => `${one.template ?? nameOf(client)}: ${suspensionText(one, localTime)}`);
  });
};

/** Ends the suspensions of these templates, whoever made them. */
export const resume: Run = (patterns, options, io) =>
  forEachName(patterns, options, io, resumeOf, refuseSeveral);

const resumeOf = async ({ client, templates }: Target): Promise<readonly string[]> => {
  const name = templates?.[0]?.template ?? nameOf(client);
  return client.suspending(async (one) => {
    const ended = (await one.resume(templates)).map(
      ({ template, by, reason }) => `${template ?? name}: resumed; ${by} had suspended it: ${reason}`,
    );
    const left = (await one.suspensions()).filter(({ template }) => template === null);
    const still = left.map((all) => `${name}: ${nameOf(client)} is still ${suspensionText(all, localTime)}`);
    return ended.length + still.length === 0 ? [`${name}: was not suspended`] : [...ended, ...still];
  });
};

interface Target {
  readonly client: Client;
  /** One name with each id that is known of it; null: all of the client. */
  readonly templates: readonly SuspendedTemplate[] | null;
  readonly redact: (text: string) => string;
}

const forEachName = async (
  patterns: readonly string[],
  options: Options,
  io: Io,
  act: (target: Target) => Promise<readonly string[]>,
  check: typeof refuseSeveral = () => Promise.resolve(),
): Promise<number> => {
  if (patterns.length === 0 && options['client'] === undefined)
    throw new UserError('name the templates, or all of a client with --client NAME');
  return inAppContext(options, io, async ({ clients, redact }) => {
    const found = await Promise.all(
      clients.map(async (client) => ({ client, known: await everKnown(client) })),
    );
    const all = found.flatMap(({ known }) => known.map(({ template }) => template));
    const names = await matchTemplates(patterns, clients, all);
    await check(names, clients, options);
    for (const { client, known } of found) {
      const ofNames = names.map((name) => known.filter(({ template }) => template === name));
      for (const templates of patterns.length === 0 ? [null] : ofNames.filter((one) => one.length > 0))
        for (const line of new Set(await act({ client, templates, redact })))
          io.stdout.write(`${escapeControl(line)}\n`);
    }
    return 0;
  });
};

/**
 * What files describe; also those whose file is gone, and what is suspended. A template has its id too, where files or saved
 * state know it: it stays suspended under another name. Of one name, those with an id come last, and count.
 */
const everKnown = async (client: Client): Promise<readonly SuspendedTemplate[]> => {
  const saved = await client.suspending(async (one) => [
    ...(await one.templates()),
    ...(await one.suspensions()),
  ]);
  const all = [
    ...describedIn(await client.load()).map(({ template, id }) => ({ template, templateId: id })),
    ...saved.flatMap(({ template, templateId }) => (template === null ? [] : [{ template, templateId }])),
  ];
  return all.sort((one, other) => (one.templateId ?? 0) - (other.templateId ?? 0));
};

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
