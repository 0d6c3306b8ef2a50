import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inAppContext, onlyOne, type AppContext } from '../app/app-context.ts';
import { loadOptionsOf } from '../app/template-files.ts';
import { unknownNames } from '../app/names.ts';
import { readOffline, type Options } from '../app/options.ts';
import { runPasses } from '../app/passes.ts';
import { printLine, whileShown } from '../app/progress.ts';
import { maxFileSize } from '../desired/parse-file.ts';
import { ArgumentError, codeOf, messageOf, UserError } from '../errors.ts';
import { labelsOf, type Label } from '../import/label.ts';
import { createFile, readIfThere } from '../import/save.ts';
import { writeTemplate, type FileContents } from '../import/write.ts';
import { originFrom } from '../import/zone/data.ts';
import { readZone } from '../import/zone/read-zone.ts';
import type { Io } from '../io.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { isBelow } from '../lib/is-below.ts';
import { plural } from '../lib/plural.ts';
import { isHostLabel } from '../model/host.ts';
import { matchNames } from '../model/match-names.ts';
import { shellWord } from '../model/shell-word.ts';
import { unknownPlace, type ActualTemplate } from '../model/template.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { redactor, redactTexts } from '../secrets.ts';
import type { ClientSettings } from '../settings/client.ts';
import { createTemplateLoader, loadTexts } from '../source/load.ts';
import { schemaHeader } from './schema.ts';
import type { Run } from './table.ts';

/** Writes template files from the client's own templates, or from a zone file. Exits with 1 if one was skipped. */
export const importFiles: Run = async (names, options, io) => {
  const { zone, origin } = options;
  if (zone !== undefined || origin !== undefined)
    return showOutcomes([await importZone(names, options, io)], io);
  return inAppContext(options, io, async (context) => {
    const outcomes = await whileShown(io, 'importing', () => importAll(names, context, options, io));
    return showOutcomes(outcomes, io);
  });
};

const importAll = async (
  patterns: readonly string[],
  { clients, redact, clock }: AppContext,
  options: Options,
  io: Io,
): Promise<readonly ImportOutcome[]> => {
  if (options['out'] !== undefined && clients.length > 1)
    throw new UserError('--out: there are several clients: choose one with --client');
  const chosen = clients.map(({ settings }) => settings);
  const jobs = await Promise.all(
    clients.map(async (client) => {
      const target = await importTarget(client.settings, chosen, options, io, redact);
      const templates = await client.service.listDnsTemplates();
      return { client, target, own: templates.filter(({ publiclyAvailable }) => !publiclyAvailable) };
    }),
  );
  const known = jobs.flatMap(({ own }) => own.flatMap(({ name, id }) => [name, String(id)]));
  const { found, unknown } = matchNames(patterns, known);
  if (unknown.length > 0)
    throw new UserError(
      `the service has no template of this client's own called ${unknownNames(unknown, known)}`,
    );
  const outcomes: ImportOutcome[] = [];
  // One after the other, since two clients may share a directory.
  for (const { client, target, own } of jobs) {
    const described: string[] = [];
    for (const [template, label] of labelsOf(own)) {
      const names = [template.name, String(template.id)];
      if (patterns.length > 0 && !names.some((name) => found.includes(name))) continue;
      const outcome = await importTemplate(template, label, target);
      outcomes.push(outcome);
      if (outcome.result !== 'skipped') described.push(label.name);
    }
    if (described.length === 0 || !isRead(target.directory, client.settings)) continue;
    // The imported records belong to the files from now on, so that a line that is removed later counts as an edit. If
    // another process holds the lock, its next pass does the same.
    const how = { dryRun: false, onlyRemembers: true, ignoreSubdomains: true, lockTimeout: 0 };
    await runPasses({ clients: [client], redact, clock }, how, described, () => undefined).catch(
      (error: unknown) => {
        if (!(error instanceof UserError)) throw error;
        printLine(io, `dns-template-sync: the files are written, but not the state: ${error.message}`);
      },
    );
  }
  return outcomes;
};

