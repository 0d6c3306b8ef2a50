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
  /** Changes when the file is replaced or written to. */
  readonly signature: string;
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

/** One file below a root. Throws what the file system throws. */
export const findFile = async (root: Root, relative: string): Promise<FoundFile> => {
  const real = await realpath(join(root.real, relative));
  return fileAt(root, relative, real);
};

const fileAt = async (root: Root, relative: string, real: string): Promise<FoundFile> => {
  const stats = await statsOf(real);
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return {
    root,
    relative,
    real,
    signature: `${real} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    size: Number(size),
    changedAt: Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n),
  };
};

/** The promises of `node:fs/promises` take twice as long, which counts for thousands of files. */
const statsOf = (path: string): Promise<BigIntStats> =>
  new Promise((resolve, reject) => {
    statCallback(path, { bigint: true }, (error, stats) => (error ? reject(error) : resolve(stats)));
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
  // What is no link is where it seems to be. These are looked at side by side.
  const plain = entries.map((entry) => {
    if (!entry.isFile() || !isTemplateName(entry.name)) return null;
    const found = fileAt(root, below(relative, entry.name), below(real, entry.name));
    found.catch(() => undefined);
    return found;
  });
  for (const [index, { name }] of entries.entries()) {
    await searchEntry(root, below(relative, name), plain[index] ?? null, search);
  }
};

/** `join` without its checks, which these names do not need: it is asked thousands of times in a pass. */
const below = (directory: string, name: string): string =>
  directory === '' || directory.endsWith(sep) ? directory + name : `${directory}${sep}${name}`;

const isTemplateName = (name: string): boolean => /\.ya?ml$/.test(name);

const searchEntry = async (
  root: Root,
  relative: string,
  plain: Promise<FoundFile> | null,
  search: Search,
): Promise<void> => {
  const isTemplate = isTemplateName(relative);
  try {
    if (plain !== null) {
      take(await plain, search);
      return;
    }
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
