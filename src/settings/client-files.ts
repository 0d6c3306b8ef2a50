import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';
import { sameElements } from '../lib/same-elements.ts';
import { matchesGlob, plainGlob } from '../model/glob.ts';
import { matchNames } from '../model/match-names.ts';
import { isAtRest, timesMark } from '../regular-file.ts';
import type { ClientSettings } from './client.ts';
import { parseWritten, textOf, type FilePlace } from './file.ts';
import { expectedName, namePattern, shownFrom } from './kinds.ts';
import { settingsProblem, type Problems } from './problems.ts';
import { resolve, writtenSource, type Source } from './sources.ts';
import { clientFileRows } from './table.ts';
import { findTwins } from './twins.ts';

interface ClientFilesOptions {
  /** Each a file, a directory, or a pattern with `*` in its last part. */
  readonly paths: readonly { readonly absolute: string; readonly given: string }[];
  readonly cwd: string;
  /** The settings of a file's client; whatever is wrong goes to the problems. */
  readonly clientOf: (file: ClientFile, problems: Problems, isOneOfSeveral: boolean) => ClientSettings;
  /** Whether tokens can be read, so that two clients with the same ones are found. */
  readonly hasTokens: boolean;
  /** Names or patterns of the only clients that are wanted, whatever is wrong with others; empty: all. */
  readonly chosen: readonly string[];
  /** An earlier reading. */
  readonly previous: ClientFiles | null;
}

/** A file with one client, as it was read. */
interface ClientFile {
  readonly absolute: string;
  /** As people know it. */
  readonly file: string;
  readonly name: string;
  readonly own: Source;
  /** Whether it could not be read, so that any setting may be in it. */
  readonly isBroken: boolean;
  /** What is wrong with the file by itself. */
  readonly problems: Problems;
}

/**
 * Clients that have a file each. A client whose file is invalid, or that is the same as another one, keeps the settings
 * that it had, if it had any. Where a path leads to no file, no client is missed: a volume may not be there.
 */
export class ClientFiles {
  readonly #options: ClientFilesOptions;
  readonly #readFile: (absolute: string) => ClientFile;
  /** By their paths; `from` is null if that was an earlier reading. */
  #inUse: ReadonlyMap<string, { readonly client: ClientSettings; readonly from: ClientFile | null }>;
  /** The files as they were read last, and as they were seen last. */
  #taken: readonly unknown[] = [];
  #seen: readonly unknown[] = [];

