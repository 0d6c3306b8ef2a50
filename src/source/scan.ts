import { existsSync, lstat as lstatLater, type BigIntStats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve as absolute, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Missing } from '../desired/parse-file.ts';
import { codeOf, deniedTo, messageOf } from '../errors.ts';
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
  /** Template files, fragments, and what cannot be read, by path. */
  readonly found: ReadonlyMap<string, Found>;
  /** Fragments that are not among them, since their directory was not given: by path, with where to look. */
  readonly included: ReadonlyMap<string, Included>;
  /** The real paths of the given paths: links may lead there, and nowhere else. */
  readonly realRoots: readonly string[];
  /** The given directories, in which includes may look. */
  readonly roots: readonly Root[];
  /** The directories that were read: real path and identity, which differs if one was replaced. */
  readonly directories: ReadonlyMap<string, string>;
}

export interface Included {
  readonly root: Root;
  readonly relative: string;
  readonly found: Found;
}

export const filesIn = ({ found }: Scan): ScannedFile[] =>
  [...found.values()].flatMap((one) => ('reason' in one ? [] : one));

/** Whether two scans found the same files, and nothing was written to any. */
export const isSameScan = (one: Scan, other: Scan): boolean =>
  one.found.size === other.found.size &&
  one.included.size === other.included.size &&
  [...one.found].every(([path, found]) => isSame(found, other.found.get(path))) &&
  [...one.included].every(([path, { found }]) => isSame(found, other.included.get(path)?.found));

export const isSame = (one: Found, other: Found | undefined): boolean => {
  if (other === undefined) return false;
  if ('reason' in one || 'reason' in other)
    return 'reason' in one && 'reason' in other && one.reason === other.reason;
  const { dev, ino, size, mtimeNs, ctimeNs } = one.identity;
  const { identity: now } = other;
  const isThere = one.real === other.real && one.root.real === other.root.real;
  const isReplaced = now.ino !== ino || now.dev !== dev;
  return isThere && !isReplaced && now.mtimeNs === mtimeNs && now.ctimeNs === ctimeNs && now.size === size;
};

/**
 * The template files and fragments under some paths, sorted; a file that two paths lead to is listed once. Symbolic links
 * are followed only to places below one of the real paths, so that an author of template files cannot choose what else is
 * read. Entries whose name starts with `.` are skipped, and `lost+found`. Relative paths start from `cwd`. Looks at the
 * `known` fragments too.
 */
export const scanFiles = async (
  paths: readonly string[],
  cwd = '',
  known: Scan['included'] = new Map(),
): Promise<Scan> => {
  const startedAt = Date.now();
  const places = paths.map((path) => absolute(cwd, path));
  const reals = await Promise.all(places.map((place) => realPathOf(place).catch(() => null)));
  const realRoots = reals.filter((real) => real !== null);
  const found = new Map<string, Found>();
  const roots: Root[] = [];
  const directories = new Map<string, string>();
  /** The real paths of the files. */
  const listed = new Set<string>();

  const add = (file: ScannedFile): void => {
    if (!listed.has(file.real)) found.set(file.path, file);
    listed.add(file.real);
  };

  const searchPath = async (path: string, place: string): Promise<void> => {
    try {
      const real = await realPathOf(place);
      if ((await stat(real)).isDirectory()) {
        const root = { path, real };
        roots.push(root);
        return await searchDirectory(root, '');
      }
      const root = { path: dirname(path), real: await realpath(dirname(place)) };
      add(await findFile(root, basename(path), realRoots));
    } catch (error) {
      const missing = missingAt(path, error);
      // A relative path depends on the working directory, so name it. `import` writes into the first one.
      const where = isAbsolute(path) ? '' : ` (${place})`;
      const isDirectory = missing.reason === notThere && !isTemplateName(path) && path === paths[0];
      const advice = isDirectory ? '; `import` makes it, with the templates of the service' : '';
      found.set(path, { ...missing, reason: `${missing.reason}${where}${advice}` });
    }
  };

  const searchDirectory = async (root: Root, relative: string): Promise<void> => {
    const real = await realpath(join(root.real, relative));
    if (!isWithin(real, realRoots)) throw new OutsideError();
    if (directories.has(real)) return;
    if (directories.size === maxDirectories) throw new TooManyError();
    const { dev, ino } = await stat(real, { bigint: true });
    directories.set(real, `${dev}:${ino}`);
    const entries = (await readdir(real, { withFileTypes: true }))
      .filter(({ name }) => !name.startsWith('.') && name !== 'lost+found')
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const plain = entries.filter((entry) => entry.isFile() && isTemplateName(entry.name));
    const statsOf = new Map<string, BigIntStats | Error>();
    await eachInTurn(plain, async ({ name }) => {
      const asked = lstatOf(below(real, name), { bigint: true });
      statsOf.set(name, await asked.catch((error: Error) => error));
    });
    const shown = join(root.path, relative, '_').slice(0, -1);
    for (const entry of entries) {
      const { name } = entry;
      const place = below(relative, name);
      const stats = statsOf.get(name);
      try {
        if (stats instanceof Error) throw stats;
        // Files that are not links need no realpath.
        if (stats) add(fileAt(root, place, below(real, name), stats));
        else if (!entry.isDirectory() && !isTemplateName(name) && isTemplateName(name.toLowerCase()))
          throw new Error('its name has to end in .yaml or .yml, in small letters');
        else if (entry.isDirectory() || (await isDirectoryAt(join(root.real, place))))
          await searchDirectory(root, place);
        else if (isTemplateName(name)) add(await findFile(root, place, realRoots));
      } catch (error) {
        if (error instanceof TooManyError) throw error;
        found.set(shown + name, missingAt(shown + name, error));
      }
    }
  };

  for (const [at, path] of paths.entries()) await searchPath(path, places[at]!);
  const included = new Map<string, Included>();
  for (const [path, { root, relative }] of known)
    included.set(path, await findIncluded(root, relative, { realRoots }));
  return { startedAt, found, included, realRoots, roots, directories };
};

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

