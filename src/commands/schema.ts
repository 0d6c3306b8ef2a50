import { stat } from 'node:fs/promises';
import { UserError } from '../errors.ts';
import type { Options } from '../app/options.ts';
import { schemaText } from './schema-text.ts';

/** Prints a JSON Schema, or writes those of template files and fragments beside the templates. */
export const schema = async (what: string | undefined, options: Options): Promise<number> => {
  const { write } = options;
  if (write === undefined) {
    process.stdout.write(await schemaText(what ?? 'template'));
    return 0;
  }
  if (what !== undefined) {
    throw new UserError(`--write writes the schemas of template files and fragments: leave out ${what}`);
  }
  const { writeSchemaFiles } = await import('./schema-files.ts');
  for (const directory of typeof write === 'string' ? [write] : await templateDirectories(options)) {
    const found = await stat(directory).catch(() => null);
    if (found?.isDirectory() !== true) {
      throw new UserError(
        `${directory} is not a directory: name the one of the templates, as in --write DIR`,
      );
    }
    for (const line of await writeSchemaFiles(directory)) process.stdout.write(`${line}\n`);
  }
  return 0;
};

/** Those of all clients. */
const templateDirectories = async (flags: Options): Promise<ReadonlySet<string>> => {
  const { readSettings } = await import('../settings.ts');
  const { clients } = readSettings({ flags, needs: { baseUrl: false, tokens: false } });
  return new Set(clients.flatMap(({ templates }) => templates));
};
