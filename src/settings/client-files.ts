import type { Problem } from '../model/template.ts';
import { matchNames } from '../plan/match-names.ts';
import type { ClientSettings } from './client.ts';
import { clientFileReader, type ClientFile } from './client-file.ts';
import { sameElements } from '../lib/same-elements.ts';
import { clientDirectories, findClientFiles, type ClientPath } from './client-paths.ts';
import type { Section } from './document.ts';
import { Problems } from './problems.ts';
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
  readonly previous?: ReadonlyMap<string, ClientSettings>;
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
  readonly name: string;
  readonly file: string;
  readonly previous: InUse | null;
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
  #inUse = new Map<string, InUse>();
  /** The files as they were read last, and as they were seen last. */
  #taken: readonly unknown[] = [];
  #seen: readonly unknown[] = [];

  constructor(options: ClientFilesOptions) {
    this.#options = options;
    this.#readFile = clientFileReader(options.cwd);
    for (const [path, client] of options.previous ?? [])
      this.#inUse.set(path, { path, file: path, client, from: null });
  }

  /** The directories with the files. */
  get directories(): readonly string[] {
    return [...new Set(this.#options.paths.map(({ directory }) => directory))];
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

  /** The clients in use, by their files. */
  get inUse(): ReadonlyMap<string, ClientSettings> {
    return new Map([...this.#inUse].map(([path, { client }]) => [path, client]));
  }

  /** Reads what has changed. An unchanged file takes no longer than to ask for its time. */
  read(): ReadClients {
    const { chosen, paths } = this.#options;
    const { files, problems: missing } = findClientFiles(paths);
    const all = files.map((path) => ({ path, read: this.#readFile(path) }));
    this.#taken = [...all.map(({ read }) => read), ...missing];
    const { found } = matchNames(
      chosen,
      all.map(({ read }) => read.name),
    );
    const names = new Set(found);
    const wanted = all.filter(({ read }) => chosen.length === 0 || names.has(read.name));
    const isOneOfSeveral = chosen.length === 0 || wanted.length > 1;
    const candidates: Candidate[] = [];
    const next = new Map(missing.length === 0 ? [] : this.#inUse);
    for (const { path, read } of wanted) {
      const previous = this.#inUse.get(path) ?? null;
      if (previous?.from === read) next.set(path, previous);
      else candidates.push(this.#candidate(path, read, previous, isOneOfSeveral));
    }
    for (const { path } of candidates) next.delete(path);
    for (const one of this.#accept(candidates, [...next.values()])) next.set(one.path, one);
    this.#inUse = next;
    return {
      clients: files.flatMap((path) => next.get(path)?.client ?? []).concat(lost(files, next)),
      names: all.map(({ read }) => read.name),
      problems: [
        ...missing.map((line) => settingsProblem('', null, line)),
        ...candidates.flatMap(({ name, file, problems }) =>
          problems.lines.map((line) => settingsProblem(name, file, line)),
        ),
      ],
    };
  }

  #candidate(path: string, read: ClientFile, previous: InUse | null, isOneOfSeveral: boolean): Candidate {
    const problems = new Problems(read.problems);
    const client = this.#options.resolve(read.name, read.section, problems, isOneOfSeveral);
    const next = { path, file: read.file, client, from: read };
    const { name, file } = read;
    return { path, name, file, previous, problems, next: problems.lines.length === 0 ? next : null };
  }

  /** Two files never stand for one client: neither of them does then, unless it did before. */
  #accept(candidates: readonly Candidate[], unchanged: readonly InUse[]): InUse[] {
    const refused = new Set(candidates.filter(({ next }) => next === null));
    for (;;) {
      const kept = [...refused].flatMap(({ previous }) => previous ?? []);
      const open = candidates.filter((one) => !refused.has(one));
      const news = open.flatMap(({ next }) => next ?? []);
      const twins = findTwins([...unchanged, ...kept], news, this.#options.hasTokens);
      if (twins.size === 0) return [...kept, ...news];
      for (const one of open) {
        const problem = one.next && twins.get(one.next);
        if (problem == null) continue;
        one.problems.add(one.file, problem, 'name');
        refused.add(one);
      }
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

/** Clients in use although their files cannot be found. */
const lost = (files: readonly string[], inUse: ReadonlyMap<string, InUse>): ClientSettings[] => {
  const found = new Set(files);
  return [...inUse.values()].flatMap(({ path, client }) => (found.has(path) ? [] : client));
};