  constructor(options: ClientFilesOptions) {
    this.#options = options;
    this.#readFile = clientFileReader(options.cwd);
    const before = options.previous === null ? [] : [...options.previous.#inUse];
    this.#inUse = new Map(before.map(([absolute, { client }]) => [absolute, { client, from: null }]));
  }

  /** The directories with the files. */
  get directories(): readonly string[] {
    return [...new Set(this.#options.paths.map(({ absolute }) => folderOf(absolute).directory))];
  }

  /**
   * Whether the files are other ones than were read last, for a watcher; `change` is null if not. A directory that was
   * replaced has another text.
   */
  look(): { readonly change: unknown; readonly directories: ReadonlyMap<string, string> } {
    const { files, missing } = this.#find();
    const now = [...files, ...missing];
    if (!sameElements(now, this.#seen)) this.#seen = now;
    const directories = this.directories.map((directory) => {
      const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
      return [directory, `${stats?.dev}:${stats?.ino}`] as const;
    });
    const change = sameElements(now, this.#taken) ? null : this.#seen;
    return { change, directories: new Map(directories) };
  }

  /**
   * Reads what has changed. A client whose file is unchanged is the same object as before. The names are also those of
   * files that cannot be used.
   */
  read() {
    const { chosen, clientOf, hasTokens, cwd } = this.#options;
    const { files, missing } = this.#find();
    this.#taken = [...files, ...missing];
    const names = files.map(({ name }) => name);
    const found = new Set(chosen.length === 0 ? names : matchNames(chosen, names).found);
    const wanted = files.filter(({ name }) => found.has(name));
    const paths = new Set(wanted.map(({ absolute }) => absolute));
    const next = new Map([...this.#inUse].filter(([one]) => missing.length > 0 || paths.has(one)));
    const isOneOfSeveral = chosen.length === 0 || wanted.length > 1;
    const changed = wanted.filter((from) => next.get(from.absolute)?.from !== from);
    const fresh = changed.map((from) => {
      const problems = new Set(from.problems);
      return { from, problems, client: clientOf(from, problems, isOneOfSeveral) };
    });
    const usable = fresh.filter(({ problems }) => problems.size === 0);
    // Two files never stand for one client: neither of them does then, unless it did before.
    const twins = findTwins(
      usable.map(({ from, client }) => [from.file, client] as const),
      hasTokens,
      [...next].map(([absolute, { client }]) => [shownFrom(cwd, absolute), client] as const),
    );
    for (const { from, problems, client } of usable) {
      const twin = twins.get(from.file);
      if (twin === undefined) next.set(from.absolute, { client, from });
      else problems.add(`${from.file}: ${twin}`);
    }
    this.#inUse = next;
    return {
      clients: [...next.values()].map(({ client }) => client),
      names,
      problems: [
        ...missing.map((line) => settingsProblem('', null, line)),
        ...fresh.flatMap(({ from, problems }) =>
          [...problems].map((line) => settingsProblem(from.name, from.file, line)),
        ),
      ],
      lines: [...missing, ...fresh.flatMap(({ problems }) => [...problems])],
    };
  }

  /** The files as they are now, in the order of the paths and of their names; and paths that lead to none. */
  #find(): { readonly files: readonly ClientFile[]; readonly missing: readonly string[] } {
    const files = new Set<string>();
    const missing: string[] = [];
    for (const { absolute, given } of this.#options.paths) {
      const { directory, fits } = folderOf(absolute);
      try {
        const names = readdirSync(directory).filter(fits).sort();
        if (names.length === 0) missing.push(`clients: there is no file ${given} (in ${directory})`);
        for (const name of names) files.add(path.join(directory, name));
      } catch (error) {
        missing.push(`clients: there is no file ${given}: cannot read ${directory} (${codeOf(error)})`);
      }
    }
    return { files: [...files].map(this.#readFile), missing };
  }
}

/** The directory of a path, and whether a file of it is meant. Endings may be in capitals. */
const folderOf = (absolute: string) => {
  const isYaml = (name: string): boolean => /\.ya?ml$/i.test(name);
  const inSmall = (name: string): string =>
    isYaml(name) ? name.replace(/\w+$/, (end) => end.toLowerCase()) : name;
  const last = path.basename(absolute);
  const isFolder = !isYaml(last) && !last.includes('*');
  const glob = plainGlob(isFolder ? '*' : inSmall(last));
  return {
    directory: isFolder ? absolute : path.dirname(absolute),
    fits: (name: string): boolean =>
      !/^(\.|lost\+found$)/.test(name) && (isYaml(name) || !isFolder) && matchesGlob(glob, inSmall(name)),
  };
};

/** Reads files with one client each. One that is unchanged is the same object as before. */
const clientFileReader = (cwd: string): ((absolute: string) => ClientFile) => {
  const known = new Map<string, { text: string | null; stamp: string | null; read: ClientFile }>();
  return (absolute) => {
    const stats = statSync(absolute, { bigint: true, throwIfNoEntry: false });
    // What changed a moment ago may change again without another time.
    const stamp = stats !== undefined && isAtRest(stats) ? timesMark(stats) : null;
    const before = known.get(absolute);
    if (before !== undefined && stamp !== null && before.stamp === stamp) return before.read;
    const problems: Problems = new Set();
    const place = { absolute, file: shownFrom(cwd, absolute), cwd };
    const text = textOf(place, problems);
    const isSame = text !== null && before?.text === text;
    const read = isSame ? before.read : parseClientFile(text, place, problems);
    known.set(absolute, { text, stamp, read });
    return read;
  };
};

const parseClientFile = (text: string | null, place: FilePlace, problems: Problems): ClientFile => {
  const { absolute, file } = place;
  const written = parseWritten(text, place, problems);
  const own = writtenSource(written, [], clientFileRows, problems);
  const given = resolve({ name: clientFileRows.name }, [own]).name;
  const name = given ?? path.basename(absolute).replace(/\.ya?ml$/i, '');
  if (!namePattern.test(name)) problems.add(`${file}: ${expectedName}: rename the file, or set name in it`);
  return { absolute, file, name, own, isBroken: written.isBroken, problems };
};