/** Needs no network and no tokens. */
const importZone = async (names: readonly string[], options: Options, io: Io): Promise<ImportOutcome> => {
  const { zone: file } = options;
  if (typeof file !== 'string') throw new ArgumentError('--origin goes with --zone');
  const origin = originFrom(options['origin'], '--zone');
  if (names.length > 1) throw new ArgumentError('--zone makes one template: give one name');
  const settings = readOffline(options, io);
  const client = onlyOne(settings.clients, ({ name }) => name);
  const redact = redactor(settings.allSecrets());
  const text = await textOf(file, io);
  // Messages would quote it.
  if (redact(text) !== text)
    throw new UserError(`${file} contains a token of this program, which belongs in no zone`);
  const { records, whyNot, notes } = readZone(text, origin, file);
  const template = {
    id: 0,
    name: names[0] ?? origin,
    publiclyAvailable: false,
    subdomains: null,
    records: records.map((record) => ({ ...record, ttl: record.ttl === 1 ? null : record.ttl })),
  };
  const label = { ...labelsOf([template]).get(template)!, id: null };
  const target = await importTarget(client, [client], options, io, (value) => redactTexts(value, redact));
  const outcome = await importTemplate(template, label, target, {
    subdomains: origin.split('.').every(isHostLabel) ? [origin] : [],
    noun: 'line',
    whyNot: ({ record }) => whyNot.get(record.id) ?? null,
  });
  const automatic = records.find(({ ttl }) => ttl === 1);
  const told = [
    ...(automatic ? [`line ${automatic.id}: ${automaticTtl}`] : []),
    ...notes,
    ...(outcome.remarks ?? []).map((remark) => `left out: ${remark}`),
  ];
  for (const note of told) printLine(io, `${file}: ${note}`);
  return outcome;
};

const automaticTtl = 'a TTL of 1 means "automatic" at Cloudflare, so that entries like this one state none';

const textOf = async (file: string, { stdin, cwd }: Io): Promise<string> => {
  try {
    const bytes =
      file === '-' ? await buffer(stdin) : readRegularFileSync(path.resolve(cwd, file), maxFileSize);
    // PowerShell writes what a program prints like that.
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
    if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
    // Octets of another encoding, as a zone file can also write them (RFC 1035 §5.1).
    return bytes.toString('latin1').replaceAll(/[\x80-\xff]/g, (octet) => `\\${octet.charCodeAt(0)}`);
  } catch (error) {
    throw new UserError(`--zone ${file}: ${codeOf(error)}`, { cause: error });
  }
};

/**
 * Where `import` writes: `--out`, or the client's first directory, and what files say already. If it is one that the client's
 * passes read, all of them are read, since a template may have only one file there. `redact` replaces every secret in a
 * value. Throws if it is a file, or if another client reads it: of that one's templates, those of the same names would
 * become copies.
 */
const importTarget = async (
  client: ClientSettings,
  chosen: readonly ClientSettings[],
  options: Options,
  io: Io,
  redact: <T>(value: T) => T,
) => {
  const directory = typeof options['out'] === 'string' ? options['out'] : client.templates[0]!;
  const place = path.resolve(client.cwd, directory);
  // A path that was given for the chosen ones is not that of others.
  const env = { ...io.env, DNS_SYNC_TEMPLATES: undefined };
  const { clients } = readOffline({ ...options, client: undefined }, { ...io, env }, { isSilent: true });
  for (const other of new Map([...clients, ...chosen].map((one) => [one.name, one])).values())
    if (other.name !== client.name && isRead(place, other))
      throw new UserError(
        `${directory} is read for client ${other.name} too, whose templates of the same names would become those of ${client.name}: set \`templates\` for each client, or import into another directory with --out`,
      );
  const found = await stat(place).catch(() => null);
  if (found?.isDirectory() === false)
    throw new UserError(`${directory} is not a directory: name another one with --out`);
  const own = loadOptionsOf(client, {});
  const paths = [directory, ...(isRead(directory, client) ? own.paths : [])];
  const state = await createTemplateLoader().load({ ...own, paths });
  // What is not there yet describes nothing, however the settings and --out write it.
  const isPlace = (file: string | null): boolean => file !== null && path.resolve(client.cwd, file) === place;
  const problems = state.problems.filter(({ file }) => found !== null || !isPlace(file));
  const unknown = unknownPlace({ ...state, problems });
  return { directory, client, state, unknown, withSchema: options['schema'] !== false, redact };
};

