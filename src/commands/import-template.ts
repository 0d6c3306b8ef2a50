import { stat } from 'node:fs/promises';
import { isBelow } from '../lib/is-below.ts';
import path from 'node:path';
import type { Label } from '../import/label.ts';
import { addSchemaFiles, schemaHeader } from './schema-files.ts';
import type { Options } from '../app/options.ts';
import { loadOptionsOf } from '../app/load-templates.ts';
import { createTemplateLoader } from '../source/load.ts';
import { createFile, readIfThere, replaceFile } from '../import/save.ts';
import type { TemplateSettings } from '../desired/resolve-template.ts';
import { parseFile, type ParsedFile } from '../desired/parse-file.ts';
import type { SourceFile } from '../desired/source-file.ts';
import { textOf } from '../desired/text.ts';
import { existingIn, nothingYet, type Existing } from '../import/existing.ts';
import { writeTemplate, type WrittenFiles } from '../import/write.ts';
import { messageOf, UserError } from '../errors.ts';
import { plural } from '../lib/plural.ts';
import type { DesiredState, DesiredTemplate, ActualTemplate } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';

export interface ImportOutcome {
  /** The template's name in the file. */
  readonly template: string;
  readonly result: 'written' | 'unchanged' | 'skipped';
  readonly file: string;
  /** What was written, or why it was skipped. */
  readonly note: string;
  /** The schema files that were written with it. */
  readonly schemas?: readonly string[];
}

/** The directory for the files, and the files that are in it. */
export interface ImportTarget {
  readonly directory: string;
  /** What relative paths start from. */
  readonly cwd: string;
  readonly state: DesiredState;
  readonly settings: Omit<TemplateSettings, 'strict'>;
  /** Each has the schemas of the files below it. */
  readonly roots: readonly string[];
}

/** Where `import` writes: `--out`, or the client's first directory. Throws if that is a file. */
export const directoryFor = async (
  { templates, cwd }: Pick<ClientSettings, 'templates' | 'cwd'>,
  { out }: Options,
): Promise<string> => {
  const directory = typeof out === 'string' ? out : templates[0]!;
  const found = await stat(path.resolve(cwd, directory)).catch(() => null);
  if (found?.isDirectory() === false)
    throw new UserError(`${directory} is not a directory: name another one with --out`);
  return directory;
};

/**
 * Reads the whole set of directories that the client's passes read if the directory is one of them, since a
 * template may have only one file there; else the directory alone.
 */
export const readDirectory = async (directory: string, client: ClientSettings): Promise<ImportTarget> => {
  const { paths: own, strict: _, ...settings } = loadOptionsOf(client, {});
  const paths = [directory, ...(isOneOf(directory, client) ? own : [])];
  const state = await createTemplateLoader().load({ ...settings, paths, strict: false });
  return { directory, cwd: client.cwd, state, settings, roots: [...client.templates, directory] };
};

/** Whether the client's passes read what is in a directory. */
export const isOneOf = (
  directory: string,
  { templates, cwd }: Pick<ClientSettings, 'templates' | 'cwd'>,
): boolean => templates.some((one) => isBelow(path.resolve(cwd, one), path.resolve(cwd, directory)));

export interface ImportOptions extends ImportTarget {
  readonly overwrite: boolean;
  /** Whether new files name their schema. */
  readonly withSchema: boolean;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
}

