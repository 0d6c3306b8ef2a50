import { stat } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Options } from '../app/options.ts';
import { saidOn } from '../app/warnings.ts';
import { schemaText } from './schema-text.ts';

/** Prints a JSON Schema, or writes those of template files and fragments beside the templates. */
export const schema = async (what: string | undefined, options: Options, io: Io): Promise<number> => {
  const { write } = options;
  if (write === undefined) {
    io.stdout.write(await schemaText(what ?? 'template'));
    return 0;
  }
  if (what !== undefined) {
    throw new UserError(`--write writes the schemas of template files and fragments: leave out ${what}`);
  }
  const { writeSchemaFiles } = await import('./schema-files.ts');
  for (const directory of typeof write === 'string' ? [write] : await templateDirectories(options, io)) {
    const found = await stat(path.resolve(io.cwd, directory)).catch(() => null);
    if (found?.isDirectory() !== true) {
      throw new UserError(
        `${directory} is not a directory: name the one of the templates, as in --write DIR`,
      );
    }
    for (const line of await writeSchemaFiles(directory, io.cwd)) io.stdout.write(`${line}\n`);
  }
  return 0;
};

/** Those of all clients. */
const templateDirectories = async (flags: Options, io: Io): Promise<ReadonlySet<string>> => {
  const { readSettings } = await import('../settings.ts');
  const { clients } = readSettings({
    flags,
    needs: { baseUrl: false, tokens: false },
    env: io.env,
    cwd: io.cwd,
    say: saidOn(io),
  });
  return new Set(clients.flatMap(({ templates }) => templates));
};
