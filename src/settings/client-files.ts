import { statSync } from 'node:fs';
import path from 'node:path';
import { sameElements } from '../lib/same-elements.ts';
import type { Problem } from '../model/template.ts';
import { matchNames } from '../plan/match-names.ts';
import { isAtRest, timesMark } from '../regular-file.ts';
import { clientDirectories, findClientFiles, type ClientPath } from './client-paths.ts';
import type { ClientSettings } from './client.ts';
import { parseSettings, readText, type Section } from './document.ts';
import { Problems } from './problems.ts';
import { badClientName, clientFileSchema, clientName } from './schema.ts';
import { findTwins, type NamedClient } from './twins.ts';

export interface ClientFilesOptions {
  readonly paths: readonly ClientPath[];
  readonly cwd: string;
  /** What a file's client is set to; whatever is wrong goes to the problems. */
  readonly resolve: (
    name: string,
    own: Section,
    problems: Problems,
    isOneOfSeveral: boolean,
  ) => ClientSettings;
  /** Whether tokens can be read, so that two clients with the same ones are found. */
  readonly hasTokens: boolean;
  /** Names or patterns of the only clients that are wanted, whatever is wrong with others; empty: all. */
  readonly chosen: readonly string[];
  /** The clients of an earlier reading, by their files. */
  readonly previous: ReadonlyMap<string, ClientSettings>;
}

/** The clients that were found, and what is wrong with the files. */
export interface ReadClients {
  /** One whose file is unchanged is the same object as before. */
  readonly clients: readonly ClientSettings[];
  /** Of all files, also those that cannot be used. */
  readonly names: readonly string[];
  readonly problems: readonly ClientProblem[];
}

/** What is wrong with the file of a client; may hold secrets. Of no client if a path leads to no file. */
export type ClientProblem = Problem & { readonly client: string };

/** A client in use, and what it was read from; null if that was an earlier reading. */
interface InUse extends NamedClient {
  readonly path: string;
  readonly from: ClientFile | null;
}

/** A file that says something new. */
interface Candidate {
  readonly path: string;
  readonly read: ClientFile;
  readonly previous: InUse | undefined;
  readonly problems: Problems;
  /** Null if something is wrong with the file. */
  readonly next: InUse | null;
}

/**
 * Clients that have a file each. A client whose file is invalid, or that is the same as another one, keeps the settings
 * that it had, if it had any. Where a path leads to no file, no client is missed: a volume may not be there.
 */
export class ClientFiles {
  readonly #options: ClientFilesOptions;
  readonly #readFile: (absolute: string) => ClientFile;
  #inUse: ReadonlyMap<string, InUse>;
  /** The files as they were read last, and as they were seen last. */
  #taken: readonly unknown[] = [];
  #seen: readonly unknown[] = [];

