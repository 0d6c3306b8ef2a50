import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';
import { sameElements } from '../lib/same-elements.ts';
import type { Problem } from '../model/template.ts';
import { matchNames } from '../model/match-names.ts';
import { isAtRest, timesMark } from '../regular-file.ts';
import type { ClientSettings } from './client.ts';
import { parseSettings, readText, type Section } from './document.ts';
import { Problems } from './problems.ts';
import { badClientName, clientFileSchema, clientName } from './schema.ts';
import { findTwins } from './twins.ts';

interface ClientFilesOptions {
  /** Absolute: a file, a directory, or a pattern with `*` in its last part; with what was given, for messages. */
  readonly paths: readonly { readonly absolute: string; readonly given: string }[];
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

/** What is wrong with the file of a client; may hold secrets. Of no client if a path leads to no file. */
export type ClientProblem = Problem & { readonly client: string };

/** A file with one client. */
interface ClientFile {
  readonly absolute: string;
  /** As people know it. */
  readonly file: string;
  readonly name: string;
  readonly section: Section;
  /** What is wrong with the file by itself. */
  readonly problems: Problems;
}

/** A client in use, and what it was read from; null if that was an earlier reading. */
interface InUse {
  readonly file: string;
  readonly client: ClientSettings;
  readonly from: ClientFile | null;
}

/**
 * Clients that have a file each. A client whose file is invalid, or that is the same as another one, keeps the settings
 * that it had, if it had any. Where a path leads to no file, no client is missed: a volume may not be there.
 */
export class ClientFiles {
  readonly #options: ClientFilesOptions;
  readonly #folders: readonly Folder[];
  readonly #readFile: (absolute: string) => ClientFile;
  #inUse: ReadonlyMap<string, InUse>;
  /** The files as they were read last, and as they were seen last. */
  #taken: readonly unknown[] = [];
  #seen: readonly unknown[] = [];

  constructor(options: ClientFilesOptions) {
    this.#options = options;
    this.#folders = options.paths.map(folderOf);
    this.#readFile = clientFileReader(options.cwd);
    this.#inUse = new Map(
      [...options.previous].map(([file, client]) => [file, { file, client, from: null }]),
    );
  }

