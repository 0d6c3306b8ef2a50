import path from 'node:path';
import { z } from 'zod';
import { codeOf, UserError } from '../errors.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { createFile, readIfThere, replaceFile } from '../import/save.ts';
import { isFragmentPath } from '../model/template.ts';
import { schemaId, schemaText } from './schema-text.ts';

/*
 * The schemas of template files and fragments, as files in a directory of templates. Each file below it names its
 * schema in a comment, for editors.
 */

const kinds = ['template', 'fragment'] as const;

type SchemaKind = (typeof kinds)[number];

/** The loader skips names that begin with a dot. */
const schemaFile = (root: string, kind: SchemaKind): string => path.join(root, `.${kind}.schema.json`);

/** The first line of a new file below a directory with schemas. */
export const schemaHeader = (file: string, root: string): string => {
  const target = schemaFile(root, isFragmentPath(file) ? 'fragment' : 'template');
  return `# yaml-language-server: $schema=${path.relative(path.dirname(file), target)}\n`;
};

/**
 * Leaves alone whatever has the name of a schema file already. Returns the files that were written. A relative root
 * starts from `cwd`.
 */
export const addSchemaFiles = async (root: string, cwd: string): Promise<string[]> => {
  const added: string[] = [];
  for (const kind of kinds) {
    const file = schemaFile(root, kind);
    try {
      await createFile(path.resolve(cwd, file), await schemaText(kind));
      added.push(file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return added;
};

/** Writes both schemas, or throws and wrote neither. Replaces only schemas of this program. Returns a line about each. */
export const writeSchemaFiles = async (root: string, cwd: string): Promise<string[]> => {
  const changes: { file: string; text: string; before: Buffer | null }[] = [];
  for (const kind of kinds) {
    const file = schemaFile(root, kind);
    const before = await of(file, () => readIfThere(path.resolve(cwd, file)));
    if (before !== null && !isOurs(before, kind)) {
      throw new UserError(`${file} is not a schema of this program: move it away`);
    }
    changes.push({ file, text: await schemaText(kind), before });
  }
  const lines: string[] = [];
  for (const { file, text, before } of changes) {
    const place = path.resolve(cwd, file);
    const isSame = before?.equals(Buffer.from(text)) === true;
    if (!isSame) await of(file, () => (before === null ? createFile(place, text) : replaceFile(place, text)));
    lines.push(`${isSame ? 'unchanged' : 'written  '}  ${escapeControl(file)}`);
  }
  return lines;
};

const isOurs = (bytes: Buffer, kind: SchemaKind): boolean => {
  try {
    const content: unknown = JSON.parse(bytes.toString());
    return z.looseObject({ $id: z.literal(schemaId(kind)) }).safeParse(content).success;
  } catch {
    return false;
  }
};

const of = async <T>(file: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw new UserError(`${file}: ${codeOf(error)}`, { cause: error });
  }
};
