import path from 'node:path';
import { z } from 'zod';
import { codeOf, UserError } from '../errors.ts';
import { createFile, readIfThere, replaceFile } from '../import/save.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { isFragmentPath } from '../model/template.ts';

/** The JSON Schema (draft 2020-12) of what is named, as text. */
export const schemaText = async (what: string): Promise<string> => {
  const { $schema, ...rest } = await documentOf(what);
  const named = { $schema, $id: idOf(what), title: `dns-template-sync ${what}`, ...rest };
  return `${JSON.stringify(named, null, 2)}\n`;
};

const idOf = (what: string): string => `urn:dns-template-sync:${what}`;

const documentOf = async (what: string): Promise<z.core.JSONSchema.JSONSchema> => {
  // Of the input, before transforms.
  const asWritten = (source: z.ZodType) => z.toJSONSchema(source, { io: 'input' });
  const settings = () => import('../settings/schema.ts');
  switch (what) {
    case 'config':
      return asWritten((await settings()).configSchema({ clients: 'either', mayBeText: false }));
    case 'client':
      return asWritten((await settings()).clientFileSchema());
    case 'report':
      return asWritten((await import('../report/report.ts')).reportSchema);
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

/** The first line of a new file below a directory with schemas. */
export const schemaHeader = (file: string, root: string): string => {
  const target = fileOf(root, isFragmentPath(file) ? 'fragment' : 'template');
  return `# yaml-language-server: $schema=${path.relative(path.dirname(file), target)}\n`;
};

/** Leaves alone whatever has such a name already. Returns the files that were written. A relative root starts from `cwd`. */
export const addSchemas = async (root: string, cwd: string): Promise<readonly string[]> => {
  const added: string[] = [];
  for (const kind of kinds) {
    const file = fileOf(root, kind);
    try {
      await createFile(path.resolve(cwd, file), await schemaText(kind));
      added.push(file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return added;
};

/** Writes both, or throws and wrote neither. Replaces only schemas of this program. Returns a line about each. */
export const writeSchemas = async (root: string, cwd: string): Promise<readonly string[]> => {
  const changes = [];
  for (const kind of kinds) {
    const [file, text] = [fileOf(root, kind), await schemaText(kind)];
    const before = await namingFile(file, () => readIfThere(path.resolve(cwd, file)));
    if (before !== null && !before.includes(`"$id": "${idOf(kind)}"`))
      throw new UserError(`${file} is not a schema of this program: move it away`);
    changes.push({ file, text, before, isSame: before?.equals(Buffer.from(text)) === true });
  }
  for (const { file, text, before, isSame } of changes) {
    const write = before === null ? createFile : replaceFile;
    if (!isSame) await namingFile(file, () => write(path.resolve(cwd, file), text));
  }
  return changes.map(({ file, isSame }) => `${isSame ? 'unchanged' : 'written  '}  ${escapeControl(file)}`);
};

const namingFile = async <T>(file: string, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw new UserError(`${file}: ${codeOf(error)}`, { cause: error });
  }
};
