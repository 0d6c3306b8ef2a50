import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path';
import {
  isMissing,
  type FileContent,
  type Missing,
  type SourceFile,
  type SourceFiles,
} from '../desired/source-file.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { isAtRest, readBeginning } from '../regular-file.ts';
import { findFile, scanFiles, missingAt, type ScanResult, type ScannedFile, type Root } from './scan.ts';
import { maxFileSize } from '../desired/text.ts';
import { isFragmentPath } from '../model/template.ts';

export interface Snapshot extends SourceFiles {
  /** What the snapshot was read from; null if the files kept changing. */
  readonly fingerprint: SnapshotFingerprint | null;
}

export interface Scan {
  readonly result: ScanResult;
  /** When the scan started, in ms since the epoch. */
  readonly startedAt: number;
}

/** What a snapshot was read from. */
export interface SnapshotFingerprint extends Scan {
  readonly lookups: readonly IncludeLookup[];
  /** Whether none of the files changed just before. */
  readonly isAtRest: boolean;
}

/** Parses contents, or returns the cached result. */
export interface ParseCache {
  readonly parse: (bytes: Buffer, isFragment: boolean) => Promise<FileContent>;
  /** The result for this very file. */
  readonly get?: (found: ScannedFile) => SourceFile | undefined;
  readonly set?: (found: ScannedFile, file: SourceFile) => void;
  /** The result for a content of this hash. */
  readonly known?: (hash: string) => FileContent | undefined;
}

const tries = 5;

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that;
 * if anything changed meanwhile (a link moved, a directory was swapped, a file was saved) it reads everything
 * again.
 */
export const readSnapshot = async (
  paths: readonly string[],
  cache: ParseCache,
  { cwd, first }: { readonly cwd?: string | undefined; readonly first?: Scan } = {},
): Promise<Snapshot> => {
  let scan = first ?? (await scanPaths(paths, { cwd }));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 0) {
      await sleep(backoffDelay(attempt, { first: 40, max: 320 }));
      scan = await scanPaths(paths, { cwd, before: scan.result });
    }
    const { result, startedAt } = scan;
    const reading: FileReading = { cache, scan: result, files: new Map(), lookups: [], startedAt };
    const { files, missing } = await readAll(reading);
    const { lookups } = reading;
    const again = await scanFiles(paths, result.byReal, cwd);
    if (!areSame(again, result) || !(await areUnchanged(lookups, again))) continue;
    const found = [...result.files, ...lookups.flatMap((one) => ('reason' in one.result ? [] : one.result))];
    const isResting = found.every(({ identity }) => isAtRest(identity, startedAt));
    return { files, missing, fingerprint: { result, startedAt, lookups, isAtRest: isResting } };
  }
  const reason = 'the files kept changing while they were read';
  return { files: [], missing: paths.map((path) => ({ path, reason })), fingerprint: null };
};

/** Lists the files without reading them; unchanged ones are the same objects as in `before`. */
export const scanPaths = async (
  paths: readonly string[],
  { cwd, before }: { readonly cwd?: string | undefined; readonly before?: ScanResult | undefined } = {},
): Promise<Scan> => {
  // Held against the times of files, which are by the clock of the system.
  const startedAt = Date.now();
  return { result: await scanFiles(paths, before?.byReal, cwd), startedAt };
};

/** Whether reading again would find the same files. */
export const isUnchanged = async (fingerprint: SnapshotFingerprint, { result }: Scan): Promise<boolean> =>
  fingerprint.isAtRest &&
  areSame(result, fingerprint.result) &&
  (await areUnchanged(fingerprint.lookups, result));

/** Whether a scan is newer than the snapshot and differs from it. */
export const isNewer = (fingerprint: SnapshotFingerprint, { result, startedAt }: Scan): boolean =>
  startedAt > fingerprint.startedAt && !areSame(result, fingerprint.result);

