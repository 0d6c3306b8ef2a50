import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readOffline, type Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { schemaText, writeSchemas } from './schema-files.ts';

/** Prints a JSON Schema, or writes those of template files and fragments beside the templates. */
export const schema = async (what: string | undefined, options: Options, io: Io): Promise<number> => {
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
    for (const line of await writeSchemas(directory, io.cwd)) io.stdout.write(`${line}\n`);
  }
  return 0;
};