/** Writes the file of one template, or says why not. */
export const importTemplate = async (
  template: ActualTemplate,
  label: Label,
  { directory, cwd, state, settings, roots, overwrite, withSchema, redact }: ImportOptions,
): Promise<ImportOutcome> => {
  if (JSON.stringify(redact(template)) !== JSON.stringify(template)) {
    const note = `template ${template.id} contains a token of this client, which must not be in a file`;
    return { template: label.name, result: 'skipped', file: directory, note };
  }
  const [described, ...others] = descriptionsOf(template, label, state);
  const file = described?.file ?? path.join(directory, label.fileName);
  const skipped = (note: string): ImportOutcome => ({ template: label.name, result: 'skipped', file, note });
  const placeOf = (shown: string): string => path.resolve(cwd, shown);
  const root = roots.find((one) => isBelow(placeOf(one), placeOf(path.dirname(file)))) ?? path.dirname(file);
  const headerOf = (shown: string): string => (withSchema ? schemaHeader(placeOf(shown), placeOf(root)) : '');
  if (others.length > 0) return skipped(`${others.map((other) => other.file).join(', ')} describes it too`);
  try {
    const bytes = await readIfThere(placeOf(file));
    const existing = bytes === null ? nothingYet : existingOf(bytes, described);
    if ('refusal' in existing) return skipped(`it exists already, and ${existing.refusal}`);
    const id = label.id ?? described?.desired?.id ?? null;
    const fragmentName = (number: number): string => `_${path.parse(file).name}-${number}.yaml`;
    const includes = await includesOf(placeOf(file), await parseFile(bytes ?? Buffer.alloc(0), false));
    const written = await writeTemplate({
      template,
      name: label.name,
      id,
      fragmentName,
      existing,
      includes,
      settings,
    });
    if ('refusal' in written)
      return skipped(
        includes.size > 0
          ? `its fragments stay as they are: ${written.refusal}`
          : `cannot be described by a file: ${written.refusal}`,
      );
    const note = noteOn(written);
    const files = [
      // First the fragments, then the template's own file, which includes them.
      ...[...written.fragments].map(([name, text]) => {
        const place = path.join(path.dirname(file), name);
        return [place, headerOf(place) + text] as const;
      }),
      [file, (bytes === null ? headerOf(file) : '') + written.text] as const,
    ];
    const changed: ImportChange[] = [];
    for (const [place, text] of files) {
      const before = await readIfThere(placeOf(place));
      if (before?.equals(Buffer.from(text)) === true || (place === file && text === existing.source))
        continue;
      if (before !== null && !overwrite) {
        const which = place === file ? 'it' : place;
        return skipped(`${which} exists already; --overwrite rewrites it`);
      }
      changed.push({ place, text, isNew: before === null });
    }
    const schemas =
      withSchema && changed.some(({ place, isNew }) => isNew || place !== file)
        ? await addSchemaFiles(root, cwd)
        : [];
    for (const { place, text, isNew } of changed) {
      await (isNew ? createFile(placeOf(place), text) : replaceFile(placeOf(place), text));
    }
    const result = changed.length === 0 ? 'unchanged' : 'written';
    return { template: label.name, result, file, note, schemas };
  } catch (error) {
    if (error instanceof UserError || (error instanceof Error && 'code' in error))
      return skipped(messageOf(error));
    throw error;
  }
};

/** The fragments of a file that was loaded without errors. */
const includesOf = async (
  file: string,
  { documents }: ParsedFile,
  known = new Map<string, SourceFile>(),
): Promise<Map<string, SourceFile>> => {
  const includes = new Map<string, SourceFile>();
  for (const { text } of documents.flatMap(({ include }) => include)) {
    const place = path.join(path.dirname(file), text);
    const bytes = known.has(place) ? null : await readIfThere(place);
    if (bytes !== null) {
      const parsed = await parseFile(bytes, true);
      const own = await includesOf(place, parsed, known);
      known.set(place, { path: place, isFragment: true, hash: '', parsed, includes: own });
    }
    const found = known.get(place);
    if (found !== undefined) includes.set(text, found);
  }
  return includes;
};

interface ImportChange {
  readonly place: string;
  readonly text: string;
  readonly isNew: boolean;
}

interface TemplateDescription {
  readonly file: string;
  /** Null if the file has errors. */
  readonly desired: DesiredTemplate | null;
  /** Whether it identifies one template of the service. */
  readonly isClear: boolean;
}

const descriptionsOf = (
  { id }: ActualTemplate,
  label: Label,
  { templates, unusable }: DesiredState,
): TemplateDescription[] => {
  const all = [
    ...templates.map((desired) => ({ ...desired, file: desired.source.file, desired })),
    ...unusable.map((broken) => ({ ...broken, desired: null })),
  ];
  return all
    .filter((one) => (one.id === null ? one.template === label.name : one.id === id))
    .map(({ file, desired, id: stated }) => ({
      file,
      desired,
      isClear: stated !== null || label.id === null,
    }));
};

const existingOf = (
  bytes: Buffer,
  described: TemplateDescription | undefined,
): Existing | { readonly refusal: string } => {
  if (described === undefined) return { refusal: 'it does not describe this template' };
  if (!described.isClear)
    return { refusal: 'several templates have this name: add the id of one to the file' };
  const source = textOf(bytes);
  if (described.desired === null || 'diagnostic' in source) return { refusal: 'it has errors: see validate' };
  return existingIn(source.text, described.desired);
};

const noteOn = ({ desired, remarks, fragments }: WrittenFiles): string =>
  [
    plural(desired, 'record'),
    ...(fragments.size === 0 ? [] : [plural(fragments.size, 'fragment')]),
    ...(remarks === 0 ? [] : [plural(remarks, 'remark')]),
  ].join(', ');
