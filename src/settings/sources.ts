import type { z } from 'zod';
import { nearest, suggestion } from '../lib/nearest.ts';
import { configVariable, readWritten, type SettingsRequest, type Written } from './file.ts';
import { expectedMapping, isMapping, type Base, type Kind, type Table, type Values } from './kinds.ts';
import type { Problems } from './problems.ts';
import { openSecrets, quotesAdvice, standsInQuotes } from './secrets.ts';
import { everyRow, fileRows, flags, limitTable, runTable } from './table.ts';

/*
 * Flags, environment, a client's section and the settings file each become values by their keys, in the same way. What
 * takes precedence is spread over the rest: `{ ...top, ...own, ...environment, ...flags }`.
 */

/** A setting that was set. */
interface GivenValue {
  /** Undefined: an invalid one, which is a problem. */
  readonly value: unknown;
  /** For people: `--listen`, `DNS_SYNC_LISTEN`, `dns-template-sync.yaml:3:5: clients.acme.mode`. */
  readonly place: string;
}

/** What one source sets, or several. What is under `limits` has keys that occur nowhere else. */
export type Source = Readonly<Record<string, GivenValue | undefined>>;

/** What settings are read from, and what is wrong with them. */
export type SettingSources = ReturnType<typeof readSources>;

export const readSources = (request: SettingsRequest, problems: Problems) => {
  const { flags: given, cwd } = request;
  const isObject = request.object !== undefined;
  // Compose files pass missing values as empty ones.
  const set = Object.fromEntries(Object.entries(request.env).filter(([, value]) => value?.trim()));
  const env = isObject ? {} : checkedVariables(set, problems);
  const needsService = request.needsService && given['sandbox'] !== true;
  if (given['sandbox'] === true && given['baseUrl'] !== undefined)
    problems.add('--base-url: the embedded service of --sandbox would take its place: keep one of them');
  // Node.js would obey it silently, and send the tokens to whoever answers instead of the service.
  if (needsService && set['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') problems.add(anyCertificate);
  const { written, file, isNamed } = readWritten(request, env, problems);
  const top = writtenSource(written, [], fileRows, problems);
  const base = { cwd, folder: cwd, mayHoldSecrets: true };
  const pairs = [given['var'] ?? []].flat().map((text) => String(text).split(/=(.*)/s));
  if (pairs.some(([name, value]) => !name || value === undefined)) problems.add('--var: expected NAME=VALUE');
  return {
    flags: readValues(flagsIn(given), base, problems),
    environment: readValues(variablesIn(env, problems), base, problems),
    /** The settings file, and what it says of all clients. */
    written,
    top,
    file,
    isNamed,
    isBroken: written.isBroken,
    /** The variables themselves. */
    env,
    cwd,
    secrets: openSecrets(isObject ? set : env),
    problems,
    /** Whether base URL and tokens are required. */
    needsService,
    /** Whether a program gives the settings as an object. */
    isObject,
    /** Whether nobody named the settings file where files may be anybody's: it does not decide where tokens go. */
    isForeign: !isNamed && !['false', '0', undefined].includes(env['CI']),
    /** Variables for template files, from the command line. */
    override: Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value])),
  };
};

const anyCertificate =
  'NODE_TLS_REJECT_UNAUTHORIZED: 0 switches off the check of certificates, so that anybody on the network path could read the tokens: unset it, and add your own authority with NODE_EXTRA_CA_CERTS=FILE';

/** A value for each setting of the table. */
export function resolve<T extends Table>(table: T, given: Source): Values<T>;
export function resolve(table: Table, given: Source): Readonly<Record<string, unknown>> {
  const values = Object.entries(table).map(([key, { fallback }]) => {
    const value = given[key]?.value;
    return [key, value === undefined ? fallback : value];
  });
  return Object.fromEntries(values);
}

/** What is given for a setting, and where what is below it stands. */
type Entry = readonly [key: string, kind: Kind<unknown>, given: unknown, placeOf: Written['placeOf']];

const readValues = (entries: Iterable<Entry>, base: Base, problems: Problems): Source => {
  const source: Record<string, GivenValue> = {};
  for (const [key, kind, given, placeOf] of entries) {
    const meant = typeof given === 'string' ? (kind.fromText?.(given) ?? given) : given;
    const { data, error } = schemaOf(kind, base).safeParse(meant);
    source[key] = { value: data, place: placeOf([]) };
    for (const { path, message } of error?.issues ?? [])
      problems.add(`${placeOf(path.map(String))}: ${message}`);
  }
  return source;
};