  /** The directories with the files. */
  get directories(): readonly string[] {
    return [...new Set(this.#folders.map(({ directory }) => directory))];
  }

  /** The clients in use, by their files. */
  get inUse(): ReadonlyMap<string, ClientSettings> {
    return new Map([...this.#inUse].map(([file, { client }]) => [file, client]));
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
    return {
      change: sameElements(now, this.#taken) ? null : this.#seen,
      directories: new Map(directories),
    };
  }

  /**
   * Reads what has changed. A client whose file is unchanged is the same object as before, and takes no longer than to
   * ask for the file's time. The names are also those of files that cannot be used.
   */
  read() {
    const { chosen, resolve } = this.#options;
    const { files, missing } = this.#find();
    this.#taken = [...files, ...missing];
    const names = files.map(({ name }) => name);
    const found = new Set(chosen.length === 0 ? names : matchNames(chosen, names).found);
    const wanted = files.filter(({ name }) => found.has(name));
    const before = new Map(missing.length === 0 ? [] : this.#inUse);
    for (const { absolute } of wanted) {
      const used = this.#inUse.get(absolute);
      if (used !== undefined) before.set(absolute, used);
    }
    const candidates = wanted
      .filter((from) => before.get(from.absolute)?.from !== from)
      .map((from) => {
        const problems = new Problems(from.problems);
        const isOneOfSeveral = chosen.length === 0 || wanted.length > 1;
        const client = resolve(from.name, from.section, problems, isOneOfSeveral);
        return { file: from.file, client, from, problems };
      });
    this.#inUse = this.#accept(candidates, before);
    const known = new Set(files.map(({ absolute }) => absolute));
    const lost = [...this.#inUse].filter(([absolute]) => !known.has(absolute)).map(([, used]) => used);
    const used = [...files.flatMap(({ absolute }) => this.#inUse.get(absolute) ?? []), ...lost];
    return {
      clients: used.map(({ client }) => client),
      names,
      problems: [
        ...missing.map((line) => settingsProblem('', null, line)),
        ...candidates.flatMap(({ from, problems }) =>
          problems.lines.map((line) => settingsProblem(from.name, from.file, line)),
        ),
      ],
    };
  }

  /** Two files never stand for one client: neither of them does then, unless it did before. */
  #accept(
    candidates: readonly (InUse & { readonly from: ClientFile; readonly problems: Problems })[],
    before: ReadonlyMap<string, InUse>,
  ): ReadonlyMap<string, InUse> {
    let open = candidates.filter(({ problems }) => problems.lines.length === 0);
    for (;;) {
      const next = new Map([...before, ...open.map((one) => [one.from.absolute, one] as const)]);
      const twins = findTwins<InUse>([...next.values()], this.#options.hasTokens);
      for (const one of open) {
        const twin = twins.get(one);
        if (twin) one.problems.add(one.file, `${twin.same} as ${twin.other.file}: keep one of them`, 'name');
      }
      const accepted = open.filter((one) => !twins.has(one));
      if (accepted.length === open.length) return next;
      open = accepted;
    }
  }

  /** The files as they are now, in the order of the paths and of their names; and paths that lead to none. */
  #find(): { readonly files: readonly ClientFile[]; readonly missing: readonly string[] } {
    const files = new Set<string>();
    const missing: string[] = [];
    for (const { directory, fits, given } of this.#folders) {
      try {
        const all = readdirSync(directory).filter((name) => !name.startsWith('.') && name !== 'lost+found');
        const names = all.filter(fits);
        for (const name of all)
          if (!fits(name) && fits(name.replace(/\.ya?ml$/i, (end) => end.toLowerCase())))
            missing.push(
              `clients: ${path.join(directory, name)} is not read: its name has to end in .yaml or .yml, in small letters`,
            );
        if (names.length === 0) missing.push(`clients: there is no file ${given} (in ${directory})`);
        for (const name of names.sort()) files.add(path.join(directory, name));
      } catch (error) {
        missing.push(`clients: there is no file ${given}: cannot read ${directory} (${codeOf(error)})`);
      }
    }
    return { files: [...files].map(this.#readFile), missing };
  }
}

/** A directory, and whether a file of it is meant. */
interface Folder {
  readonly directory: string;
  readonly fits: (name: string) => boolean;
  readonly given: string;
}

const folderOf = ({ absolute, given }: ClientFilesOptions['paths'][number]): Folder => {
  const name = path.basename(absolute);
  const isYaml = (one: string): boolean => /\.ya?ml$/.test(one);
  if (!isYaml(name) && !name.includes('*')) return { directory: absolute, fits: isYaml, given };
  const parts = name.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(`^${parts.join('.*')}$`, 's');
  return { directory: path.dirname(absolute), fits: (one) => pattern.test(one), given };
};

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

/** Reads files with one client each. One that is unchanged is the same object as before. */
const clientFileReader = (cwd: string): ((absolute: string) => ClientFile) => {
  const known = new Map<string, { text: string | null; stamp: string | null; read: ClientFile }>();
  return (absolute) => {
    const stats = statSync(absolute, { bigint: true, throwIfNoEntry: false });
    // What changed a moment ago may change again without another time.
    const stamp = stats !== undefined && isAtRest(stats) ? timesMark(stats) : null;
    const before = known.get(absolute);
    if (before !== undefined && stamp !== null && before.stamp === stamp) return before.read;
    const { text, read } = readClientFile(absolute, cwd);
    const isSame = before !== undefined && text !== null && before.text === text;
    known.set(absolute, { text, stamp, read: isSame ? before.read : read });
    return isSame ? before.read : read;
  };
};

const readClientFile = (absolute: string, cwd: string): { text: string | null; read: ClientFile } => {
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
  return { text, read: { absolute, file, name, section, problems } };
};
