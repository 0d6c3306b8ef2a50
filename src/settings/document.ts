import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { codeOf } from '../errors.ts';
import { suggestion } from '../lib/nearest.ts';
import { readRegularFileSync } from '../regular-file.ts';
import type { Problems } from './problems.ts';
import { configSchema, keysAt } from './schema.ts';
import { limitTable, runTable } from './table.ts';

/** A mapping of a file with settings. Contains valid values only. */
export interface Section {
  readonly value: (key: string) => unknown;
  /** The mapping at a path below this one. */
  readonly at: (...keys: readonly string[]) => Section;
  /** Paths in the file are relative to this folder. */
  readonly folder: string;
  /** The place of a key, or of the mapping itself, for messages: `dns-template-sync.yaml:3:5: clients.acme.mode`. */
  readonly place: (key?: string) => string;
  /** The key with what leads to it, without the position: `clients.acme.mode`. */
  readonly nameOf: (key: string) => string;
  /** Its values as texts: `010` and `1.10` stay as written. */
  readonly texts: () => Readonly<Record<string, string>>;
}

type Keys = readonly string[];

/** What a section is made of. */
interface Values {
  readonly values: unknown;
  readonly folder: string;
  readonly place: (keys: Keys) => string;
  readonly nameOf: (keys: Keys) => string;
  readonly textsAt: (keys: Keys) => Readonly<Record<string, string>>;
}

const sectionOf = (all: Values, at: Keys = []): Section => ({
  value: (key) => valueAt(all.values, [...at, key]),
  at: (...keys) => sectionOf(all, [...at, ...keys]),
  folder: all.folder,
  place: (key) => all.place(key === undefined ? at : [...at, key]),
  nameOf: (key) => all.nameOf([...at, key]),
  texts: () => all.textsAt(at),
});

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const valueAt = (values: unknown, keys: Keys): unknown =>
  keys.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), values);

const usualNames = ['dns-template-sync.yaml', 'dns-template-sync.yml'];

/** The settings file that is read though nobody has named it; null if there is none. */
export const findConfigFile = (cwd: string, problems: Problems): string | null => {
  const names = namesIn(cwd).filter((name) => /^\.?dns[-_.]?templates?[-_.]?sync\.ya?ml$/i.test(name));
  const [file = null, ...others] = usualNames.filter((name) => names.includes(name));
  for (const name of names)
    if (!usualNames.includes(name))
      problems.addUnread(
        name,
        `a settings file has the name ${usualNames[0]}: rename it, or give it with --config`,
      );
  for (const other of others)
    problems.addUnread(other, `there is ${file} too: keep one of them, or give one with --config`);
  return file;
};

const namesIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory).sort();
  } catch {
    // What may not be listed may be read.
    return usualNames.filter((name) => existsSync(path.resolve(directory, name)));
  }
};

export interface FileRequest {
  readonly absolute: string;
  /** The path as people know it. */
  readonly file: string;
  readonly what: 'config file' | 'client file';
  readonly problems: Problems;
}

/** The text of a file; null if it cannot be read, which goes to `problems`. */
export const readText = ({ absolute, file, what, problems }: FileRequest): string | null => {
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
export const parseSettings = (
  text: string,
  { absolute, file, what, problems }: FileRequest,
  schema: (values: unknown) => z.ZodType = fileSchema,
): Section => {
  const lines = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines });
  const placeAt = (offset: number | undefined): string => {
    if (offset === undefined) return file;
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const values = valuesOf(document, (offset, message) => problems.addUnread(placeAt(offset), message));
  const place = (keys: Keys): string => {
    // A key that is missing has the place of what it is missing in.
    const nodes = keys.map((_, after) => document.getIn(keys.slice(0, keys.length - after), true));
    const node = keys.length === 0 ? document.contents : nodes.find(isNode);
    const at = placeAt(node?.range?.[0]);
    return keys.length === 0 ? at : `${at}: ${keys.join('.')}`;
  };
  const isOfClient = what === 'client file';
  return sectionOf({
    values: withoutInvalid(values, schema(values), isOfClient, place, problems),
    folder: path.dirname(absolute),
    place,
    nameOf: (keys) => (isOfClient ? `${file}: ${keys.join('.')}` : keys.join('.')),
    textsAt: (keys) => textsOf(document.getIn(keys, true)),
  });
};

