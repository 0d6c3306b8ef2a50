import { existsSync, lstat as lstatCallback, type BigIntStats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve as absolute, sep } from 'node:path';
import type { Missing } from '../desired/source-file.ts';
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
  /** For people: the given path, and the relative path from there. */
  readonly path: string;
  /** The path relative to the root. */
  readonly relative: string;
  readonly real: string;
  /** Differs after the file was replaced or written to. */
  readonly identity: FileTimes;
  /** Bytes. */
  readonly size: number;
}

export interface ScanResult {
  /** When the scan started, in ms since the epoch: held against the times of files, which are by the system's clock. */
  readonly startedAt: number;
  readonly files: readonly ScannedFile[];
  readonly missing: readonly Missing[];
  /** The real paths of the given paths: links may lead there, and nowhere else. */
  readonly realRoots: readonly string[];
  /** The given directories, in which includes may look. */
  readonly roots: readonly Root[];
  /** The directories that were read: real path and identity, which differs if one was replaced. */
  readonly directories: ReadonlyMap<string, string>;
  /** The files by their real paths. */
  readonly byReal: FilesByReal;
}

export type FilesByReal = ReadonlyMap<string, ScannedFile>;

/**
 * The template files and fragments under some paths, at most 100 directories deep, sorted; a file that two paths lead to is
 * listed once. Symbolic links are followed only to places below one of the real paths, so that an author of
 * template files cannot choose what else is read. Entries whose name starts with `.` are skipped, and `lost+found`. A file
 * that is unchanged since `before` is the same object. Relative paths start from `cwd`.
 */
