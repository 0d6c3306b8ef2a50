import { realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inAppContext, type AppContext } from '../app/app-context.ts';
import type { Client } from '../app/client.ts';
import { describedIn, loadOptionsOf, loadTemplates } from '../app/template-files.ts';
import { readOffline, type Options } from '../app/options.ts';
import { passClients } from '../app/passes.ts';
import { canAsk, confirm, printLine, whileShown } from '../app/progress.ts';
import { checkOut } from '../app/report-output.ts';
import { resolveNames } from '../app/names.ts';
import { UserError } from '../errors.ts';
import { accept, patchFor, type EditedFile } from '../import/accept.ts';
import { changesFor, isChosen } from '../import/changes.ts';
import { readIfThere, replaceFile } from '../import/save.ts';
import type { Io } from '../io.ts';
import { escapeControl, escapeInJson } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { isFragmentPath, type DesiredTemplate } from '../model/template.ts';
import { parseRecordPattern, type RecordPattern } from '../plan/record-pattern.ts';
import type { TemplateResult } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import { openWorkingCopy } from '../source/template-source.ts';

/** Writes into a template's files what the service has. Shows the diff and asks; the service is only read. */
export const acceptTemplate = async (
  name: string,
  records: readonly string[],
  options: Options,
  io: Io,
): Promise<number> => {
  const patterns = records.map((text) => {
    const pattern = parseRecordPattern(text);
    if (typeof pattern === 'string') throw new UserError(pattern);
    return pattern;
  });
  const out = typeof options['out'] === 'string' ? options['out'] : null;
  const asks = out === null && options['yes'] !== true;
  if (asks && !canAsk(io))
    throw new UserError(
      'accept asks before it changes files, and this is not a terminal: give --yes, or --out FILE for a patch',
    );
  if (out !== null && out !== '-') await checkOut(options, io);
  return inAppContext(options, io, async (context) => {
    const { template, files, count, unsaid } = await findEdits(name, patterns, context, options, io);
    for (const note of unsaid) printLine(io, `no file can say ${note}`);
    if (files.length === 0) {
      printLine(io, `${template}: nothing to accept: its files say what the service has`);
      return 0;
    }
    const patches = files.map(({ path: file, before, after }) =>
      patchFor(path.relative(io.cwd, path.resolve(io.cwd, file)), before, after),
    );
    const patch = patches.join('');
    if (context.redact(patch) !== patch)
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
      `${escapeControl(template)}: accepted ${count}`,
    ];
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return 0;
  });
};

/** What the files have to say instead, which has been tried. */
const findEdits = async (
  name: string,
  patterns: readonly RecordPattern[],
  context: AppContext,
  options: Options,
  io: Io,
) => {
  const { client, template: own } = await whileShown(io, 'reading template files', () =>
    chooseTemplate(name, context.clients),
  );
  const copy = openWorkingCopy(
    loadOptionsOf(client.settings, { strict: options['strict'] === true, allowEmpty: true }),
  );
  const before = await copy.load(new Map());
  const result = await compare(client, own, context, io);
  const template = before.templates.find((one) => one.template === own && one.source.file === result.file);
  if (!template) throw new UserError(`${result.file} changed while it was compared: try again`);
  const { changes, unsaid, refusals } = changesFor(template, result.differences, patterns);
  refuseStrangers(template, result, patterns);
  if (refusals.length > 0) throw refusalOf(refusals);
  if (JSON.stringify(context.redact(changes)) !== JSON.stringify(changes))
    throw new UserError(
      'the service has a record that contains a token of this client, which must not be in a file',
    );
  // Keeps a byte order mark.
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const texts = new Map<string, string>();
  for (const file of [template.source.file, ...(template.fragments ?? [])]) {
    const bytes = await copy.read(file);
    if (bytes) texts.set(file, utf8.decode(bytes));
  }
  const sharers = await sharersOf([...texts.keys()], client.settings, options, io);
  const accepted = await accept({ template, changes, texts, before, load: copy.load, sharers });
  if ('refusals' in accepted) throw refusalOf(accepted.refusals);
  return { template: own, files: accepted.files, count: plural(changes.length, 'difference'), unsaid };
};