/** Whether the client's passes read what is in a directory. */
const isRead = (directory: string, { templates, cwd }: ClientSettings): boolean =>
  templates.some((one) => isBelow(path.resolve(cwd, one), path.resolve(cwd, directory)));

type ImportTarget = Awaited<ReturnType<typeof importTarget>>;

/** What became of a template: `note` says what was written, or why it was skipped. */
interface ImportOutcome {
  readonly result: 'written' | 'unchanged' | 'skipped';
  readonly file: string;
  readonly note: string;
  /** What the file cannot say. */
  readonly remarks?: readonly string[];
}

/** Writes the file of one template, or says why not. A file that exists is left alone. */
const importTemplate = async (
  template: ActualTemplate,
  { name, id, fileName }: Label,
  { directory, client, state, unknown, withSchema, redact }: ImportTarget,
  extras: Pick<FileContents, 'subdomains' | 'noun' | 'whyNot'> = {},
): Promise<ImportOutcome> => {
  if (JSON.stringify(redact(template)) !== JSON.stringify(template)) {
    const note = `template ${template.id} contains a token of this client, which must not be in a file`;
    return { result: 'skipped', file: directory, note };
  }
  const known = [...state.templates.map((one) => ({ ...one, file: one.source.file })), ...state.unusable];
  const [described, other] = known.filter((one) =>
    one.id === null ? one.template === name : one.id === template.id,
  );
  const file = described?.file ?? path.join(directory, fileName);
  const placeOf = (shown: string): string => path.resolve(client.cwd, shown);
  try {
    if (other) throw new UserError(`${other.file} describes it too`);
    const before = await readIfThere(placeOf(file));
    const roots = [...client.templates, directory];
    const root = roots.find((one) => isBelow(placeOf(one), placeOf(path.dirname(file)))) ?? directory;
    const header = withSchema ? schemaHeader(placeOf(file), placeOf(root)) : '';
    const contents = { name, id, records: template.records, header, ...extras };
    const { text, desired, remarks } = await writeTemplate(contents, (draft) =>
      loadTexts(loadOptionsOf(client, {}), new Map([[file, draft]])),
    );
    const note = `${plural(desired, 'record')}${remarks.length === 0 ? '' : `, ${plural(remarks.length, 'remark')}`}`;
    if (before?.equals(Buffer.from(text))) return { result: 'unchanged', file, note, remarks };
    if (before !== null)
      throw new UserError(
        described === undefined
          ? 'it exists already, and does not describe this template'
          : `it describes the template already; accept ${shellWord(name)} writes into it what the service has; to import it anew, remove it first`,
      );
    // Once that can be read, the template would have two descriptions, and be held.
    if (described === undefined && unknown !== null)
      throw new UserError(
        `${unknown} cannot be read, and may describe it: mend that first, or import with --out`,
      );
    if (Buffer.byteLength(text) > maxFileSize) throw new UserError('it would be too large for one file');
    await createFile(placeOf(file), text);
    return { result: 'written', file, note, remarks };
  } catch (error) {
    if (error instanceof UserError || (error instanceof Error && 'code' in error))
      return { result: 'skipped', file, note: messageOf(error) };
    throw error;
  }
};

/** Prints what became of each, and returns the exit code: 1 if one was skipped. */
const showOutcomes = (outcomes: readonly ImportOutcome[], { stdout }: Pick<Io, 'stdout'>): number => {
  for (const { result, file, note } of outcomes)
    stdout.write(`${result.padEnd('unchanged'.length)}  ${escapeControl(`${file}: ${note}`)}\n`);
  const counts = (['written', 'unchanged', 'skipped'] as const).map(
    (result) => `${outcomes.filter((one) => one.result === result).length} ${result}`,
  );
  const summary = `${plural(outcomes.length, 'template')}: ${counts.join(', ')}\n`;
  stdout.write(outcomes.length === 0 ? "the service has no templates of this client's own\n" : summary);
  return outcomes.some(({ result }) => result === 'skipped') ? 1 : 0;
};
