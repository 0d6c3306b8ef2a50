import { basename, dirname, isAbsolute, join, relative as relativeTo, resolve } from 'node:path';
import {
  isMissing,
  type FileContent,
  type Missing,
  type SourceFile,
  type SourceFiles,
} from '../desired/source-file.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { isAtRest } from '../regular-file.ts';
import {
  findFile,
  isWithin,
  scanFiles,
  missingAt,
  type ScanResult,
  type ScannedFile,
  type Root,
} from './scan.ts';
import { isFragmentPath } from '../model/template.ts';

export interface Snapshot extends SourceFiles {
  /** What was read from where. */
  readonly read: ReadonlyMap<ScannedFile, SourceFile>;
  /** What the snapshot was read from; null if the files kept changing. */
  readonly basis: Basis | null;
}

export interface Scan {
  readonly result: ScanResult;
  /** When the scan started, in ms since the epoch: held against the times of files, which are by the system's clock. */
  readonly startedAt: number;
}

/** What a snapshot was read from. */
export interface Basis extends Scan {
  readonly lookups: readonly IncludeLookup[];
  /** Whether none of the files changed just before. */
  readonly isAtRest: boolean;
}

/** The content of a file, at once where it is known; null if it is not a file yet. */
export type ContentOf = (file: ScannedFile, startedAt: number) => MaybeLater<FileContent | null>;
type MaybeLater<T> = T | Promise<T>;

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that;
 * if anything changed meanwhile (a link moved, a directory was swapped, a file was saved) it reads everything
 * again.
 */
export const readSnapshot = async (
  paths: readonly string[],
  contentOf: ContentOf,
  { cwd, first }: { readonly cwd?: string | undefined; readonly first?: Scan } = {},
): Promise<Snapshot> => {
  let scan = first ?? (await scanPaths(paths, cwd));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 0) {
      await sleep(backoffDelay(attempt, { first: 40, max: 320 }));
      scan = await scanPaths(paths, cwd, scan.result);
    }
    const { result, startedAt } = scan;
    const reading: Reading = { contentOf, scan, read: new Map(), files: new Map(), lookups: [] };
    const { files, missing } = await readAll(reading);
    const { read, lookups } = reading;
    const again = await scanFiles(paths, result.byReal, cwd);
    if (!areSame(again, result) || !(await areUnchanged(lookups, again))) continue;
    const found = [...result.files, ...lookups.flatMap((one) => ('reason' in one.result ? [] : one.result))];
    const isResting = found.every(({ identity }) => isAtRest(identity, startedAt));
    return { files, missing, read, basis: { result, startedAt, lookups, isAtRest: isResting } };
  }
  const reason = 'the files kept changing while they were read';
  return { files: [], missing: paths.map((path) => ({ path, reason })), read: new Map(), basis: null };
};

const tries = 5;

/** Lists the files without reading them; unchanged ones are the same objects as in `before`. */
export const scanPaths = async (
  paths: readonly string[],
  cwd?: string,
  before?: ScanResult,
): Promise<Scan> => {
  const startedAt = Date.now();
  return { result: await scanFiles(paths, before?.byReal, cwd), startedAt };
};

/** Whether reading again would find the same files. */
export const isUnchanged = async (basis: Basis, { result }: Scan): Promise<boolean> =>
  basis.isAtRest && areSame(result, basis.result) && (await areUnchanged(basis.lookups, result));

interface Reading {
  readonly contentOf: ContentOf;
  readonly scan: Scan;
  readonly read: Map<ScannedFile, SourceFile>;
  /** By path; null: not a file yet. */
  readonly files: Map<string, SourceFile | Missing | null>;
  /** The files that includes named. */
  readonly lookups: IncludeLookup[];
}

interface IncludeLookup {
  readonly root: Root;
  readonly relative: string;
  readonly result: ScannedFile | Missing;
}

const readAll = async (reading: Reading): Promise<SourceFiles> => {
  const { result } = reading.scan;
  const files: SourceFile[] = [];
  const missing = [...result.missing];
  for (let from = 0; from < result.files.length; from += readAtOnce) {
    const some = result.files.slice(from, from + readAtOnce);
    const contents = some.map((one) => (reading.files.has(one.path) ? undefined : begunWith(one, reading)));
    for (const [index, one] of some.entries()) {
      // A known file without includes needs no await; there may be thousands.
      const begin = readFile(one, reading, contents[index]);
      const file = begin instanceof Promise ? await begin : begin;
      if (file === null) continue;
      if (isMissing(file)) missing.push(file);
      else files.push(file);
    }
  }
  return { files, missing };
};

const readAtOnce = 32;

