import type { Section } from './document.ts';
import { Wrong } from './kind.ts';
import type { Problems } from './problems.ts';
import { flagText, type FlagName, type Setting, type Table, type Values } from './table.ts';

/** The sources of settings, in order of precedence: flags, environment, sections of the file. */
export interface Sources {
  readonly flags: Readonly<Partial<Record<FlagName, string | boolean | readonly string[] | undefined>>>;
  /** Without empty variables. */
  readonly env: NodeJS.ProcessEnv;
  /** The client's own section, then the top level. */
  readonly sections: readonly Section[];
  readonly cwd: string;
  readonly problems: Problems;
  /** Whether a program gives the settings as an object: then there are neither flags nor variables. */
  readonly isObject: boolean;
  /** Whether nobody named the settings file where files may be anybody's: it does not decide where tokens go. */
  readonly isForeign: boolean;
}

/** A value for each setting of the table. An invalid value is a problem and is replaced by the default. */
export function resolve<T extends Table>(table: T, sources: Sources): Values<T>;
export function resolve(table: Table, sources: Sources): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(table).map(([key, setting]) => [key, valueOf(key, setting, sources)]),
  );
}

const valueOf = (key: string, setting: Setting<unknown>, sources: Sources): unknown => {
  const { kind, fallback } = setting;
  const found = find(key, setting, sources);
  if (found === null) return fallback;
  const { place, texts, folder } = found;
  if (place === setting.env && standsInQuotes(sources.env[place])) {
    sources.problems.add(place, quotesAdvice, key);
    return fallback;
  }
  const base = { cwd: sources.cwd, folder };
  const values = texts.map((text) => kind.read(text, base));
  const wrong = values.length === 0 ? new Wrong('at least one') : values.find((one) => one instanceof Wrong);
  if (wrong === undefined) return kind.divider === undefined ? values[0] : values.flat();
  sources.problems.add(place, `expected ${wrong.expected}`, key);
  return fallback;
};

export const standsInQuotes = (text = ''): boolean => /^(["']).*\1$/s.test(text);

/** Docker and others take the lines of an `--env-file` as they are. */
export const quotesAdvice =
  'the quotes around the value are a part of it, as they are with --env-file of docker: remove them';

interface Found {
  readonly place: string;
  /** As written; several if it is a list. */
  readonly texts: readonly string[];
  /** What relative paths start from. */
  readonly folder: string;
}

/** Where a setting was set: a flag, a variable, a position in the file; null if it has its default. */
export const find = (key: string, { flag, env, kind }: Setting<unknown>, sources: Sources): Found | null => {
  const { flags, sections, cwd } = sources;
  const given = flag && flags[flag];
  if (flag && given !== undefined) return { place: flagText(flag), texts: textsOf(given), folder: cwd };
  const variable = env === null ? undefined : sources.env[env];
  if (env !== null && variable !== undefined) {
    const parts = kind.divider === undefined ? [variable] : variable.split(kind.divider);
    const texts = parts.map((part) => part.trim()).filter((part) => part !== '');
    return { place: env, texts, folder: cwd };
  }
  for (const section of sections) {
    const value = section.value(key);
    if (value !== undefined)
      return { place: section.place(key), texts: textsOf(value), folder: section.folder };
  }
  return null;
};

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [String(value)];
