import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Document } from 'yaml';
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { suggestion } from '../desired/nearest.ts';
import { codeOf } from '../errors.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { configKeys, configSchema } from './config-schema.ts';
import type { Problems } from './problems.ts';

/** A mapping of the config file: the top level, or one client's. Only what passed the checks is in it. */
export interface Section {
  readonly at: readonly string[];
  readonly values: unknown;
}

export interface ConfigFile {
  readonly file: string;
  readonly folder: string;
  readonly top: Section;
  /** Null without a `clients` map. */
  readonly clients: ReadonlyMap<string, Section> | null;
  /** The place of a key, for messages: `dns-template-sync.yaml:3:5: clients.acme.mode`. */
  readonly place: (keys: readonly string[]) => string;
  /** The text of a mapping's values as the file has it: `010` and `1.10` stay what they look like. */
  readonly texts: (keys: readonly string[]) => Readonly<Record<string, string>>;
}

const usualName = 'dns-template-sync.yaml';

/**
 * The config file, or null where there is none or none is to be read. What is wrong in it goes to `problems` and is
 * left out.
 */
export const readConfigFile = (
  given: string | false | undefined,
  cwd: string,
  problems: Problems,
): ConfigFile | null => {
  if (given === false) return null;
  const file = given ?? usualName;
  const absolute = path.resolve(cwd, file);
  if (given === undefined && !existsSync(absolute)) return null;

  const source = read(absolute, file, problems);
  if (source === null) return null;
  const lines = new LineCounter();
  const document = parseDocument(source, { prettyErrors: false, lineCounter: lines });
  const values = valuesOf(document, (offset) => placeOf(file, lines, offset), problems);

  const place = (keys: readonly string[]): string => {
    const node = document.getIn(keys, true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    const at = start === undefined ? file : placeOf(file, lines, start);
    return keys.length === 0 ? at : `${at}: ${keys.join('.')}`;
  };
  const checked = withoutFaults(values, place, problems);
  const clients = checked['clients'];
  return {
    file,
    folder: path.dirname(absolute),
    top: { at: [], values: checked },
    clients: isObject(clients)
      ? new Map(Object.entries(clients).map(([name, own]) => [name, { at: ['clients', name], values: own }]))
      : null,
    place,
    texts: (keys) => textsOf(document.getIn(keys, true)),
  };
};

/** The value at a dotted key, undefined where there is none. */
export const valueAt = ({ values }: Section, key: string): unknown => {
  let value = values;
  for (const part of key.split('.')) value = isObject(value) ? value[part] : undefined;
  return value;
};

const read = (absolute: string, file: string, problems: Problems): string | null => {
  try {
    return readRegularFileSync(absolute, largestFile).toString('utf8');
  } catch (error) {
    problems.addUnread(file, `cannot read the config file (${codeOf(error)})`);
    return null;
  }
};

/** Bytes; hundreds of clients need less. */
const largestFile = 1024 * 1024;

/** Messages are our own: those of the parser quote the file, in which somebody may have written a token. */
const valuesOf = (document: Document, at: (offset: number) => string, problems: Problems): unknown => {
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault) {
    const what = fault.code.toLowerCase().replaceAll('_', ' ');
    const hint = hintless.has(fault.code) ? '' : '; text with special characters needs quotes';
    problems.addUnread(at(fault.pos[0]), `not valid YAML: ${what}${hint}`);
    return {};
  }
  if (document.directives?.yaml.version === '1.1') {
    problems.addUnread(at(0), 'the file must be YAML 1.2: take the %YAML 1.1 line out');
    return {};
  }
  try {
    return document.toJS() ?? {};
  } catch {
    problems.addUnread(at(0), 'not valid YAML: an alias (*name) without its anchor, or too many of them');
    return {};
  }
};

/** Of which quotes would mend nothing. */
const hintless: ReadonlySet<string> = new Set(['DUPLICATE_KEY', 'MULTIPLE_DOCS']);

const placeOf = (file: string, lines: LineCounter, offset: number): string => {
  const { line, col } = lines.linePos(offset);
  return `${file}:${line}:${col}`;
};

/** The file's values without those that are not what they should be. */
const withoutFaults = (
  values: unknown,
  place: (keys: readonly string[]) => string,
  problems: Problems,
): Record<string, unknown> => {
  const { error } = configSchema().safeParse(values);
  const rest: unknown = structuredClone(values);
  for (const issue of error?.issues ?? []) {
    const keys = issue.path.map(String);
    for (const fault of faultsOf(issue, keys)) {
      if (fault.keys.length === 0) problems.addUnread(place([]), fault.message);
      else problems.add(place(fault.keys), fault.message, fault.keys.at(-1));
      remove(rest, fault.keys);
    }
  }
  return isObject(rest) ? rest : {};
};

const faultsOf = (issue: z.core.$ZodIssue, keys: string[]): { keys: string[]; message: string }[] => {
  if (issue.code !== 'unrecognized_keys') return [{ keys, message: issue.message }];
  return issue.keys.map((key) => ({
    keys: [...keys, key],
    message: isForAll(key, keys)
      ? 'it is one for all clients: set it at the top of the file'
      : `unknown key${suggestion(key, configKeys(keys))}`,
  }));
};

/** What a client cannot set for itself. */
const isForAll = (key: string, keys: readonly string[]): boolean =>
  keys[0] === 'clients' && keys.length === 2 && key !== 'clients' && configKeys([]).includes(key);

const remove = (values: unknown, keys: readonly string[]): void => {
  let holder = values;
  for (const key of keys.slice(0, -1)) holder = isObject(holder) ? holder[key] : undefined;
  const last = keys.at(-1);
  if (isObject(holder) && last !== undefined) delete holder[last];
};

const textsOf = (map: unknown): Record<string, string> => {
  const texts: Record<string, string> = {};
  if (!isMap(map)) return texts;
  for (const { key, value } of map.items) {
    if (isScalar(key) && isScalar(value)) texts[String(key.value)] = value.source ?? String(value.value);
  }
  return texts;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