const begunWith = (one: ScannedFile, { contentOf, scan }: Reading): MaybeLater<FileContent | null> => {
  const content = contentOf(one, scan.startedAt);
  if (content instanceof Promise) content.catch(() => undefined);
  return content;
};

const readFile = (
  scanned: ScannedFile,
  reading: Reading,
  begun?: MaybeLater<FileContent | null>,
): MaybeLater<SourceFile | Missing | null> => {
  const known = reading.files.get(scanned.path);
  if (known !== undefined) return known;
  const content = begun === undefined ? begunWith(scanned, reading) : begun;
  return content instanceof Promise
    ? content.then(
        (read) => withIncludes(scanned, reading, read),
        (error: unknown) => noted(scanned.path, reading, missingAt(scanned.path, error)),
      )
    : withIncludes(scanned, reading, content);
};

const withIncludes = (
  scanned: ScannedFile,
  reading: Reading,
  content: FileContent | null,
): MaybeLater<SourceFile | null> => {
  const { path } = scanned;
  if (content === null) return noted(path, reading, null);
  const includes = new Map<string, SourceFile | Missing>();
  const file = noted(path, reading, { ...content, path, isFragment: isFragmentPath(path), includes });
  reading.read.set(scanned, file);
  const texts = new Set(file.parsed.documents.flatMap(({ include }) => include.map(({ text }) => text)));
  return texts.size === 0 ? file : followIncludes(scanned, file, texts, includes, reading);
};

const noted = <T extends SourceFile | Missing | null>(path: string, { files }: Reading, file: T): T => {
  files.set(path, file);
  return file;
};

const followIncludes = async (
  { root, relative }: ScannedFile,
  file: SourceFile,
  texts: ReadonlySet<string>,
  includes: Map<string, SourceFile | Missing>,
  reading: Reading,
): Promise<SourceFile> => {
  for (const text of texts) {
    const target = includeTarget(root, relative, text, reading.scan.result.roots);
    includes.set(text, 'reason' in target ? target : await included(target.root, target.relative, reading));
  }
  return file;
};

const included = async (root: Root, relative: string, reading: Reading): Promise<SourceFile | Missing> => {
  const result = await findBelow(root, relative, reading.scan.result);
  reading.lookups.push({ root, relative, result });
  if ('reason' in result) return result;
  const file = await readFile(result, reading);
  return file ?? { path: result.path, reason: 'it has changed a moment ago, and may not be all of it yet' };
};

/** The file that an include means, in the directory of its own file or in another of those given; or why it means none. */
const includeTarget = (
  from: Root,
  relative: string,
  text: string,
  roots: readonly Root[],
): { readonly root: Root; readonly relative: string } | Missing => {
  const path = join(from.path, dirname(relative), text);
  const place = resolve(from.real, dirname(relative), text);
  const root = [from, ...roots].find(({ real }) => isWithin(place, [real]));
  if (isAbsolute(text) || root === undefined)
    return { path, reason: 'it is outside of the directories given as templates' };
  if (!/^_.*\.ya?ml$/.test(basename(place)))
    return { path, reason: 'a fragment is a YAML file whose name starts with `_`' };
  return { root, relative: relativeTo(root.real, place) };
};

/** A fragment below the root; a link may lead to another of the given paths. */
const findBelow = async (
  root: Root,
  relative: string,
  { realRoots, byReal }: Pick<ScanResult, 'realRoots' | 'byReal'>,
): Promise<ScannedFile | Missing> => {
  try {
    return await findFile(root, relative, [root.real, ...realRoots], byReal);
  } catch (error) {
    return missingAt(join(root.path, relative), error);
  }
};

const areUnchanged = async (
  lookups: readonly IncludeLookup[],
  { realRoots }: Pick<ScanResult, 'realRoots'>,
): Promise<boolean> => {
  for (const { root, relative, result } of lookups) {
    const byReal = new Map('reason' in result ? [] : [[result.real, result]]);
    if (!isSame(await findBelow(root, relative, { realRoots, byReal }), result)) return false;
  }
  return true;
};

const areSame = (one: ScanResult, other: ScanResult): boolean =>
  one.files.length === other.files.length &&
  one.missing.length === other.missing.length &&
  one.files.every((file, index) => isSame(file, other.files[index]!)) &&
  one.missing.every((missing, index) => isSame(missing, other.missing[index]!));

/** An unchanged file is the same object. */
const isSame = (one: ScannedFile | Missing, other: ScannedFile | Missing): boolean => {
  if ('reason' in one) return 'reason' in other && one.path === other.path && one.reason === other.reason;
  return one === other;
};
