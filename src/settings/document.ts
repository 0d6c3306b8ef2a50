import path from 'node:path';
import type { Document } from 'yaml';
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { suggestion } from '../lib/nearest.ts';
import { codeOf } from '../errors.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { configKeys } from './config-schema.ts';
import type { Problems } from './problems.ts';
import { limitTable, runTable } from './table.ts';

/** A mapping of a file with settings. Contains valid values only. */
export interface Section {
  readonly values: unknown;
  /** Paths in the file are relative to this folder. */
  readonly folder: string;
  /** The place of a key, dotted or in parts, for messages: `dns-template-sync.yaml:3:5: clients.acme.mode`. */
  readonly place: (key: string | readonly string[]) => string;
  /** The key with what leads to this mapping: `clients.acme.mode`. */
  readonly nameOf: (key: string) => string;
  /** The values of the mapping at a key as text: `010` and `1.10` stay as written. */
  readonly texts: (key: string) => Readonly<Record<string, string>>;
}

/** A file with settings, as it was read. */
export interface SettingsDocument {
  readonly values: Readonly<Record<string, unknown>>;
  /** The mapping at this path of the file. */
  readonly section: (at: readonly string[]) => Section;
}

export interface DocumentRequest {
  readonly absolute: string;
  /** The path as people know it. */
  readonly file: string;
  readonly what: 'config file' | 'client file';
  /** By what the file holds, for a schema that depends on it. */
  readonly schema: (values: unknown) => z.ZodType;
  readonly problems: Problems;
}

/** The text of a file; null if it cannot be read, which goes to `problems`. */
export const readText = ({
  absolute,
  file,
  what,
  problems,
}: Omit<DocumentRequest, 'schema'>): string | null => {
  try {
    return readRegularFileSync(absolute, largestFile).toString('utf8');
  } catch (error) {
    problems.addUnread(file, `cannot read the ${what} (${codeOf(error)})`);
    return null;
  }
};

/** Bytes; enough for hundreds of clients. */
const largestFile = 1024 * 1024;

/** Errors go to `problems`, and invalid values are left out. */
export const parseSettings = (source: string, request: DocumentRequest): SettingsDocument => {
  const { absolute, file, problems } = request;
  const lines = new LineCounter();
  const document = parseDocument(source, { prettyErrors: false, lineCounter: lines });
  const values = valuesOf(document, (offset) => placeOf(file, lines, offset), problems);
  const place = (keys: readonly string[]): string => {
    const node = document.getIn(keys, true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    const at = start === undefined ? file : placeOf(file, lines, start);
    return keys.length === 0 ? at : `${at}: ${keys.join('.')}`;
  };
  return checkedDocument(values, {
    ...request,
    folder: path.dirname(absolute),
    place,
    textsAt: (keys) => textsOf(document.getIn(keys, true)),
  });
};

export interface CheckRequest extends Omit<DocumentRequest, 'absolute'> {
  /** Paths are relative to it. */
  readonly folder: string;
  readonly place: (keys: readonly string[]) => string;
  readonly textsAt: (keys: readonly string[]) => Readonly<Record<string, string>>;
}

/** Settings whose values have been read. Errors go to `problems`, and invalid values are left out. */
export const checkedDocument = (values: unknown, request: CheckRequest): SettingsDocument => {
  const { file, what, folder, place, textsAt } = request;
  const checked = withoutInvalid(values, place, request);
  const section = (at: readonly string[]): Section => ({
    values: at.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), checked),
    folder,
    place: (key) => place([...at, ...(typeof key === 'string' ? key.split('.') : key)]),
    nameOf: (key) => (what === 'client file' ? `${file}: ${key}` : [...at, key].join('.')),
    texts: (key) => textsAt([...at, key]),
  });
  return { values: checked, section };
};

/** The value at a dotted key, or undefined. */
export const valueAt = ({ values }: Section, key: string): unknown => {
  let value = values;
  for (const part of key.split('.')) value = isObject(value) ? value[part] : undefined;
  return value;
};

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The parser's messages quote the file, which may contain a token, so messages are our own. */
const valuesOf = (document: Document, at: (offset: number) => string, problems: Problems): unknown => {
  const error = document.errors[0] ?? document.warnings[0];
  if (error) {
    const what = error.code.toLowerCase().replaceAll('_', ' ');
    const hint = hintless.has(error.code) ? '' : '; text with special characters needs quotes';
    problems.addUnread(at(error.pos[0]), `not valid YAML: ${what}${hint}`);
    return {};
  }
  if (document.directives?.yaml.version === '1.1') {
    problems.addUnread(at(0), 'the file must be YAML 1.2: remove the %YAML 1.1 line');
    return {};
  }
  try {
    return document.toJS() ?? {};
  } catch {
    problems.addUnread(at(0), 'not valid YAML: an alias (*name) without its anchor, or too many aliases');
    return {};
  }
};

/** Errors that quotes would not fix. */
const hintless: ReadonlySet<string> = new Set(['DUPLICATE_KEY', 'MULTIPLE_DOCS']);

const placeOf = (file: string, lines: LineCounter, offset: number): string => {
  const { line, col } = lines.linePos(offset);
  return `${file}:${line}:${col}`;
};

/** The file's values without the invalid ones. */
const withoutInvalid = (
  values: unknown,
  place: (keys: readonly string[]) => string,
  { schema, what, problems }: Omit<DocumentRequest, 'absolute'>,
): Record<string, unknown> => {
  const { error } = schema(values).safeParse(values);
  const rest: unknown = error ? structuredClone(values) : values;
  for (const issue of error?.issues ?? []) {
    const keys = issue.path.map(String);
    for (const invalid of errorsOf(issue, keys, what)) {
      if (invalid.keys.length === 0) problems.addUnread(place([]), invalid.message);
      else problems.add(place(invalid.keys), invalid.message, invalid.keys.at(-1));
      remove(rest, invalid.keys);
    }
  }
  return isObject(rest) ? rest : {};
};

type What = DocumentRequest['what'];

const errorsOf = (
  issue: z.core.$ZodIssue,
  keys: string[],
  what: What,
): { keys: string[]; message: string }[] => {
  if (issue.code !== 'unrecognized_keys') return [{ keys, message: issue.message }];
  // A client's file is what stands under its name in the settings file.
  const full = what === 'client file' ? ['clients', '', ...keys] : keys;
  return issue.keys.map((key) => ({
    keys: [...keys, key],
    message: isForAll(key, full)
      ? `it applies to all clients: set it ${what === 'client file' ? 'in the settings file' : 'at the top of the file'}`
      : (elsewhere(key) ?? `unknown key${suggestion(key, configKeys(full))}`),
  }));
};

/** Where a setting belongs that is not at this place of the file. */
const elsewhere = (key: string): string | null => {
  if (key in runTable) return 'a matter of one run: use --log-level or LOG_LEVEL';
  return key in limitTable ? `unknown key; did you mean \`limits.${key}\`?` : null;
};

/** Whether a key applies to all clients and cannot be set for one. */
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