interface FileReading {
  readonly cache: ParseCache;
  readonly scan: ScanResult;
  /** By path. */
  readonly files: Map<string, SourceFile | Missing>;
  /** The files that includes named. */
  readonly lookups: IncludeLookup[];
  readonly startedAt: number;
}

interface IncludeLookup {
  readonly root: Root;
  readonly relative: string;
  readonly result: ScannedFile | Missing;
}

const readAll = async (reading: FileReading): Promise<SourceFiles> => {
  const { scan } = reading;
  const files: SourceFile[] = [];
  const missing = [...scan.missing];
  for (let from = 0; from < scan.files.length; from += readAtOnce) {
    const some = scan.files.slice(from, from + readAtOnce);
    const ready = some.map((one) => fromCache(one, reading) ?? begun(contentOf(one, reading)));
    for (const [index, one] of some.entries()) {
      const known = ready[index]!;
      const file = 'path' in known ? known : await readFile(one, reading, known);
      if (isMissing(file)) missing.push(file);
      else files.push(file);
    }
  }
  return { files, missing };
};

const readAtOnce = 32;

/** A cached file without includes needs no await; there may be thousands. */
const fromCache = (scanned: ScannedFile, { cache, files }: FileReading): SourceFile | null => {
  const file = files.has(scanned.path) ? undefined : cache.get?.(scanned);
  if (file === undefined || file.parsed.documents.some(({ include }) => include.length > 0)) return null;
  files.set(scanned.path, file);
  return file;
};

const begun = <T>(task: Promise<T>): Promise<T> => {
  task.catch(() => undefined);
  return task;
};

const readFile = async (
  scanned: ScannedFile,
  reading: FileReading,
  content?: Promise<FileContent>,
): Promise<SourceFile | Missing> => {
  const { path } = scanned;
  const known = reading.files.get(path);
  if (known !== undefined) return known;
  const file = await load(path, content ?? contentOf(scanned, reading));
  reading.files.set(path, file);
  if (isMissing(file)) return file;
  for (const { text } of file.parsed.documents.flatMap((document) => document.include)) {
    if (!file.includes.has(text)) file.includes.set(text, await included(scanned, text, reading));
  }
  if (isAtRest(scanned.identity, reading.startedAt)) reading.cache.set?.(scanned, file);
  return file;
};

const load = async (path: string, content: Promise<FileContent>): Promise<LoadedFile | Missing> => {
  try {
    return { ...(await content), path, isFragment: isFragmentPath(path), includes: new Map() };
  } catch (error) {
    return missingAt(path, error);
  }
};

const contentOf = async (scanned: ScannedFile, { cache }: FileReading): Promise<FileContent> =>
  cache.get?.(scanned) ?? cache.parse(await bytesOf(scanned), isFragmentPath(scanned.path));

/** Reads at most one byte more than allowed. */
const bytesOf = ({ real, identity }: ScannedFile): Promise<Buffer> =>
  readBeginning(real, maxFileSize + 1, identity);

const included = async (
  { root, relative }: ScannedFile,
  text: string,
  reading: FileReading,
): Promise<SourceFile | Missing> => {
  const target = includeTarget(root.path, relative, text);
  if (typeof target !== 'string') return target;
  const result = await findBelow(root, target, reading.scan);
  reading.lookups.push({ root, relative: target, result });
  return 'reason' in result ? result : readFile(result, reading);
};

/** The path below the root that an include means, or why it means none. */
export const includeTarget = (root: string, relative: string, text: string): string | Missing => {
  const target = normalize(join(dirname(relative), text));
  const path = join(root, target);
  if (isAbsolute(text) || target === '..' || target.startsWith(`..${sep}`)) {
    return { path, reason: 'it is outside the templates directory' };
  }
  if (!/^_.*\.ya?ml$/.test(basename(target))) {
    return { path, reason: 'a fragment is a YAML file whose name starts with `_`' };
  }
  return target;
};

interface LoadedFile extends SourceFile {
  readonly includes: Map<string, SourceFile | Missing>;
}

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
