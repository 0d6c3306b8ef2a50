import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
  const stats = await stat(real, { bigint: true });
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return { root, relative, real, signature: [real, dev, ino, size, mtimeNs, ctimeNs].join(' ') };
};

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
  const names = (await readdir(real)).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) await searchEntry(root, join(relative, name), search);
};

const searchEntry = async (root: Root, relative: string, search: Search): Promise<void> => {
  const isTemplate = /\.ya?ml$/.test(relative);
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
