import { realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inAppContext, type AppContext } from '../app/app-context.ts';
import { readOnly, resolveNames } from '../app/names.ts';
import { loadOptionsOf, loadTemplates } from '../app/template-files.ts';
import { readOffline, type Options } from '../app/options.ts';
import { passClients } from '../app/passes.ts';
import { canAsk, confirm, printLine, whileShown } from '../app/progress.ts';
import { checkOut } from '../app/report-output.ts';
import { UserError } from '../errors.ts';
import { accept as editFor, patchFor, type Accepted, type EditedFile } from '../import/accept.ts';
import { readIfThere, replaceFile } from '../import/save.ts';
import type { Io } from '../io.ts';
import { escapeControl, escapeInJson } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import type { Difference } from '../plan/difference.ts';
import { matchesPattern, type RecordPattern } from '../plan/record-pattern.ts';
import type { TemplateResult } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import { openWorkingCopy } from '../source/template-source.ts';
import type { Run } from './table.ts';

/** Writes into a template's files what the service has. Shows the diff and asks; the service is only read. */
export const accept: Run = async ([name = '', ...records], options, io) => {
  const out = typeof options['out'] === 'string' ? options['out'] : null;
  const asks = out === null && options['yes'] !== true;
  if (asks && !canAsk(io))
    throw new UserError(
      'accept asks before it changes files, and this is not a terminal: give --yes, or --out FILE for a patch',
    );
  if (out !== null && out !== '-') await checkOut(options, io);
  return inAppContext(options, io, async (context) => {
    const { clients, redact } = context;
    const names = await whileShown(io, 'reading template files', () => resolveNames(clients, [name]));
    const patterns = await readOnly(io, records, clients, names, '');
    const { result, differences } = await compareTwice(name, names, patterns, context, io);
    const { template, client } = result;
    if (JSON.stringify(redact(differences)) !== JSON.stringify(differences))
      throw new UserError(
        'the service has a record that contains a token of this client, which must not be in a file',
      );
    const { settings } = clients.find((one) => one.settings.name === client)!;
    const { files, count, unsaid } = await editsFor(result, differences, settings, options, io);
    for (const note of unsaid) printLine(io, `no file can say ${note}`);
    if (files.length === 0) {
      printLine(io, `${template}: nothing to accept: its files say what the service has`);
      return 0;
    }
    const patches = files.map(({ path: file, before, after }) =>
      patchFor(path.relative(io.cwd, path.resolve(io.cwd, file)), before, after),
    );
    const patch = patches.join('');
    if (redact(patch) !== patch)
      throw new UserError('a template file contains a token of this client: remove it from there first');
    if (out === '-') io.stdout.write(patch);
    else if (out !== null) await writeFile(path.resolve(io.cwd, out), patch);
    if (out !== null) return 0;
    io.stdout.write(escapeInJson(patch.replaceAll('\r\n', '\n')));
    if (asks && !(await confirm(io, 'Write this to the files?'))) {
      io.stderr.write('nothing was written\n');
      return 1;
    }
    await save(files, io.cwd);
    const lines = [
      ...files.map((file) => `written  ${escapeControl(file.path)}`),
      `${escapeControl(template)}: accepted ${plural(count, 'difference')}`,
    ];
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return 0;
  });
};

/**
 * What two readings agree on, as for a write: what one listing lacks may be there, and once the files lack it as well, a
 * pass parks it.
 */
const compareTwice = async (
  name: string,
  names: readonly string[],
  patterns: readonly RecordPattern[],
  context: AppContext,
  io: Io,
) => {
  const read = async () => {
    const result = await compare(name, names, context, io);
    const isMeant = (one: Difference): boolean =>
      patterns.length === 0 || sidesOf(one).some((side) => matchesPattern(patterns, side));
    return { result, differences: result.differences.filter(isMeant) };
  };
  const first = await read();
  if (first.differences.length === 0) return first;
  const { template, client } = first.result;
  const { settle } = context.clients.find(({ settings }) => settings.name === client)!.settings;
  // The embedded service answers truly at once.
  if (context.sandboxUrl === null)
    await whileShown(io, 'waiting to read the service once more', () =>
      context.clock.sleep(settle, new AbortController().signal),
    );
  const second = await read();
  if (JSON.stringify(second.differences) === JSON.stringify(first.differences)) return second;
  throw new UserError(`${template}: two readings of the service differ, so nothing was changed: try again`);
};

