import { valueAt, type Section } from './document.ts';
import type { Parsed } from './kind.ts';
import type { Problems } from './problems.ts';
import type { FlagName, Setting, Table, Values } from './table.ts';

/** The sources of settings, in order of precedence: flags, environment, sections of the file. */
export interface Sources {
  readonly flags: Readonly<Partial<Record<FlagName, string | boolean | readonly string[] | undefined>>>;
  readonly env: NodeJS.ProcessEnv;
  /** The client's own section, then the top level. */
  readonly sections: readonly Section[];
  readonly cwd: string;
  readonly problems: Problems;
  /** Whether a program gives the settings as an object: then there are neither flags nor variables. */
  readonly isObject?: boolean;
}

/** A value for each setting of the table. An invalid value is a problem and is replaced by the default. */
export function resolve<T extends Table>(table: T, sources: Sources, prefix?: string): Values<T>;
export function resolve(table: Table, sources: Sources, prefix = ''): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(table).map(([key, setting]) => [key, valueOf(setting, prefix + key, sources)]),
  );
}

interface FoundSetting {
  readonly place: string;
  readonly texts: readonly string[];
  readonly folder: string;
}

const valueOf = (setting: Setting<unknown>, key: string, sources: Sources): unknown => {
  const found = find(setting, key, sources);
  if (!found) return setting.fallback;

  const parsed: Parsed<unknown> = setting.kind.parse(found.texts, { cwd: sources.cwd, folder: found.folder });
  if ('value' in parsed) return parsed.value;
  sources.problems.add(found.place, `expected ${parsed.expected}`, key);
  return setting.fallback;
};

/** Where the value was set: a flag, a variable, a position in the file; null if it is the default. */
export const placeOf = (setting: Setting<unknown>, key: string, sources: Sources): string | null =>
  find(setting, key, sources)?.place ?? null;

/** Where each setting of a table was set, and to what; without those that have their default. */
export const givenIn = (table: Table, sources: Sources): Readonly<Record<string, GivenSetting>> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([key, setting]) => {
      const found = find(setting, key, sources);
      return found ? [[key, { place: found.place, texts: found.texts }]] : [];
    }),
  );

export interface GivenSetting {
  readonly place: string;
  /** As written; several if it is a list. */
  readonly texts: readonly string[];
}

const find = (setting: Setting<unknown>, key: string, sources: Sources): FoundSetting | null =>
  inFlags(setting, sources) ?? inEnvironment(setting, sources) ?? inFile(key, sources);

const inFlags = ({ flag }: Setting<unknown>, { flags, cwd }: Sources): FoundSetting | null => {
  const given = flag === undefined ? undefined : flags[flag];
  if (flag === undefined || given === undefined) return null;
  const place = `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return { place, texts: textsOf(given), folder: cwd };
};

/** An empty variable counts as unset: compose files pass missing values that way. */
const inEnvironment = ({ env: name, kind }: Setting<unknown>, { env, cwd }: Sources): FoundSetting | null => {
  const text = name === undefined ? undefined : env[name];
  if (name === undefined || text === undefined || text === '') return null;
  const texts =
    kind.divider === undefined ? [text] : text.split(kind.divider).filter((part) => part.trim() !== '');
  return { place: name, texts: texts.map((part) => part.trim()), folder: cwd };
};

const inFile = (key: string, { sections }: Sources): FoundSetting | null => {
  for (const section of sections) {
    const value = valueAt(section, key);
    if (value === undefined) continue;
    return { place: section.place(key), texts: textsOf(value), folder: section.folder };
  }
  return null;
};

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [String(value)];