/** Making a schema takes time, and thousands of files may be in one folder. */
const schemaOf = (kind: Kind<unknown>, base: Base): z.ZodType => {
  const key = `${base.cwd}\n${base.folder}\n${base.mayHoldSecrets}`;
  const before = made.get(kind);
  const schema = before?.key === key ? before.schema : kind.schema(base);
  made.set(kind, { key, schema });
  return schema;
};
const made = new WeakMap<Kind<unknown>, { readonly key: string; readonly schema: z.ZodType }>();

/** A flag as it is typed. */
export const flagText = (key: string): string =>
  `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const flagsIn = (given: Readonly<Record<string, unknown>>): Entry[] =>
  flags
    .filter((key) => given[key] !== undefined)
    .map((key) => [key, everyRow[key]!.kind, given[key], () => flagText(key)]);

function* variablesIn(env: NodeJS.ProcessEnv, problems: Problems): Generator<Entry> {
  for (const [key, { kind, variables }] of Object.entries(everyRow)) {
    const [name, other] = variables.filter((variable) => env[variable] !== undefined);
    if (name === undefined) continue;
    if (other !== undefined) problems.add(`${name}: set together with ${other}: keep one of them`);
    const text = env[name]!.trim();
    const secret = name === variables[1] ? { file: text } : { env: name };
    const items = text.split(kind.divider ?? '\n').map((item) => item.trim());
    const value = kind.divider === undefined ? text : items.filter((item) => item !== '');
    yield [key, kind, variables.length > 1 ? secret : value, () => name];
  }
}

/** The variables that many programs obey. */
export const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** Variables as the program uses them; what is wrong with their names, or with quotes around a value, is a problem. */
const checkedVariables = (env: NodeJS.ProcessEnv, problems: Problems): NodeJS.ProcessEnv => {
  const own = Object.values(everyRow).flatMap(({ variables }) => variables);
  const fixed = { ...env };
  for (const name of [...own, ...proxyVariables, 'NO_PROXY', 'no_proxy', 'XDG_STATE_HOME']) {
    if (!standsInQuotes(env[name])) continue;
    problems.add(`${name}: ${quotesAdvice}`);
    fixed[name] = env[name]?.slice(1, -1);
  }
  // The settings file may take tokens from variables of any name; all else would stay at its default.
  const known = [configVariable, ...own];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('DNS_SYNC_') || known.includes(name)) continue;
    const meant = nearest(
      name,
      known.filter((one) => !one.includes('_TOKEN')),
    );
    if (meant !== null) problems.add(`${name}: unknown variable; did you mean ${meant}?`);
  }
  return fixed;
};

export const valueAt = ({ value }: Written, keys: readonly string[]): unknown =>
  keys.reduce((part, key) => (isMapping(part) ? part[key] : undefined), value);

/** What the mapping at these keys sets. */
export const writtenSource = (
  written: Written,
  keys: readonly string[],
  rows: Table,
  problems: Problems,
): Source => readValues(entriesIn(written, keys, rows, problems), written.base, problems);

function* entriesIn(
  written: Written,
  keys: readonly string[],
  rows: Table,
  problems: Problems,
): Generator<Entry> {
  const mapping = valueAt(written, keys);
  if (!isMapping(mapping)) return void problems.add(`${written.placeOf(keys)}: ${expectedMapping}`);
  const required = Object.keys(rows).filter((key) => rows[key]?.isRequired);
  for (const key of new Set([...Object.keys(mapping), ...required])) {
    const own = [...keys, key];
    const kind = Object.hasOwn(rows, key) ? rows[key]?.kind : undefined;
    if (kind === undefined) problems.add(`${written.placeOf(own, true)}: ${wrongKey(key, rows)}`);
    else if (kind.rows) yield* entriesIn(written, own, kind.rows, problems);
    else if (mapping[key] !== undefined || required.includes(key))
      yield [key, kind, mapping[key], (below) => written.placeOf([...own, ...below])];
  }
}

const wrongKey = (key: string, rows: Table): string => {
  if (Object.hasOwn(runTable, key)) return 'a matter of one run: use --log-level or LOG_LEVEL';
  if (Object.hasOwn(limitTable, key)) return `unknown key; did you mean \`limits.${key}\`?`;
  if (Object.hasOwn(fileRows, key))
    return 'it applies to all clients: set it at the top of the settings file';
  return `unknown key${suggestion(key, Object.keys(rows))}`;
};
