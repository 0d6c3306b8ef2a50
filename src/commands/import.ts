import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Options } from '../app/options.ts';
import type { Io } from '../io.ts';
import { labelsOf } from '../import/label.ts';
import { unknownNames } from '../app/match-templates.ts';
import { LockedError, UserError } from '../errors.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { Client } from '../app/client.ts';
import {
  directoryFor,
  importTemplate,
  isOneOf,
  readDirectory,
  type ImportOutcome,
} from './import-template.ts';
import { matchNames } from '../plan/match-names.ts';
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
    const found = await importJob(job, names, context, options);
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
  readonly directory: string;
  readonly own: readonly ActualTemplate[];
}

const openJob = async (client: Client, { clients }: AppContext, options: Options): Promise<Job> => {
  if (typeof options['out'] === 'string' && clients.length > 1) {
    throw new UserError('--out: there are several clients: choose one with --client');
  }
  const directory = await directoryFor(client.settings, options);
  const templates = await client.service.listDnsTemplates();
  return { client, directory, own: templates.filter(({ publiclyAvailable }) => !publiclyAvailable) };
};

const resolveNames = (patterns: readonly string[], jobs: readonly Job[]): readonly string[] => {
  const all = jobs.flatMap(({ own }) => own);
  const known = new Set(all.map(({ name }) => name));
  const { found, unknown } = matchNames(patterns, [...known, ...all.map(({ id }) => String(id))]);
  if (unknown.length === 0) return found;
  const missing = unknownNames(unknown, known);
  throw new UserError(`the service has no template of this client's own called ${missing}`);
};

const importJob = async (
  { client, directory, own }: Job,
  names: readonly string[],
  { redact }: AppContext,
  options: Options,
): Promise<ImportOutcome[]> => {
  const labels = labelsOf(own);
  const target = await readDirectory(directory, client.settings);
  const overwrite = options['overwrite'] === true;
  const withSchema = options['schema'] !== false;
  const outcomes: ImportOutcome[] = [];
  for (const [template, label] of labels) {
    if (names.length > 0 && !names.includes(template.name) && !names.includes(String(template.id))) continue;
    outcomes.push(await importTemplate(template, label, { ...target, overwrite, withSchema, redact }));
  }
  return outcomes;
};

/**
 * Records in the state that the imported records belong to the files, so that a line that is removed later
 * counts as an edit. If another process holds the lock, its next pass does the same.
 */
const recordOwnership = async (
  { client, directory }: Job,
  templates: readonly string[],
  io: Io,
): Promise<void> => {
  if (templates.length === 0 || !isOneOf(directory, client.settings)) return;
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

export const summaryOf = (outcomes: readonly ImportOutcome[]): string => {
  if (outcomes.length === 0) return "the service has no templates of this client's own\n";
  const count = (result: ImportOutcome['result']): number =>
    outcomes.filter((outcome) => outcome.result === result).length;
  return [
    ...outcomes.flatMap(({ result, file, note, schemas = [] }) => [
      ...schemas.map((schema) => `${'written'.padEnd(resultWidth)}  ${escapeControl(schema)}: for editors`),
      `${result.padEnd(resultWidth)}  ${escapeControl(`${file}: ${note}`)}`,
    ]),
    `${plural(outcomes.length, 'template')}: ${count('written')} written, ${count('unchanged')} unchanged, ${count('skipped')} skipped`,
    '',
  ].join('\n');
};

const resultWidth = 'unchanged'.length;
