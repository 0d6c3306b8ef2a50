import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../errors.ts';

/** Where the files of clients are: one file, all of a directory, or those of a directory that fit a pattern. */
export interface ClientPath {
  readonly directory: string;
  /** Whether a file of the directory is meant. */
  readonly fits: (name: string) => boolean;
  /** As it was given, for messages. */
  readonly given: string;
}

/** Reads paths, relative to a folder; null if one has `*` elsewhere than in its last part. */
export const clientPathOf = (given: string, folder: string): ClientPath | null => {
  const absolute = path.resolve(folder, given);
  const [directory, name] = [path.dirname(absolute), path.basename(absolute)];
  if (directory.includes('*')) return null;
  if (isYaml(name) || name.includes('*')) return { directory, fits: pattern(name), given };
  return { directory: absolute, fits: isYaml, given };
};

const isYaml = (name: string): boolean => /\.ya?ml$/.test(name);

/** `*` is any part of a name. Names that start with a dot are those of no client. */
const pattern = (name: string): ((one: string) => boolean) => {
  const parts = name.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  const expression = new RegExp(`^${parts.join('.*')}$`, 's');
  return (one) => expression.test(one);
};

export interface FoundClientFiles {
  /** Absolute paths, each once, in the order of the paths and of their names. */
  readonly files: readonly string[];
  /** Paths that lead to no file, since somebody may have forgotten to mount a volume; and files that are not read. */
  readonly problems: readonly string[];
}

/** Lists the files as they are now. */
export const findClientFiles = (paths: readonly ClientPath[]): FoundClientFiles => {
  const files = new Set<string>();
  const problems: string[] = [];
  for (const { directory, fits, given } of paths) {
    try {
      const all = readdirSync(directory).filter((name) => !name.startsWith('.') && name !== 'lost+found');
      const names = all.filter(fits);
      for (const name of all)
        if (!fits(name) && fits(name.replace(/\.ya?ml$/i, (end) => end.toLowerCase())))
          problems.push(
            `clients: ${path.join(directory, name)} is not read: its name has to end in .yaml or .yml, in small letters`,
          );
      if (names.length === 0) problems.push(`clients: there is no file ${given} (in ${directory})`);
      for (const name of names.sort()) files.add(path.join(directory, name));
    } catch (error) {
      problems.push(`clients: there is no file ${given}: cannot read ${directory} (${codeOf(error)})`);
    }
  }
  return { files: [...files], problems };
};

/** The directories with the files, and what differs if one was replaced. */
export const clientDirectories = (paths: readonly ClientPath[]): ReadonlyMap<string, string> =>
  new Map(
    paths.map(({ directory }) => {
      const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
      return [directory, `${stats?.dev}:${stats?.ino}`];
    }),
  );