  constructor(options: ClientFilesOptions) {
    this.#options = options;
    this.#readFile = clientFileReader(options.cwd);
    const { previous } = options;
    this.#inUse = new Map(
      [...previous].map(([file, client]) => [file, { path: file, file, client, from: null }]),
    );
  }

  /** The directories with the files. */
  get directories(): readonly string[] {
    return [...new Set(this.#options.paths.map(({ directory }) => directory))];
  }

  /** The clients in use, by their files. */
  get inUse(): ReadonlyMap<string, ClientSettings> {
    return new Map([...this.#inUse].map(([file, { client }]) => [file, client]));
  }

  /** Whether the files are other ones than were read last, for a watcher; `change` is null if not. */
  look(): { readonly change: unknown; readonly directories: ReadonlyMap<string, string> } {
    const { files, problems } = findClientFiles(this.#options.paths);
    const now = [...files.map((file) => this.#readFile(file)), ...problems];
    if (!sameElements(now, this.#seen)) this.#seen = now;
    return {
      change: sameElements(now, this.#taken) ? null : this.#seen,
      directories: clientDirectories(this.#options.paths),
    };
  }

  /** Reads what has changed. An unchanged file takes no longer than to ask for its time. */
  read(): ReadClients {
    const { chosen, paths } = this.#options;
    const { files, problems: missing } = findClientFiles(paths);
    const all = files.map((file) => ({ path: file, read: this.#readFile(file) }));
    this.#taken = [...all.map(({ read }) => read), ...missing];
    const names = all.map(({ read }) => read.name);
    const found = new Set(chosen.length === 0 ? names : matchNames(chosen, names).found);
    const wanted = all.filter(({ read }) => found.has(read.name));
    const isOneOfSeveral = chosen.length === 0 || wanted.length > 1;
    const isUnchanged = (one: (typeof all)[number]): boolean => this.#inUse.get(one.path)?.from === one.read;
    const candidates = wanted
      .filter((one) => !isUnchanged(one))
      .map((one) => this.#candidate(one.path, one.read, isOneOfSeveral));
    const next = new Map(missing.length === 0 ? [] : this.#inUse);
    for (const { path: file } of wanted.filter(isUnchanged)) next.set(file, this.#inUse.get(file)!);
    for (const { path: file } of candidates) next.delete(file);
    for (const one of this.#accept(candidates, [...next.values()])) next.set(one.path, one);
    this.#inUse = next;
    const known = new Set(files);
    const lost = [...next.values()].filter((one) => !known.has(one.path));
    return {
      clients: [...files.flatMap((file) => next.get(file) ?? []), ...lost].map(({ client }) => client),
      names,
      problems: [
        ...missing.map((line) => settingsProblem('', null, line)),
        ...candidates.flatMap(({ read: { name, file }, problems }) =>
          problems.lines.map((line) => settingsProblem(name, file, line)),
        ),
      ],
    };
  }

  #candidate(absolute: string, read: ClientFile, isOneOfSeveral: boolean): Candidate {
    const problems = new Problems(read.problems);
    const client = this.#options.resolve(read.name, read.section, problems, isOneOfSeveral);
    const next = { path: absolute, file: read.file, client, from: read };
    const previous = this.#inUse.get(absolute);
    return { path: absolute, read, previous, problems, next: problems.lines.length === 0 ? next : null };
  }

  /** Two files never stand for one client: neither of them does then, unless it did before. */
  #accept(candidates: readonly Candidate[], unchanged: readonly InUse[]): InUse[] {
    const refused = new Set(candidates.filter(({ next }) => next === null));
    for (;;) {
      const kept = [...refused].flatMap(({ previous }) => previous ?? []);
      const open = candidates.filter((one) => !refused.has(one));
      const news = open.flatMap(({ next }) => next ?? []);
      const twins = findTwins([...unchanged, ...kept, ...news], this.#options.hasTokens);
      const before = refused.size;
      for (const one of open) {
        const twin = one.next && twins.get(one.next);
        if (!twin) continue;
        one.problems.add(one.read.file, `${twin.same} as ${twin.other.file}`, 'name');
        refused.add(one);
      }
      if (refused.size === before) return [...kept, ...news];
    }
  }
}

/** A line such as `clients/acme.yaml:3:7: mode: …`, with its place apart where it names one. */
export const settingsProblem = (client: string, file: string | null, text: string): ClientProblem => {
  const problem = { severity: 'error', check: 'settings', client } as const;
  if (file === null || !text.startsWith(`${file}:`))
    return { ...problem, message: text, file: null, line: null, column: null };
  const own = text.slice(file.length + 1).trimStart();
  const [, line, column, message = own] = /^(\d+):(\d+): (.*)$/s.exec(own) ?? [];
  return {
    ...problem,
    message,
    file,
    line: line ? Number(line) : null,
    column: column ? Number(column) : null,
  };
};

/** A file with one client, as it was read last. */
interface ClientFile {
  /** As people know it. */
  readonly file: string;
  readonly name: string;
  readonly section: Section;
  /** What is wrong with the file by itself. */
  readonly problems: Problems;
}

interface KnownFile {
  /** Null if it cannot be read. */
  readonly text: string | null;
  /** Null for a file that changed a moment ago: it may change again without another time. */
  readonly stamp: string | null;
  readonly read: ClientFile;
}

/** Reads files with one client each. One that is unchanged is the same object as before. */
const clientFileReader = (cwd: string): ((absolute: string) => ClientFile) => {
  const known = new Map<string, KnownFile>();
  return (absolute) => {
    const stats = statSync(absolute, { bigint: true, throwIfNoEntry: false });
    const stamp = stats !== undefined && isAtRest(stats) ? timesMark(stats) : null;
    const before = known.get(absolute);
    if (before !== undefined && stamp !== null && before.stamp === stamp) return before.read;
    const now = readClientFile(absolute, cwd);
    const isSame = before !== undefined && before.text !== null && before.text === now.text;
    const read = isSame ? before.read : now.read;
    known.set(absolute, { ...now, stamp, read });
    return read;
  };
};

const readClientFile = (absolute: string, cwd: string): Pick<KnownFile, 'text' | 'read'> => {
  const relative = path.relative(cwd, absolute);
  const file = relative.startsWith('..') ? absolute : relative;
  const problems = new Problems();
  const request = { absolute, file, what: 'client file', problems } as const;
  const text = readText(request);
  const section = parseSettings(text ?? '', request, clientFileSchema);
  const given = section.value('name');
  const name = typeof given === 'string' ? given : path.basename(absolute).replace(/\.ya?ml$/i, '');
  if (!clientName.test(name) && !problems.concern('name'))
    problems.add(file, `${badClientName}: rename the file, or set name in it`, 'name');
  return { text, read: { file, name, section, problems } };
};
