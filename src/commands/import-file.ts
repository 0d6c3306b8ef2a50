import { stat } from 'node:fs/promises';
import path from 'node:path';
import { loadOptionsOf } from '../app/load-templates.ts';
import type { Options } from '../app/options.ts';
import { maxFileSize } from '../desired/parse-file.ts';
import { messageOf, UserError } from '../errors.ts';
import type { Label } from '../import/label.ts';
import { createFile, readIfThere } from '../import/save.ts';
import { writeTemplate, type FileContents } from '../import/write.ts';
import type { Io } from '../io.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { isBelow } from '../lib/is-below.ts';
import { plural } from '../lib/plural.ts';
import { shellWord } from '../model/shell-word.ts';
import type { ActualTemplate, DesiredState } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';
import { createTemplateLoader, loadTexts } from '../source/load.ts';
import { addSchemas, schemaHeader } from './schema-files.ts';

export interface ImportOutcome {
  /** The template's name in the file. */
  readonly template: string;
  readonly result: 'written' | 'unchanged' | 'skipped';
  readonly file: string;
  /** What was written, or why it was skipped. */
  readonly note: string;
  /** The schema files that were written with it. */
  readonly schemas: readonly string[];
}

/** The directory for the files, and what files say already. */
export interface ImportTarget {
  readonly directory: string;
  readonly client: ClientSettings;
  readonly state: DesiredState;
  /** Whether new files name their schema. */
  readonly withSchema: boolean;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
}

/**
 * Where `import` writes: `--out`, or the client's first directory. If it is one that the client's passes read, all of them
 * are read, since a template may have only one file there. Throws if it is a file.
 */
export const importTarget = async (
  client: ClientSettings,
  options: Options,
  redact: ImportTarget['redact'],
): Promise<ImportTarget> => {
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
export const isRead = (directory: string, { templates, cwd }: ClientSettings): boolean =>
  templates.some((one) => isBelow(path.resolve(cwd, one), path.resolve(cwd, directory)));

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
  const ended = (
    result: ImportOutcome['result'],
    note: string,
    schemas: readonly string[] = [],
  ): ImportOutcome => ({ template: name, result, file, note, schemas });
  if (JSON.stringify(redact([template, extras])) !== JSON.stringify([template, extras])) {
    const note = `template ${template.id} contains a token of this client, which must not be in a file`;
    return { ...ended('skipped', note), file: directory };
  }
  if (others.length > 0) return ended('skipped', `${others.join(', ')} describes it too`);
  const roots = [...client.templates, directory];
  const root = roots.find((one) => isBelow(placeOf(one), placeOf(path.dirname(file)))) ?? directory;
  const header = withSchema ? schemaHeader(placeOf(file), placeOf(root)) : '';
  try {
    const before = await readIfThere(placeOf(file));
    const written = await writeTemplate({ name, id, records: template.records, header, ...extras }, (text) =>
      loadTexts(loadOptionsOf(client, {}), new Map([[file, text]])),
    );
    const isSame = !('refusal' in written) && before?.equals(Buffer.from(written.text)) === true;
    if (before !== null && !isSame) {
      const advice = `it describes the template already; accept ${shellWord(name)} writes into it what the service has; to import it anew, remove it first`;
      return ended(
        'skipped',
        described === undefined ? 'it exists already, and does not describe this template' : advice,
      );
    }
    if ('refusal' in written) return ended('skipped', `cannot be described by a file: ${written.refusal}`);
    const { text, desired, remarks } = written;
    const note = `${plural(desired, 'record')}${remarks === 0 ? '' : `, ${plural(remarks, 'remark')}`}`;
    if (isSame) return ended('unchanged', note);
    if (Buffer.byteLength(text) > maxFileSize) return ended('skipped', 'it would be too large for one file');
    const schemas = withSchema ? await addSchemas(root, client.cwd) : [];
    await createFile(placeOf(file), text);
    return ended('written', note, schemas);
  } catch (error) {
    if (error instanceof UserError || (error instanceof Error && 'code' in error))
      return ended('skipped', messageOf(error));
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
  const counts = (['written', 'unchanged', 'skipped'] as const).map(
    (result) => `${outcomes.filter((one) => one.result === result).length} ${result}`,
  );
  const lines = outcomes.flatMap(({ result, file, note, schemas }) => [
    ...schemas.map((schema) => `written    ${escapeControl(schema)}: for editors`),
    `${result.padEnd('unchanged'.length)}  ${escapeControl(`${file}: ${note}`)}`,
  ]);
  const summary =
    outcomes.length === 0
      ? "the service has no templates of this client's own"
      : `${plural(outcomes.length, 'template')}: ${counts.join(', ')}`;
  for (const line of [...lines, summary]) stdout.write(`${line}\n`);
  return outcomes.some(({ result }) => result === 'skipped') ? 1 : 0;
};
