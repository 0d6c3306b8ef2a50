import { existsSync, lstat as lstatLater, type BigIntStats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve as absolute, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Missing } from '../desired/parse-file.ts';
import { deniedTo, messageOf } from '../errors.ts';
import type { FileTimes } from '../regular-file.ts';

/** Where template files are: a directory, or the parent of a file that was given by itself. */
export interface Root {
  /** As the user gave it. */
  readonly path: string;
  /** Its real path when this scan began. */
  readonly real: string;
}

export interface ScannedFile {
  readonly root: Root;
  /** The path relative to the root. */
  readonly relative: string;
  /** For people: the given path, and the relative path from there. */
  readonly path: string;
  readonly real: string;
  /** Differs after the file was replaced or written to. */
  readonly identity: FileTimes;
}

export type Found = ScannedFile | Missing;

export interface Scan {
  /** In ms since the epoch: held against the times of files, which are by the system's clock. */
  readonly startedAt: number;
  /** Template files, fragments, and what cannot be read, by path; the same objects as before if nothing changed. */
  readonly found: ReadonlyMap<string, Found>;
  /** The real paths of the given paths: links may lead there, and nowhere else. */
  readonly realRoots: readonly string[];
  /** The given directories, in which includes may look. */
  readonly roots: readonly Root[];
  /** The directories that were read: real path and identity, which differs if one was replaced. */
  readonly directories: ReadonlyMap<string, string>;
}

export const filesIn = ({ found }: Scan): ScannedFile[] =>
  [...found.values()].flatMap((one) => ('reason' in one ? [] : one));

/**
 * The template files and fragments under some paths, sorted; a file that two paths lead to is listed once. Symbolic links
 * are followed only to places below one of the real paths, so that an author of template files cannot choose what else is
 * read. Entries whose name starts with `.` are skipped, and `lost+found`. Relative paths start from `cwd`.
 */
export const scanFiles = async (paths: readonly string[], cwd = '', before?: Scan): Promise<Scan> => {
  const startedAt = Date.now();
  const places = paths.map((path) => absolute(cwd, path));
  const reals = await Promise.all(places.map((place) => realPathOf(place).catch(() => null)));
  const search: Search = {
    startedAt,
    found: new Map(),
    realRoots: reals.filter((real) => real !== null),
    roots: [],
    directories: new Map(),
    listed: new Set(),
    before: before?.found,
  };
  for (const [at, path] of paths.entries()) await searchPath(path, places[at]!, search);
  return search;
};

interface Search extends Scan {
  readonly found: Map<string, Found>;
  readonly roots: Root[];
  readonly directories: Map<string, string>;
  /** The real paths of the files. */
  readonly listed: Set<string>;
  readonly before: ReadonlyMap<string, Found> | undefined;
}

/**
 * Where a given path really is. In a checkout of git its authors may have made a link of it: it leads nowhere else then.
 * The links of git-sync and of Kubernetes volumes lie outside of one.
 */
const realPathOf = async (place: string): Promise<string> => {
  const real = await realpath(place);
  if (real === place) return real;
  let checkout: string | null = null;
  for (let folder = dirname(place), below = ''; folder !== below; below = folder, folder = dirname(folder))
    if (existsSync(join(folder, '.git'))) checkout = folder;
  if (checkout !== null && !isWithin(real, [await realpath(checkout)]))
    throw new OutsideError('its links lead out of the git checkout in which it lies');
  return real;
};

/** Whether a real path is one of these, or lies below one. */
export const isWithin = (real: string, realRoots: readonly string[]): boolean =>
  realRoots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep));

class OutsideError extends Error {
  constructor(message = 'it leads out of the directories given as templates') {
    super(message);
  }
}

const searchPath = async (path: string, place: string, search: Search): Promise<void> => {
  try {
    const real = await realPathOf(place);
    if ((await stat(real)).isDirectory()) {
      const root = { path, real };
      search.roots.push(root);
      await searchDirectory(root, '', search);
    } else {
      const root = { path: dirname(path), real: await realpath(dirname(place)) };
      add(await findFile(root, basename(path), search.realRoots, search.before?.get(join(path))), search);
    }
  } catch (error) {
    const missing = missingAt(path, error);
    // A relative path depends on the working directory, so name it.
    const where = isAbsolute(path) ? '' : ` (${place})`;
    const isDirectory = missing.reason === notThere && !isTemplateName(path);
    const advice = isDirectory ? '; `import` makes it, with the templates of the service' : '';
    add({ ...missing, reason: `${missing.reason}${where}${advice}` }, search);
  }
};

const isTemplateName = (name: string): boolean => /\.ya?ml$/.test(name);

