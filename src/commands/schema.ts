import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { readOffline } from '../app/options.ts';
import { codeOf, UserError } from '../errors.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { writeAtomically } from '../lib/files.ts';
import { isFragmentPath } from '../model/template.ts';
import { readRegularFileSync } from '../regular-file.ts';
import type { Run } from './table.ts';

/** Prints a JSON Schema, or writes those of template files and fragments beside the templates. */
export const schema: Run = async ([what], options, io) => {
  const { write } = options;
  if (write === undefined) {
    io.stdout.write(await schemaText(what ?? 'template'));
    return 0;
  }
  if (what !== undefined)
    throw new UserError(`--write writes the schemas of template files and fragments: leave out ${what}`);
  const ofClients = (): string[] => readOffline(options, io).clients.flatMap(({ templates }) => templates);
  for (const directory of typeof write === 'string' ? [write] : new Set(ofClients())) {
    const found = await stat(path.resolve(io.cwd, directory)).catch(() => null);
    if (found?.isDirectory() !== true)
      throw new UserError(
        `${directory} is not a directory: name the one of the templates, as in --write DIR`,
      );
    for (const kind of kinds) {
      const file = fileOf(directory, kind);
      await writeSchema(kind, file, io.cwd);
      io.stdout.write(`written    ${escapeControl(file)}\n`);
    }
  }
  return 0;
};

/** The JSON Schema (draft 2020-12) of what is named, as text. */
const schemaText = async (what: string): Promise<string> => {
  const { $schema, ...rest } = await documentOf(what);
  const named = {
    $schema,
    $id: idOf(what),
    title: `dns-template-sync ${what}`,
    ...rest,
  };
  return `${JSON.stringify(named, null, 2)}\n`;
};

const idOf = (what: string): string => `urn:dns-template-sync:${what}`;

const documentOf = async (what: string): Promise<z.core.JSONSchema.JSONSchema> => {
  // Of the input, before transforms.
  const asWritten = (source: z.ZodType) => z.toJSONSchema(source, { io: 'input' });
  const settings = () => import('../settings/table.ts');
  switch (what) {
    case 'config':
      return asWritten((await settings()).fileSchema());
    case 'client':
      return asWritten((await settings()).clientFileSchema());
    case 'report':
      return asWritten((await import('../report-schema.ts')).reportSchema);
    case 'notification':
      return asWritten((await import('../notify/schema.ts')).notificationSchema);
    case 'fragment':
      return (await import('../desired/schema.ts')).fragmentJsonSchema();
    default:
      return (await import('../desired/schema.ts')).templateJsonSchema();
  }
};

/*
 * The schemas of template files and fragments may be files in a directory of templates, with names that the loader skips.
 * Each file below it names its schema in a comment, for editors.
 */
const kinds = ['template', 'fragment'] as const;

const fileOf = (root: string, kind: (typeof kinds)[number]): string =>
  path.join(root, `.${kind}.schema.json`);

/** The first line of a new file below a directory with schemas; empty if it has none. */
export const schemaHeader = (file: string, root: string): string => {
  const target = fileOf(root, isFragmentPath(file) ? 'fragment' : 'template');
  const named = `# yaml-language-server: $schema=${path.relative(path.dirname(file), target)}\n`;
  return existsSync(target) ? named : '';
};

/** Replaces a schema of this program, and nothing else. */
const writeSchema = async (kind: (typeof kinds)[number], file: string, cwd: string): Promise<void> => {
  const [absolute, text] = [path.resolve(cwd, file), await schemaText(kind)];
  try {
    if (!existsSync(absolute) || isSchema(kind, absolute)) return writeAtomically(absolute, text, 0o666);
  } catch (error) {
    throw new UserError(`${file}: ${codeOf(error)}`, { cause: error });
  }
  throw new UserError(`${file} is not a schema of this program: move it away`);
};

/** Throws for a pipe, which nobody may ever write to. */
const isSchema = (kind: (typeof kinds)[number], absolute: string): boolean =>
  readRegularFileSync(absolute, 16 * 1024 * 1024).includes(`"$id": "${idOf(kind)}"`);
