import { stat as statCallback, type BigIntStats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { messageOf } from '../errors.ts';

/** Where template files are looked for: a directory, or the one that holds a file given by itself. */
export interface Root {
  /** As the user gave it. */
  readonly path: string;
  /** Its real path when this reading began. */
  readonly real: string;
}

export interface FoundFile {
  readonly root: Root;
  /** Below the root. */
  readonly relative: string;
  readonly real: string;
  /** What tells a file that was replaced or written to from what it was, beside its path. */
  readonly identity: Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;
  /** Bytes. */
  readonly size: number;
  /** When it was last replaced or written to, in ms since the epoch. */
  readonly changedAt: number;
}

export interface Missing {
  readonly path: string;
  readonly reason: string;
}

export interface Found {
  readonly files: readonly FoundFile[];
  readonly missing: readonly Missing[];
}

/**
 * The template files and fragments under some paths, to any depth, sorted; what two ways lead to is there once.
 * Symbolic links are followed, entries whose name starts with `.` are not looked at.
 */
export const findFiles = async (paths: readonly string[]): Promise<Found> => {
  const search: Search = { files: [], missing: [], seen: new Set() };
  for (const path of paths) await searchPath(path, search);
  return search;
};

/** Whether the same file is at the same place, neither replaced nor written to. */
export const isSameFile = (one: FoundFile, other: FoundFile): boolean =>
  one.real === other.real &&
  one.relative === other.relative &&
  one.root.real === other.root.real &&
  one.identity.ino === other.identity.ino &&
  one.identity.dev === other.identity.dev &&
  one.identity.size === other.identity.size &&
  one.identity.mtimeNs === other.identity.mtimeNs &&
  one.identity.ctimeNs === other.identity.ctimeNs;

/** A text for a file that is another one when the file is replaced or written to. */
export const signatureOf = ({ real, identity: { dev, ino, size, mtimeNs, ctimeNs } }: FoundFile): string =>
  `${real} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** One file below a root. Throws what the file system throws. */
export const findFile = async (root: Root, relative: string): Promise<FoundFile> => {
  const real = await realpath(join(root.real, relative));
  return fileAt(root, relative, real, await stat(real, { bigint: true }));
};

const fileAt = (root: Root, relative: string, real: string, stats: BigIntStats): FoundFile => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return {
    root,
    relative,
    real,
    identity: { dev, ino, size, mtimeNs, ctimeNs },
    size: Number(size),
    changedAt: Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n),
  };
};

/** Side by side, and with one promise for all: those of `node:fs/promises` take as long as all else, for thousands. */
const statsOfAll = (paths: readonly string[]): Promise<(BigIntStats | Error)[]> =>
  new Promise((resolve) => {
    const all: (BigIntStats | Error)[] = [];
    let open = paths.length;
    if (open === 0) resolve(all);
    for (const [index, path] of paths.entries()) {
      statCallback(path, { bigint: true }, (error, stats) => {
        all[index] = error ?? stats;
        open -= 1;
        if (open === 0) resolve(all);
      });
    }
  });

/** What lies between a person and a file that cannot be read. */
export const reasonOf = (thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ELOOP':
      return 'its symbolic links run in a circle';
    default:
      return messageOf(thrown);
  }
};

interface Search {
  readonly files: FoundFile[];
  readonly missing: Missing[];
  /** Real paths of files and directories that have been taken. */
  readonly seen: Set<string>;
}

const searchPath = async (path: string, search: Search): Promise<void> => {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) {
      await searchDirectory({ path, real: await realpath(path) }, '', search);
    } else {
      const root = { path: dirname(path), real: await realpath(dirname(path)) };
      take(await findFile(root, basename(path)), search);
    }
  } catch (error) {
    search.missing.push({ path, reason: reasonOf(error) });
  }
};

const searchDirectory = async (root: Root, relative: string, search: Search): Promise<void> => {
  const real = await realpath(join(root.real, relative));
  if (search.seen.has(real)) return;
  search.seen.add(real);
  const entries = (await readdir(real, { withFileTypes: true }))
    .filter(({ name }) => !name.startsWith('.'))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  // What is no link is where it seems to be.
  const plain = entries.filter((entry) => entry.isFile() && isTemplateName(entry.name));
  const stats = await statsOfAll(plain.map(({ name }) => below(real, name)));
  const statsAt = new Map(plain.map(({ name }, index) => [name, stats[index]!]));
  for (const { name } of entries) {
    const [place, known] = [below(relative, name), statsAt.get(name)];
    if (known) takePlain(root, place, below(real, name), known, search);
    else await searchEntry(root, place, search);
  }
};

/** `join` without its checks, which these names do not need: it is asked thousands of times in a pass. */
const below = (directory: string, name: string): string =>
  directory === '' || directory.endsWith(sep) ? directory + name : `${directory}${sep}${name}`;

const isTemplateName = (name: string): boolean => /\.ya?ml$/.test(name);

const takePlain = (
  root: Root,
  relative: string,
  real: string,
  stats: BigIntStats | Error,
  search: Search,
): void => {
  try {
    if (stats instanceof Error) throw stats;
    take(fileAt(root, relative, real, stats), search);
  } catch (error) {
    search.missing.push({ path: join(root.path, relative), reason: reasonOf(error) });
  }
};

const searchEntry = async (root: Root, relative: string, search: Search): Promise<void> => {
  const isTemplate = isTemplateName(relative);
  try {
    const stats = await stat(join(root.real, relative));
    if (stats.isDirectory()) await searchDirectory(root, relative, search);
    else if (isTemplate) take(await findFile(root, relative), search);
  } catch (error) {
    if (isTemplate || !isGone(error)) {
      search.missing.push({ path: join(root.path, relative), reason: reasonOf(error) });
    }
  }
};

/** A link to nothing that is not named like a template concerns nobody. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP');

const take = (file: FoundFile, search: Search): void => {
  if (search.seen.has(file.real)) return;
  search.seen.add(file.real);
  search.files.push(file);
};