const searchDirectory = async (root: Root, relative: string, search: Search): Promise<void> => {
  const real = await realpath(join(root.real, relative));
  if (!isWithin(real, search.realRoots)) throw new OutsideError();
  if (search.directories.has(real)) return;
  if (search.directories.size === maxDirectories)
    throw new TooManyError(
      `there are more than ${maxDirectories} directories below the paths given as templates`,
    );
  const { dev, ino } = await stat(real, { bigint: true });
  search.directories.set(real, `${dev}:${ino}`);
  const entries = (await readdir(real, { withFileTypes: true }))
    .filter(({ name }) => !name.startsWith('.') && name !== 'lost+found')
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const plain = entries.filter((entry) => entry.isFile() && isTemplateName(entry.name));
  const statsOf = await allStats(real, plain);
  const shown = join(root.path, relative, '_').slice(0, -1);
  for (const entry of entries) {
    const { name } = entry;
    const place = below(relative, name);
    const stats = statsOf.get(name);
    const before = search.before?.get(shown + name);
    try {
      if (stats instanceof Error) throw stats;
      // Files that are not links need no realpath.
      if (stats) add(fileAt(root, place, below(real, name), stats, before), search);
      else if (!entry.isDirectory() && !isTemplateName(name) && isTemplateName(name.toLowerCase()))
        throw new Error('its name has to end in .yaml or .yml, in small letters');
      else if ((await stat(join(root.real, place))).isDirectory()) await searchDirectory(root, place, search);
      else if (isTemplateName(name)) add(await findFile(root, place, search.realRoots, before), search);
    } catch (error) {
      if (error instanceof TooManyError) throw error;
      if (isTemplateName(name) || !isBrokenLink(error)) add(missingAt(shown + name, error), search);
    }
  }
};

/** Far more than people have: catches the root of the file system, given by mistake. */
const maxDirectories = 10_000;

class TooManyError extends Error {}

/** One that is not named like a template is ignored. */
const isBrokenLink = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP');

/** A few at once, for file servers, and not all: so many promises would keep the garbage collector busy. */
const allStats = async (
  directory: string,
  entries: readonly { readonly name: string }[],
): Promise<ReadonlyMap<string, BigIntStats | Error>> => {
  const all = new Map<string, BigIntStats | Error>();
  const left = entries.values();
  const askInTurn = async (): Promise<void> => {
    for (const { name } of left)
      all.set(name, await lstatOf(below(directory, name), { bigint: true }).catch((error: Error) => error));
  };
  await Promise.all(Array.from({ length: 32 }, askInTurn));
  return all;
};

/** Half the time of that of `node:fs/promises`. */
const lstatOf = promisify(lstatLater);

/** `join` without normalising: it is called thousands of times in a pass. */
const below = (directory: string, name: string): string =>
  directory === '' || directory.endsWith(sep) ? directory + name : `${directory}${sep}${name}`;

/** One file below a root. Throws what the file system throws, and an OutsideError. */
export const findFile = async (
  root: Root,
  relative: string,
  realRoots: readonly string[],
  before?: Found,
): Promise<ScannedFile> => {
  const real = await realpath(join(root.real, relative));
  if (!isWithin(real, realRoots)) throw new OutsideError();
  // lstat: a link may have replaced it since.
  return fileAt(root, relative, real, await lstat(real, { bigint: true }), before);
};

const fileAt = (
  root: Root,
  relative: string,
  real: string,
  stats: BigIntStats,
  before?: Found,
): ScannedFile => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  if (before && !('reason' in before) && before.real === real && before.root.real === root.real) {
    const { identity } = before;
    const isReplaced = identity.ino !== ino || identity.dev !== dev;
    const isWritten = identity.mtimeNs !== mtimeNs || identity.ctimeNs !== ctimeNs || identity.size !== size;
    if (!isReplaced && !isWritten) return before;
  }
  const identity = { dev, ino, size, mtimeNs, ctimeNs };
  return { root, relative, path: join(root.path, relative), real, identity };
};

const add = (found: Found, { found: all, listed, before }: Search): void => {
  if ('reason' in found) all.set(found.path, sameMissing(found, before?.get(found.path)));
  else if (!listed.has(found.real)) {
    listed.add(found.real);
    all.set(found.path, found);
  }
};

export const sameMissing = (missing: Missing, before?: Found): Missing =>
  before && 'reason' in before && before.reason === missing.reason ? before : missing;

export const missingAt = (path: string, thrown: unknown): Missing => ({
  path,
  reason: reasonOf(thrown),
  ...(thrown instanceof OutsideError ? { isOutside: true } : {}),
});

/** Why a file cannot be read, for people. */
const reasonOf = (thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (code === 'ENOENT') return notThere;
  if (code === 'EACCES' || code === 'EPERM') return `permission denied${deniedTo(thrown)}`;
  return code === 'ELOOP' ? 'its symbolic links run in a circle' : messageOf(thrown);
};

const notThere = 'it does not exist';
