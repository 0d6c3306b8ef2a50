import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { inAppContext, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { loadOptionsOf } from '../app/template-files.ts';
import { unknownNames } from '../app/names.ts';
import type { Options } from '../app/options.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { maxFileSize } from '../desired/parse-file.ts';
import { LockedError, messageOf, UserError } from '../errors.ts';
import { scalarText } from '../import/entry.ts';
import { labelsOf, type Label } from '../import/label.ts';
import { createFile, readIfThere } from '../import/save.ts';
import { writeTemplate, type FileContents } from '../import/write.ts';
import type { Io } from '../io.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { isBelow } from '../lib/is-below.ts';
import { plural } from '../lib/plural.ts';
import { matchNames } from '../model/match-names.ts';
import { shellWord } from '../model/shell-word.ts';
import type { ActualTemplate, DesiredState } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';
import { createTemplateLoader, loadTexts } from '../source/load.ts';
import { schemaHeader } from './schema.ts';

/** Writes template files from the client's own templates. Exits with 1 if a template was skipped. */
export const importFiles = (patterns: readonly string[], options: Options, io: Io): Promise<number> =>
  inAppContext(options, io, async (context) => {
    const outcomes = await whileShown(io, 'importing', () => importAll(patterns, context, options, io));
    return showOutcomes(outcomes, io);
  });

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
      const remarksTitle = 'What this file cannot say of the template at the service:';
      const outcome = await importTemplate(
        template,
        label,
        { subdomains: [], remarks, remarksTitle },
        target,
      );
      outcomes.push(outcome);
      if (outcome.result !== 'skipped') described.push(label.name);
    }
    if (described.length > 0 && isRead(target.directory, client.settings))
      await rememberOwn(client, described, io);
  }
  return outcomes;
};

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

/** The directory for the files, and what files say already. `redact` replaces every secret in a value. */
type ImportTarget = Awaited<ReturnType<typeof importTarget>>;

/**
 * Where `import` writes: `--out`, or the client's first directory. If it is one that the client's passes read, all of them
 * are read, since a template may have only one file there. Throws if it is a file.
 */
export const importTarget = async (client: ClientSettings, options: Options, redact: <T>(value: T) => T) => {
  const directory = typeof options['out'] === 'string' ? options['out'] : client.templates[0]!;
  const found = await stat(path.resolve(client.cwd, directory)).catch(() => null);
  if (found?.isDirectory() === false)
    throw new UserError(`${directory} is not a directory: name another one with --out`);
  const own = loadOptionsOf(client, {});
  const paths = [directory, ...(isRead(directory, client) ? own.paths : [])];
  const state = await createTemplateLoader().load({ ...own, paths });
  return { directory, client, state, withSchema: options['schema'] !== false, redact };
};

/** Whether the client's passes read what is in a directory. */
const isRead = (directory: string, { templates, cwd }: ClientSettings): boolean =>
  templates.some((one) => isBelow(path.resolve(cwd, one), path.resolve(cwd, directory)));

/** What became of a template: `note` says what was written, or why it was skipped. */
interface ImportOutcome {
  readonly result: 'written' | 'unchanged' | 'skipped';
  readonly file: string;
  readonly note: string;
}

/** Writes the file of one template, or says why not. A file that exists is left alone. */
export const importTemplate = async (
  template: ActualTemplate,
  { name, id, fileName }: Label,
  extras: Pick<FileContents, 'subdomains' | 'remarks' | 'remarksTitle'>,
  { directory, client, state, withSchema, redact }: ImportTarget,
): Promise<ImportOutcome> => {
  const placeOf = (shown: string): string => path.resolve(client.cwd, shown);
  const [described, ...others] = filesOf(name, template.id, state);
  const file = described ?? path.join(directory, fileName);
  const skipped = (note: string): ImportOutcome => ({ result: 'skipped', file, note });
  if (JSON.stringify(redact([template, extras])) !== JSON.stringify([template, extras])) {
    const note = `template ${template.id} contains a token of this client, which must not be in a file`;
    return { ...skipped(note), file: directory };
  }
  if (others.length > 0) return skipped(`${others.join(', ')} describes it too`);
  const roots = [...client.templates, directory];
  const root = roots.find((one) => isBelow(placeOf(one), placeOf(path.dirname(file)))) ?? directory;
  const header = withSchema ? schemaHeader(placeOf(file), placeOf(root)) : '';
  try {
    const before = await readIfThere(placeOf(file));
    const written = await writeTemplate({ name, id, records: template.records, header, ...extras }, (text) =>
      loadTexts(loadOptionsOf(client, {}), new Map([[file, text]])),
    );
    const isSame = !('refusal' in written) && before?.equals(Buffer.from(written.text)) === true;
    if (before !== null && !isSame)
      return skipped(
        described === undefined
          ? 'it exists already, and does not describe this template'
          : `it describes the template already; accept ${shellWord(name)} writes into it what the service has; to import it anew, remove it first`,
      );
    if ('refusal' in written) return skipped(`cannot be described by a file: ${written.refusal}`);
    const { text, desired, remarks } = written;
    const note = `${plural(desired, 'record')}${remarks === 0 ? '' : `, ${plural(remarks, 'remark')}`}`;
    if (isSame) return { result: 'unchanged', file, note };
    if (Buffer.byteLength(text) > maxFileSize) return skipped('it would be too large for one file');
    await createFile(placeOf(file), text);
    return { result: 'written', file, note };
  } catch (error) {
    if (error instanceof UserError || (error instanceof Error && 'code' in error))
      return skipped(messageOf(error));
    throw error;
  }
};

/** The files that describe a template, by its id or its name. */
const filesOf = (name: string, templateId: number, { templates, unusable }: DesiredState): string[] => {
  const all = [...templates.map((one) => ({ ...one, file: one.source.file })), ...unusable];
  return all
    .filter(({ id, template }) => (id === null ? template === name : id === templateId))
    .map(({ file }) => file);
};

/** Prints what became of each, and returns the exit code: 1 if one was skipped. */
export const showOutcomes = (outcomes: readonly ImportOutcome[], { stdout }: Pick<Io, 'stdout'>): number => {
  for (const { result, file, note } of outcomes)
    stdout.write(`${result.padEnd('unchanged'.length)}  ${escapeControl(`${file}: ${note}`)}\n`);
  const counts = (['written', 'unchanged', 'skipped'] as const).map(
    (result) => `${outcomes.filter((one) => one.result === result).length} ${result}`,
  );
  const summary = `${plural(outcomes.length, 'template')}: ${counts.join(', ')}\n`;
  stdout.write(outcomes.length === 0 ? "the service has no templates of this client's own\n" : summary);
  return outcomes.some(({ result }) => result === 'skipped') ? 1 : 0;
};