/** Settings that a program gives as an object, with the keys of the settings file. */
export const objectSettings = (given: unknown, folder: string, problems: Problems): Section => {
  const place = (keys: Keys): string => keys.join('.') || 'settings';
  return sectionOf({
    values: withoutInvalid(given, fileSchema(given, true), false, place, problems),
    folder,
    place,
    nameOf: place,
    textsAt: (keys) =>
      Object.fromEntries(
        Object.entries(valueAt(given, keys) ?? {}).map(([key, value]) => [key, String(value)]),
      ),
  });
};

const fileSchema = (values: unknown, mayBeText = false): z.ZodType => {
  const clients = isObject(values) ? values['clients'] : undefined;
  const isPaths = typeof clients === 'string' || Array.isArray(clients);
  return configSchema({ clients: isPaths ? 'files' : 'map', mayBeText });
};

/** The parser's messages quote the file, which may contain a token, so messages are our own. */
const valuesOf = (document: Document, refuse: (offset: number, message: string) => void): unknown => {
  const error = document.errors[0] ?? document.warnings[0];
  if (error) {
    const what = error.code.toLowerCase().replaceAll('_', ' ');
    refuse(error.pos[0], `not valid YAML: ${what}; ${whatToDo[error.code] ?? closeAndQuote}`);
  } else if (document.directives?.yaml.version === '1.1') {
    refuse(0, 'the file must be YAML 1.2: remove the %YAML 1.1 line');
  } else {
    try {
      return document.toJS() ?? {};
    } catch {
      refuse(0, 'not valid YAML: an alias (*name) without its anchor, or too many aliases');
    }
  }
  return {};
};

const whatToDo: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'keep one of the two',
  MULTIPLE_DOCS: 'a file has one document: remove what follows ---',
};
const closeAndQuote = 'text with special characters needs quotes, and an opening bracket its end';

const withoutInvalid = (
  values: unknown,
  schema: z.ZodType,
  isOfClient: boolean,
  place: (keys: Keys) => string,
  problems: Problems,
): unknown => {
  const { error } = schema.safeParse(values);
  if (error === undefined) return values;
  const rest = structuredClone(values);
  const refuse = (keys: Keys, message: string): void => {
    if (keys.length === 0) problems.addUnread(place(keys), message);
    else problems.add(place(keys), message, keys.at(-1));
    const holder = valueAt(rest, keys.slice(0, -1));
    if (isObject(holder)) delete holder[keys.at(-1) ?? ''];
  };
  for (const issue of error.issues) {
    const keys = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') refuse(keys, issue.message);
    else for (const key of issue.keys) refuse([...keys, key], wrongKey(key, keys, isOfClient));
  }
  return isObject(rest) ? rest : {};
};

/** What is wrong with a key that is not known where it stands. */
const wrongKey = (key: string, keys: Keys, isOfClient: boolean): string => {
  const isInClient = isOfClient ? keys.length === 0 : keys[0] === 'clients' && keys.length === 2;
  if (isInClient && key !== 'clients' && keysAt([]).includes(key))
    return `it applies to all clients: set it ${isOfClient ? 'in the settings file' : 'at the top of the file'}`;
  if (key in runTable) return 'a matter of one run: use --log-level or LOG_LEVEL';
  if (key in limitTable) return `unknown key; did you mean \`limits.${key}\`?`;
  return `unknown key${suggestion(key, keysAt(isInClient ? ['clients', '', ...keys] : keys))}`;
};

const textsOf = (map: unknown): Record<string, string> =>
  Object.fromEntries(
    (isMap(map) ? map.items : []).flatMap(({ key, value }) =>
      isScalar(key) && isScalar(value) ? [[String(key.value), value.source ?? String(value.value)]] : [],
    ),
  );