export const scanFiles = async (
  paths: readonly string[],
  before?: FilesByReal,
  cwd = '',
): Promise<ScanResult> => {
  const startedAt = Date.now();
  const found = await Promise.all(paths.map((path) => realPathOf(absolute(cwd, path)).catch(() => null)));
  const realRoots = found.filter((real) => real !== null);
  const search: Search = {
    startedAt,
    cwd,
    files: [],
    missing: [],
    realRoots,
    roots: [],
    byReal: new Map(),
    directories: new Map(),
    before,
  };
  for (const path of paths) await searchPath(path, search);
  return search;
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

/** One file below a root. Throws what the file system throws, and an OutsideError. */
export const findFile = async (
  root: Root,
  relative: string,
  realRoots: readonly string[],
  before?: FilesByReal,
): Promise<ScannedFile> => {
  const real = await realpath(join(root.real, relative));
  if (!isWithin(real, realRoots)) throw new OutsideError();
  // lstat: a link may have replaced it since.
  return fileAt(root, relative, real, await lstat(real, { bigint: true }), before);
};

/** Far more than people have: catches the root of the file system, given by mistake. */
const maxDirectories = 10_000;

/** Each directory is looked up by its whole path, so deep ones cost much. */
const maxDepth = 100;

class TooManyError extends Error {}

class OutsideError extends Error {
  constructor(message = 'it leads out of the directories given as templates') {
    super(message);
  }
}

export const missingAt = (path: string, thrown: unknown): Missing => ({
  path,
  reason: reasonOf(thrown),
  ...(thrown instanceof OutsideError ? { isOutside: true } : {}),
});

const fileAt = (
  root: Root,
  relative: string,
  real: string,
  stats: BigIntStats,
  before?: FilesByReal,
): ScannedFile => {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const known = before?.get(real);
  if (known && isAt(known, root, relative) && isStill(known, stats)) return known;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return {
    root,
    path: join(root.path, relative),
    relative,
    real,
    identity: { dev, ino, size, mtimeNs, ctimeNs },
    size: Number(size),
  };
};

const isAt = (file: ScannedFile, root: Root, relative: string): boolean =>
  file.relative === relative && file.root.path === root.path && file.root.real === root.real;

/** Neither replaced nor written to. */
const isStill = ({ identity }: ScannedFile, { dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): boolean =>
  identity.ino === ino &&
  identity.mtimeNs === mtimeNs &&
  identity.ctimeNs === ctimeNs &&
  identity.size === size &&
  identity.dev === dev;

/**
 * In parallel, and with one promise for all: for thousands of files the promises of `node:fs/promises` would
 * double the time. A few at once, each taken as soon as it is there: all at once would outlive the garbage collector's
 * space for new objects, and an idle daemon would spend most of its time collecting them where old ones live.
 */
const eachStats = (
  paths: readonly string[],
  take: (stats: BigIntStats | Error, index: number) => void,
): Promise<void> =>
  new Promise((resolve) => {
    let [next, left] = [0, paths.length];
    const ask = (): void => {
      const index = next;
      if (index === paths.length) return;
      next += 1;
      lstatCallback(paths[index]!, { bigint: true }, (error, stats) => {
        take(error ?? stats, index);
        left -= 1;
        if (left === 0) resolve();
        else ask();
      });
    };
    if (left === 0) resolve();
    for (let asked = 0; asked < atOnce; asked += 1) ask();
  });

const atOnce = 32;

/** Why a file cannot be read, for people. */
const reasonOf = (thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  switch (code) {
    case 'ENOENT':
      return notThere;
    case 'EACCES':
    case 'EPERM':
      return `permission denied${deniedTo(thrown)}`;
    case 'ELOOP':
      return 'its symbolic links run in a circle';
    default:
      return messageOf(thrown);
  }
};

const notThere = 'it does not exist';

interface Search extends ScanResult {
  readonly cwd: string;
  readonly files: ScannedFile[];
  readonly missing: Missing[];
  readonly roots: Root[];
  readonly byReal: Map<string, ScannedFile>;
  readonly directories: Map<string, string>;
  readonly before: FilesByReal | undefined;
}

const searchPath = async (path: string, search: Search): Promise<void> => {
  const place = absolute(search.cwd, path);
  try {
    const real = await realPathOf(place);
    const stats = await stat(real);
    if (stats.isDirectory()) {
      const root = { path, real };
      search.roots.push(root);
      await searchDirectory(root, '', search);
    } else {
      const root = { path: dirname(path), real: await realpath(dirname(place)) };
      addFile(await findFile(root, basename(path), search.realRoots, search.before), search);
    }
  } catch (error) {
    const missing = missingAt(path, error);
    // A relative path depends on the working directory, so name it.
    const where = isAbsolute(path) ? '' : ` (${place})`;
    const isDirectory = missing.reason === notThere && !isTemplateName(path);
    const advice = isDirectory ? '; `import` makes it, with the templates of the service' : '';
    search.missing.push({ ...missing, reason: `${missing.reason}${where}${advice}` });
  }
};

const searchDirectory = async (root: Root, relative: string, search: Search): Promise<void> => {
  if (relative.split(sep).length > maxDepth)
    throw new TooManyError(
      `directories are nested more than ${maxDepth} deep below the paths given as templates: ${relative.slice(0, 60)}…`,
    );
  const real = await realpath(join(root.real, relative));
  if (!isWithin(real, search.realRoots)) throw new OutsideError();
  if (search.directories.has(real)) return;
  const { dev, ino } = await stat(real, { bigint: true });
  search.directories.set(real, `${dev}:${ino}`);
  if (search.directories.size > maxDirectories)
    throw new TooManyError(
      `there are more than ${maxDirectories} directories below the paths given as templates`,
    );
  const entries = (await readdir(real, { withFileTypes: true }))
    .filter(({ name }) => !name.startsWith('.') && name !== 'lost+found')
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  // Files that are not links need no realpath.
  const plain = entries.filter((entry) => entry.isFile() && isTemplateName(entry.name));
  const found = new Map<string, ScannedFile | Missing>();
  await eachStats(
    plain.map(({ name }) => below(real, name)),
    (stats, index) => {
      const { name } = plain[index]!;
      found.set(name, plainFile(root, below(relative, name), below(real, name), stats, search));
    },
  );
  for (const entry of entries) {
    const { name } = entry;
    const known = found.get(name);
    if (!entry.isDirectory() && !isTemplateName(name) && isTemplateName(name.toLowerCase())) {
      const reason = 'its name has to end in .yaml or .yml, in small letters';
      search.missing.push({ path: join(root.path, relative, name), reason });
    } else if (known === undefined) await searchEntry(root, below(relative, name), search);
    else if ('reason' in known) search.missing.push(known);
    else addFile(known, search);
  }
};

/** `join` without normalising: it is called thousands of times in a pass. */
const below = (directory: string, name: string): string =>
  directory === '' || directory.endsWith(sep) ? directory + name : `${directory}${sep}${name}`;

const isTemplateName = (name: string): boolean => /\.ya?ml$/.test(name);

const plainFile = (
  root: Root,
  relative: string,
  real: string,
  stats: BigIntStats | Error,
  { before }: Search,
): ScannedFile | Missing => {
  try {
    if (stats instanceof Error) throw stats;
    return fileAt(root, relative, real, stats, before);
  } catch (error) {
    return missingAt(join(root.path, relative), error);
  }
};

const searchEntry = async (root: Root, relative: string, search: Search): Promise<void> => {
  const isTemplate = isTemplateName(relative);
  try {
    const stats = await stat(join(root.real, relative));
    if (stats.isDirectory()) await searchDirectory(root, relative, search);
    else if (isTemplate) addFile(await findFile(root, relative, search.realRoots, search.before), search);
  } catch (error) {
    if (error instanceof TooManyError) throw error;
    if (isTemplate || !isMissingTarget(error))
      search.missing.push(missingAt(join(root.path, relative), error));
  }
};

/** A broken link that is not named like a template is ignored. */
const isMissingTarget = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP');

const addFile = (file: ScannedFile, search: Search): void => {
  if (search.byReal.has(file.real)) return;
  search.byReal.set(file.real, file);
  search.files.push(file);
};
