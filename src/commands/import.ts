import { randomUUID } from 'node:crypto';
import { inAppContext, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { unknownNames } from '../app/names.ts';
import type { Options } from '../app/options.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { LockedError, UserError } from '../errors.ts';
import { scalarText } from '../import/entry.ts';
import { labelsOf } from '../import/label.ts';
import type { Io } from '../io.ts';
import { matchNames } from '../model/match-names.ts';
import { importTarget, importTemplate, isRead, showOutcomes, type ImportOutcome } from './import-file.ts';

/** Writes template files from the client's own templates, or from a zone file. Exits with 1 if a template was skipped. */
export const importFiles = async (patterns: readonly string[], options: Options, io: Io): Promise<number> => {
  if (options['zone'] !== undefined || options['origin'] !== undefined)
    return (await import('./import-zone.ts')).importZone(patterns, options, io);
  return inAppContext(options, io, async (context) => {
    const outcomes = await whileShown(io, 'importing', () => importAll(patterns, context, options, io));
    return showOutcomes(outcomes, io);
  });
};

const importAll = async (
  patterns: readonly string[],
  { clients, redact }: AppContext,
  options: Options,
  io: Io,
): Promise<readonly ImportOutcome[]> => {
  if (options['out'] !== undefined && clients.length > 1)
    throw new UserError('--out: there are several clients: choose one with --client');
  const jobs = await Promise.all(
    clients.map(async (client) => {
      const target = await importTarget(client.settings, options, redact);
      const templates = await client.service.listDnsTemplates();
      return { client, target, own: templates.filter(({ publiclyAvailable }) => !publiclyAvailable) };
    }),
  );
  const known = jobs.flatMap(({ own }) => own.flatMap(({ name, id }) => [name, String(id)]));
  const { found, unknown } = matchNames(patterns, known);
  if (unknown.length > 0)
    throw new UserError(
      `the service has no template of this client's own called ${unknownNames(unknown, known)}`,
    );
  const outcomes: ImportOutcome[] = [];
  // One after the other, since two clients may share a directory.
  for (const { client, target, own } of jobs) {
    const described: string[] = [];
    for (const [template, label] of labelsOf(own)) {
      const names = [template.name, String(template.id)];
      if (patterns.length > 0 && !names.some((name) => found.includes(name))) continue;
      const remarks = label.name === template.name ? [] : [`its name: ${scalarText(template.name)}`];
      const extras = { subdomains: [], remarks, remarksTitle };
      const outcome = await importTemplate(template, label, extras, target);
      outcomes.push(outcome);
      if (outcome.result !== 'skipped') described.push(outcome.template);
    }
    if (described.length > 0 && isRead(target.directory, client.settings))
      await rememberOwn(client, described, io);
  }
  return outcomes;
};

const remarksTitle = 'What this file cannot say of the template at the service:';

/**
 * Saves that the imported records belong to the files, so that a line that is removed later counts as an edit. If another
 * process holds the lock, its next pass does the same.
 */
const rememberOwn = async (client: Client, templates: readonly string[], io: Io): Promise<void> => {
  try {
    await client.pass({
      run: randomUUID(),
      trigger: 'command',
      templates,
      signal: new AbortController().signal,
      onChange: () => undefined,
      dryRun: false,
      onlyRemembers: true,
      ignoreSubdomains: true,
      lockTimeout: 0,
    });
  } catch (error) {
    if (error instanceof LockedError) return;
    if (!(error instanceof UserError)) throw error;
    const why = `the files are written, but the state could not be saved: ${error.message}`;
    printLine(io, `dns-template-sync: ${why}`);
  }
};