/** A dry run over the one template that is meant. */
const compare = async (
  name: string,
  names: readonly string[],
  context: AppContext,
  io: Io,
): Promise<TemplateResult> => {
  const how = { dryRun: true, lockTimeout: 0, ignoreSubdomains: true };
  const passes = await passClients(io, context, how, names);
  const results = passes.flatMap(({ templates }) => templates);
  const [result] = results;
  if (result === undefined || results.length > 1) {
    const found = results.map(({ template, client }) => `${template} of client ${client}`);
    throw new UserError(`${name} is not one template, but ${found.join(', ')}: name one, or use --client`);
  }
  const { status, message, differences, retryAt } = result;
  // Until earlier writes have settled, the next listing may be another one.
  if (retryAt !== undefined || status === 'failed' || (status === 'held' && differences.length === 0))
    throw new UserError(
      `${result.template}: nothing can be accepted now: ${message ?? 'it could not be compared'}`,
    );
  return result;
};

const sidesOf = (one: Difference) => [
  ...('source' in one ? [one.desired] : []),
  ...(one.action === 'add' || one.current === undefined ? [] : [one.current]),
];

/** What the files have to say instead, which has been tried. */
const editsFor = async (
  { template: name, file: own }: TemplateResult,
  differences: readonly Difference[],
  client: ClientSettings,
  options: Options,
  io: Io,
): Promise<Accepted> => {
  const copy = openWorkingCopy(
    loadOptionsOf(client, { strict: options['strict'] === true, allowEmpty: true }),
  );
  const before = await copy.load(new Map());
  const template = before.templates.find((one) => one.template === name && one.source.file === own);
  if (!template) throw new UserError(`${own} changed while it was compared: try again`);
  // Keeps a byte order mark.
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const texts = new Map<string, string>();
  for (const file of [own, ...(template.fragments ?? [])])
    texts.set(file, utf8.decode(await copy.read(file)));
  const sharers = await sharersOf(template, before, client, options, io);
  return editFor({ template, differences, texts, before, load: copy.load, sharers });
};

/** Why these files are not this template's alone: others use them, also those of clients that were not chosen. */
const sharersOf = async (
  { source, fragments = [] }: DesiredTemplate,
  own: DesiredState,
  { name, cwd }: ClientSettings,
  options: Options,
  io: Io,
): Promise<ReadonlyMap<string, string>> => {
  const placeOf = (file: string): Promise<string> => realpath(path.resolve(cwd, file)).catch(() => file);
  const places = new Map<string, string>();
  for (const file of [source.file, ...fragments]) places.set(await placeOf(file), file);
  const sharers = new Map<string, string>();
  const look = async ({ templates, unusable }: DesiredState, of: string): Promise<void> => {
    for (const other of templates)
      for (const used of [other.source.file, ...(other.fragments ?? [])]) {
        const file = places.get(await placeOf(used));
        if (file !== undefined) sharers.set(file, `template ${other.template}${of} uses this file too`);
      }
    for (const broken of unusable) {
      const file = of === '' ? undefined : places.get(await placeOf(broken.file));
      if (file !== undefined) sharers.set(file, `a template${of} uses this file too, and has errors`);
      for (const fragment of fragments)
        sharers.set(fragment, `${broken.file}${of} has errors, and may include this file`);
    }
  };
  // Of the templates that stand in its own file, only its own part changes.
  await look({ ...own, templates: own.templates.filter((one) => one.source.file !== source.file) }, '');
  // Paths that were given for the chosen client are not those of others.
  const flags = { ...options, client: undefined, templates: undefined };
  const env = { ...io.env, DNS_SYNC_TEMPLATES: undefined };
  for (const other of readOffline(flags, { ...io, env }, { isSilent: true }).clients)
    if (other.name !== name)
      await look(await loadTemplates(other, { allowEmpty: true }), ` of client ${other.name}`);
  return sharers;
};

/** A file that has changed since stays as it is. */
const save = async (files: readonly EditedFile[], cwd: string): Promise<void> => {
  for (const { path: file, before } of files) {
    const now = await readIfThere(path.resolve(cwd, file)).catch((error: unknown) => {
      throw error instanceof UserError ? new UserError(`${file} is not changed: ${error.message}`) : error;
    });
    if (now?.equals(Buffer.from(before)) !== true)
      throw new UserError(`${file} was changed meanwhile, and is left as it is: try again`);
  }
  for (const file of files) await replaceFile(path.resolve(cwd, file.path), file.after);
};