/** The one template that is meant, and the one client that has it. */
const chooseTemplate = async (name: string, clients: readonly Client[]) => {
  const names = await resolveNames(clients, [name]);
  const described = (await Promise.all(clients.map((client) => client.load()))).map(describedIn);
  const [client, another] = clients.filter((_, index) =>
    described[index]!.some(({ template }) => template === names[0]),
  );
  if (!client || names.length > 1)
    throw new UserError(`${name} is not one template, but ${names.join(', ')}: name one of them`);
  if (another)
    throw new UserError(
      `clients ${client.settings.name} and ${another.settings.name} both have a template ${name}: choose one with --client`,
    );
  return { client, template: names[0]! };
};

/** A dry run over the one template. */
const compare = async (
  client: Client,
  name: string,
  context: AppContext,
  io: Io,
): Promise<TemplateResult> => {
  const how = { dryRun: true, lockTimeout: 0, ignoreSubdomains: true };
  const [pass] = await passClients(io, { ...context, clients: [client] }, how, [name]);
  const result = pass!.templates[0]!;
  const { status, message, differences, retryAt } = result;
  // Until earlier writes have settled, the next listing may be another one.
  if (retryAt !== undefined || status === 'failed' || (status === 'held' && differences.length === 0))
    throw new UserError(
      `${result.template}: nothing can be accepted now: ${message ?? 'it could not be compared'}`,
    );
  return result;
};

/** A pattern about no record of either side is probably misspelled. */
const refuseStrangers = (
  { records, template }: DesiredTemplate,
  { differences }: TemplateResult,
  patterns: readonly RecordPattern[],
): void => {
  const present = differences.flatMap((one) => ('current' in one && one.current ? [one.current] : []));
  const known = [...records, ...present];
  const unknown = patterns.filter((pattern) => !known.some((record) => isChosen([pattern], record)));
  if (unknown.length === 0) return;
  const texts = unknown.map(({ text }) => `'${text}'`).join(', ');
  throw new UserError(`${template} has no record ${texts}, in its files or among the differences`);
};

const refusalOf = (refusals: readonly string[]): UserError =>
  new UserError(`nothing was changed:\n${refusals.map(escapeControl).join('\n')}`);

/** Why these files are not this client's alone: templates of others, also of clients that were not chosen, use them. */
const sharersOf = async (
  files: readonly string[],
  { name, cwd }: ClientSettings,
  options: Options,
  io: Io,
): Promise<ReadonlyMap<string, string>> => {
  // Paths that were given for the chosen client are not those of others.
  const flags = { ...options, client: undefined, templates: undefined };
  const env = { ...io.env, DNS_SYNC_TEMPLATES: undefined };
  const { clients } = readOffline(flags, { ...io, env }, { isSilent: true });
  const placeOf = (file: string): Promise<string> => realpath(path.resolve(cwd, file)).catch(() => file);
  const sharers = new Map<string, string>();
  for (const other of clients) {
    if (other.name === name) continue;
    const { templates, unusable } = await loadTemplates(other, { allowEmpty: true });
    const users = new Map<string, string>();
    for (const { template, source, fragments = [] } of templates)
      for (const file of [source.file, ...fragments])
        users.set(await placeOf(file), `template ${template} of client ${other.name} uses this file too`);
    const [broken] = unusable;
    for (const file of files) {
      const mayBe = `${broken?.file} of client ${other.name} has errors, and may include it`;
      const user = users.get(await placeOf(file)) ?? (broken && isFragmentPath(file) ? mayBe : undefined);
      if (user !== undefined) sharers.set(file, user);
    }
  }
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
