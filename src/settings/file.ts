import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { codeOf } from '../errors.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { isMapping, type Base } from './kinds.ts';
import type { Problems } from './problems.ts';

/** What settings are read from. */
export interface SettingsRequest {
  /** The flags of the command line, as the argument parser names them; others are ignored. */
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** Whether the command needs base URL and tokens. `--sandbox` supplies both. */
  readonly needsService: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** What relative paths start from, and are shown relative to. */
  readonly cwd: string;
  /** Settings of a program, in place of variables and settings file; `env` then only has the secrets that they name. */
  readonly object?: unknown;
  /** What relative paths in that object start from; default: `cwd`. */
  readonly folder?: string | undefined;
}

/** A mapping as it was written, in a file or by a program. */
export interface Written {
  readonly value: unknown;
  readonly base: Base;
  /** The place of what is at these keys, or of the last key itself, or else of what it is missing in. */
  readonly placeOf: (keys: readonly string[], isOfKey?: boolean) => string;
  /** Whether it could not be read, so that any setting may be in it. */
  readonly isBroken: boolean;
}

export const configVariable = 'DNS_SYNC_CONFIG';

/**
 * Of the whole program: the object that it was given, or the settings file. Reading one can be switched off, since a file
 * can send any variable to any address.
 */
export const readWritten = (request: SettingsRequest, env: NodeJS.ProcessEnv, problems: Problems) => {
  const { object, cwd, folder = cwd } = request;
  const { config } = request.flags;
  if (object !== undefined) {
    const base = { cwd, folder, mayHoldSecrets: true };
    const placeOf = (keys: readonly string[]): string => keys.join('.') || 'settings';
    return { written: { value: object, base, placeOf, isBroken: false }, file: null, isNamed: true };
  }
  const { [configVariable]: isOff } = env;
  if (config === undefined && isOff !== undefined && isOff !== 'off')
    problems.add(`${configVariable}: expected off; a settings file is given with --config`);
  const named = typeof config === 'string' ? config : null;
  const isUnread = config === false || isOff !== undefined;
  const file = named ?? (isUnread ? null : findSettingsFile(cwd, problems));
  const place = { absolute: path.resolve(cwd, file ?? ''), file: file ?? '', cwd };
  const written = parseWritten(file === null ? '' : textOf(place, problems), place, problems);
  return { written, file, isNamed: named !== null };
};

const usualNames = ['dns-template-sync.yaml', 'dns-template-sync.yml'];

/** The settings file that is read though nobody has named it; null if there is none. Files with names like it are no others. */
const findSettingsFile = (cwd: string, problems: Problems): string | null => {
  let all: readonly string[] = [];
  try {
    all = readdirSync(cwd).sort();
  } catch {
    // What may not be listed may be read.
    all = usualNames.filter((name) => existsSync(path.resolve(cwd, name)));
  }
  const names = all.filter((name) => /^\.?dns[-_.]?templates?[-_.]?sync\.ya?ml$/i.test(name));
  const file = usualNames.find((name) => names.includes(name)) ?? null;
  for (const name of names)
    if (name !== file)
      problems.add(
        `${name}: the settings file is ${file ?? usualNames[0]}: rename or remove this one, or give one with --config`,
      );
  return file;
};

/** A file, and its path as people know it. */
interface FilePlace {
  readonly absolute: string;
  readonly file: string;
  readonly cwd: string;
}

/** The text of a file; null if it cannot be read, which is a problem. */
export const textOf = ({ absolute, file }: FilePlace, problems: Problems): string | null => {
  try {
    const bytes = readRegularFileSync(absolute, largestFile);
    if (isUtf8(bytes)) return bytes.toString('utf8');
    problems.add(`${file}: this is not UTF-8: save the file as UTF-8`);
  } catch (error) {
    problems.add(`${file}: cannot read this file (${codeOf(error)})`);
  }
  return null;
};

/** Bytes; enough for hundreds of clients. */
const largestFile = 1024 * 1024;

/**
 * The mapping in a file, of which null could not be read. All scalars are texts, but for what is empty, `~` or `null`: the
 * setting decides what they mean.
 */
export const parseWritten = (
  text: string | null,
  { absolute, file, cwd }: FilePlace,
  problems: Problems,
): Written => {
  const lines = new LineCounter();
  const document = parseDocument(text ?? '', {
    schema: 'failsafe',
    customTags: ['null'],
    prettyErrors: false,
    lineCounter: lines,
  });
  const placeAt = (offset = 0): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const placeOf: Written['placeOf'] = (keys, isOfKey = false) => {
    const holder = isOfKey ? document.getIn(keys.slice(0, -1), true) : null;
    const pairs = isMap(holder) ? holder.items : [];
    const own = pairs.find(({ key }) => isScalar(key) && key.value === keys.at(-1));
    const nodes = keys.map((_, after) => document.getIn(keys.slice(0, keys.length - after), true));
    const node = [own?.key, ...nodes, document.contents].find(isNode);
    return `${placeAt(node?.range?.[0])}${keys.length === 0 ? '' : `: ${keys.join('.')}`}`;
  };
  const valueOf = (): unknown => {
    // The parser's messages quote the file, which may contain a token.
    const [error] = [...document.errors, ...document.warnings];
    const advice = whatToDo[error?.code ?? ''] ?? closeAndQuote;
    const what = `not valid YAML: ${error?.code.toLowerCase().replaceAll('_', ' ')}; ${advice}`;
    if (error) return void problems.add(`${placeAt(error.pos[0])}: ${what}`);
    try {
      const value: unknown = document.toJS() ?? {};
      if (!isMapping(value)) problems.add(`${placeOf([])}: ${expectedSettings}`);
      return value;
    } catch {
      return void problems.add(`${placeAt()}: ${badAlias}`);
    }
  };
  const value = valueOf();
  const isBroken = text === null || !isMapping(value);
  const base = { cwd, folder: path.dirname(absolute) };
  return { value: isBroken ? {} : value, base, placeOf, isBroken };
};

const whatToDo: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'keep one of the two',
  TAG_RESOLVE_FAILED: 'leave out the tag, which begins with !',
  MULTIPLE_DOCS: 'a file has one document: remove what follows ---',
};
const closeAndQuote = 'text with special characters needs quotes, and an opening bracket its end';
const expectedSettings = 'expected a mapping of settings, with lines such as mode: report';
const badAlias = 'not valid YAML: an alias (*name) without its anchor, or too many aliases';