/** Far more than people have: catches the root of the file system, given by mistake. */
const maxDirectories = 10_000;

class TooManyError extends Error {
  constructor() {
    super(`there are more than ${maxDirectories} directories below the paths given as templates`);
  }
}

const isTemplateName = (name: string): boolean => /\.ya?ml$/.test(name);

/** A link to nothing is none. One that cannot be followed may lead to many files: who looks there says why. */
const isDirectoryAt = (place: string): Promise<boolean> =>
  stat(place).then(
    (stats) => stats.isDirectory(),
    (error: unknown) => !/ENOENT|ENOTDIR|ELOOP/.test(codeOf(error)),
  );

/** A few at once, for file servers, and not all: so many promises would keep the garbage collector busy. */
export const eachInTurn = async <T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> => {
  const left = items.values();
  const workInTurn = async (): Promise<void> => {
    for (const item of left) await task(item);
  };
  await Promise.all(Array.from({ length: 32 }, workInTurn));
};

/** Half the time of that of `node:fs/promises`. */
const lstatOf = promisify(lstatLater);

/** `join` without normalising: it is called thousands of times in a pass. */
const below = (directory: string, name: string): string =>
  directory === '' || directory.endsWith(sep) ? directory + name : `${directory}${sep}${name}`;

/** One file below a root. Throws what the file system throws, and an OutsideError. */
const findFile = async (root: Root, relative: string, realRoots: readonly string[]): Promise<ScannedFile> => {
  const real = await realpath(join(root.real, relative));
  if (!isWithin(real, realRoots)) throw new OutsideError();
  // lstat: a link may have replaced it since.
  return fileAt(root, relative, real, await lstat(real, { bigint: true }));
};

const fileAt = (root: Root, relative: string, real: string, stats: BigIntStats): ScannedFile => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  const identity = { dev, ino, size, mtimeNs, ctimeNs };
  return { root, relative, path: join(root.path, relative), real, identity };
};

/** A fragment that was included from below the root; a link may lead to another of the given paths. */
export const findIncluded = async (
  root: Root,
  relative: string,
  { realRoots }: Pick<Scan, 'realRoots'>,
): Promise<Included> => {
  const path = join(root.path, relative);
  const found = await findFile(root, relative, [root.real, ...realRoots]).catch((error: unknown) =>
    missingAt(path, error),
  );
  return { root, relative, found };
};

export const missingAt = (path: string, thrown: unknown): Missing => ({
  path,
  reason: reasonOf(path, thrown),
  ...(thrown instanceof OutsideError ? { isOutside: true } : {}),
});

/** Why a file cannot be read, for people. */
const reasonOf = (path: string, thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  // Node.js lists a name of other octets with U+FFFD in their place.
  if (code === 'ENOENT') return path.includes('\ufffd') ? 'its name is not UTF-8: rename it' : notThere;
  if (code === 'EACCES' || code === 'EPERM') return `permission denied${deniedTo(thrown)}`;
  return code === 'ELOOP' ? 'its symbolic links run in a circle' : messageOf(thrown);
};

const notThere = 'it does not exist';
