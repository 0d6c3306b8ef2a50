import type { Options } from '../app/options.ts';
import type { Io } from '../io.ts';
import { scalarText } from '../import/entry.ts';
import { labelsOf } from '../import/label.ts';
import { unknownNames } from '../app/match-templates.ts';
import { LockedError, UserError } from '../errors.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { Client } from '../app/client.ts';
import {
  importTarget,
  importTemplate,
  isRead,
  summaryOf,
  type ImportOutcome,
  type ImportTarget,
} from './import-file.ts';
import { matchNames } from '../model/match-names.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { newRun, inAppContext, type AppContext } from '../app/app-context.ts';

/** Writes template files from the client's own templates. Exits with 1 if a template was skipped. */
export const importTemplates = (patterns: readonly string[], options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const outcomes = await whileShown(io, 'importing', () => importAll(patterns, context, options, io));
    io.stdout.write(summaryOf(outcomes));
    return outcomes.some(({ result }) => result === 'skipped') ? 1 : 0;
  });

const importAll = async (
  patterns: readonly string[],
  context: AppContext,
  options: Options,
  io: Io,
): Promise<ImportOutcome[]> => {
  const jobs = await Promise.all(context.clients.map((client) => openJob(client, context, options)));
  const names = resolveNames(patterns, jobs);
  const outcomes: ImportOutcome[] = [];
  // One after the other, since two clients may share a directory.
  for (const job of jobs) {
    const found = await importJob(job, names);
    outcomes.push(...found);
    await recordOwnership(
      job,
      found.filter(({ result }) => result !== 'skipped').map(({ template }) => template),
      io,
    );
  }
  return outcomes;
};

interface Job {
  readonly client: Client;
  readonly target: ImportTarget;
  readonly own: readonly ActualTemplate[];
}

const openJob = async (client: Client, { clients, redact }: AppContext, options: Options): Promise<Job> => {
  if (typeof options['out'] === 'string' && clients.length > 1) {
    throw new UserError('--out: there are several clients: choose one with --client');
  }
  const target = await importTarget(client.settings, options, redact);
  const templates = await client.service.listDnsTemplates();
  return { client, target, own: templates.filter(({ publiclyAvailable }) => !publiclyAvailable) };
};

const resolveNames = (patterns: readonly string[], jobs: readonly Job[]): readonly string[] => {
  const all = jobs.flatMap(({ own }) => own);
  const known = new Set(all.map(({ name }) => name));
  const { found, unknown } = matchNames(patterns, [...known, ...all.map(({ id }) => String(id))]);
  if (unknown.length === 0) return found;
  const missing = unknownNames(unknown, known);
  throw new UserError(`the service has no template of this client's own called ${missing}`);
};

const importJob = async ({ target, own }: Job, names: readonly string[]): Promise<ImportOutcome[]> => {
  const outcomes: ImportOutcome[] = [];
  for (const [template, label] of labelsOf(own)) {
    if (names.length > 0 && !names.includes(template.name) && !names.includes(String(template.id))) continue;
    const isRenamed = label.name !== template.name;
    const remarks = isRenamed ? [`its name: ${scalarText(template.name)}`] : [];
    outcomes.push(await importTemplate(template, label, target, { subdomains: [], remarks, remarksTitle }));
  }
  return outcomes;
};

const remarksTitle = 'What this file cannot say of the template at the service:';

/**
 * Records in the state that the imported records belong to the files, so that a line that is removed later
 * counts as an edit. If another process holds the lock, its next pass does the same.
 */
const recordOwnership = async (
  { client, target }: Job,
  templates: readonly string[],
  io: Io,
): Promise<void> => {
  if (templates.length === 0 || !isRead(target.directory, client.settings)) return;
  try {
    await client.pass({
      run: newRun(),
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
    printLine(
      io,
      `dns-template-sync: the files are written, but the state could not be saved: ${error.message}`,
    );
  }
};
