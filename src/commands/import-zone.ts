import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Options } from '../app/options.ts';
import { printLine } from '../app/progress.ts';
import { maxFileSize } from '../desired/text.ts';
import { ArgumentError, codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { labelsOf } from '../import/label.ts';
import { originFrom } from '../import/zone/origin.ts';
import { readZone } from '../import/zone/read-zone.ts';
import { readRegularFile } from '../regular-file.ts';
import { redactor, redactTexts } from '../secrets.ts';
import { readSettings } from '../settings.ts';
import { directoryFor, importTemplate, readDirectory } from './import-template.ts';
import { summaryOf } from './import.ts';

/** Writes a template file from a zone file; needs no network and no tokens. Exits with 1 if there is such a file. */
export const importZone = async (names: readonly string[], options: Options, io: Io): Promise<number> => {
  const { zone: file } = options;
  if (typeof file !== 'string') throw new ArgumentError('--origin goes with --zone');
  const origin = originFrom(options['origin'], '--zone');
  if (names.length > 1) throw new ArgumentError('--zone makes one template: give one name');
  const needs = { baseUrl: false, tokens: false };
  const settings = readSettings({ flags: options, needs, env: io.env, cwd: io.cwd });
  const [client, ...others] = settings.clients;
  if (!client || others.length > 0)
    throw new UserError('there are several clients: choose one with --client');
  const redact = redactor(settings.allSecrets());
  const text = await textOf(file, io);
  // Messages would quote it.
  if (redact(text) !== text)
    throw new UserError(`${file} contains a token of this program, which belongs in no zone`);
  const { records, leftOut } = readZone(text, origin, file);
  const name = names[0] ?? origin;
  const template = { id: 0, name, publiclyAvailable: false, subdomains: null, records };
  const target = await readDirectory(await directoryFor(client, options), client);
  const outcome = await importTemplate(
    template,
    { ...labelsOf([template]).get(template)!, id: null },
    {
      ...target,
      overwrite: options['overwrite'] === true,
      withSchema: options['schema'] !== false,
      redact: (value) => redactTexts(value, redact),
    },
  );
  for (const what of leftOut) printLine(io, `left out, since no template can hold it: ${what}`);
  io.stdout.write(summaryOf([outcome]));
  return outcome.result === 'skipped' ? 1 : 0;
};

const textOf = async (file: string, { stdin, cwd }: Io): Promise<string> => {
  try {
    const bytes =
      file === '-' ? await buffer(stdin) : await readRegularFile(path.resolve(cwd, file), maxFileSize);
    if (!isUtf8(bytes)) throw new UserError('it is not UTF-8');
    return new TextDecoder().decode(bytes);
  } catch (error) {
    throw new UserError(`--zone ${file}: ${codeOf(error)}`, { cause: error });
  }
};
