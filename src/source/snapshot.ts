import { basename, dirname, isAbsolute, join, relative as relativeTo, resolve } from 'node:path';
import { isMissing, type FileContent, type Missing, type SourceFile } from '../desired/source-file.ts';
import { includesIn } from '../desired/parse-file.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { isFragmentPath } from '../model/template.ts';
import { isAtRest } from '../regular-file.ts';
import { findFile, isWithin, missingAt, type Root, type ScanResult, type ScannedFile } from './scan.ts';

export interface Snapshot<Taken extends TakenFile> extends Basis {
  readonly files: readonly SourceFile[];
  readonly missing: readonly Missing[];
  /** What was taken of each file and fragment that could be read, by its path. */
  readonly taken: ReadonlyMap<string, Taken>;
}

/** Where a snapshot was read from. */
export interface Basis {
  readonly scan: ScanResult;
  /** The files that includes named. */
  readonly lookups: readonly IncludeLookup[];
  /** Whether all that were found could be read: what could not, may be readable the next time, as it is. */
  readonly isRead: boolean;
}

/** What is taken of a file. */
export interface TakenFile {
  /** Null: it is not a file yet. */
  readonly version: { readonly content: FileContent } | null;
}

interface IncludeLookup {
  readonly root: Root;
  readonly relative: string;
  readonly found: ScannedFile | Missing;
}

export interface SnapshotOptions<Taken extends TakenFile> {
  readonly first: ScanResult;
  readonly scan: (before: ScanResult) => Promise<ScanResult>;
  readonly take: (file: ScannedFile, startedAt: number) => Promise<Taken>;
}

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that;
 * if anything changed meanwhile (a link moved, a directory was swapped, a file was saved) it reads everything
 * again. Null if they never stop changing.
 */
export const readSnapshot = async <Taken extends TakenFile>({
  first,
  scan,
  take,
}: SnapshotOptions<Taken>): Promise<Snapshot<Taken> | null> => {
  let found = first;
  for (let attempt = 1; ; attempt += 1) {
    const snapshot = await readAll(found, take);
    if (await isStill(snapshot, await scan(found))) return snapshot;
    if (attempt === tries) return null;
    await sleep(backoffDelay(attempt, { first: 40, max: 320 }));
    found = await scan(found);
  }
};

const tries = 5;

/** Whether reading again would find the same files: they are, and none was changed just before it was read. */
export const isUnchanged = async (basis: Basis, scan: ScanResult): Promise<boolean> => {
  const found = [...basis.scan.files, ...basis.lookups.map((one) => one.found)];
  return (
    basis.isRead &&
    found.every((one) => 'reason' in one || isAtRest(one.identity, basis.scan.startedAt)) &&
    isStill(basis, scan)
  );
};

/** An unchanged file is the same object in both scans. */
const isStill = async (
  { scan: { files, missing }, lookups }: Omit<Basis, 'isRead'>,
  again: ScanResult,
): Promise<boolean> => {
  const isSameScan =
    files.length === again.files.length &&
    missing.length === again.missing.length &&
    files.every((file, index) => file === again.files[index]) &&
    missing.every((one, index) => isSame(one, again.missing[index]!));
  if (!isSameScan) return false;
  for (const { root, relative, found } of lookups) {
    const byReal = new Map('reason' in found ? [] : [[found.real, found]]);
    if (!isSame(await findBelow(root, relative, { ...again, byReal }), found)) return false;
  }
  return true;
};

const isSame = (one: ScannedFile | Missing, other: ScannedFile | Missing): boolean => {
  if ('reason' in one) return 'reason' in other && one.path === other.path && one.reason === other.reason;
  return one === other;
};

const readAll = async <Taken extends TakenFile>(
  scan: ScanResult,
  take: SnapshotOptions<Taken>['take'],
): Promise<Snapshot<Taken>> => {
  const taken = new Map<string, Taken>();
  let isRead = true;
  /** By path; null: not a file yet. */
  const known = new Map<string, SourceFile | Missing | null>();
  const linking: { readonly from: ScannedFile; readonly file: SourceFile; readonly includes: Includes }[] =
    [];
  const read = async (from: ScannedFile): Promise<void> => {
    const { path } = from;
    try {
      const one = await take(from, scan.startedAt);
      taken.set(path, one);
      const includes: Includes = new Map();
      const isFragment = isFragmentPath(path);
      const file = one.version && { ...one.version.content, path, isFragment, includes };
      known.set(path, file);
      if (file !== null) linking.push({ from, file, includes });
    } catch (error) {
      isRead = false;
      known.set(path, missingAt(path, error));
    }
  };
  for (let from = 0; from < scan.files.length; from += readAtOnce)
    await Promise.all(scan.files.slice(from, from + readAtOnce).map(read));
  const lookups: IncludeLookup[] = [];
  const included = async (from: ScannedFile, text: string): Promise<SourceFile | Missing> => {
    const target = includeTarget(from, text, scan.roots);
    if ('reason' in target) return target;
    const found = await findBelow(target.root, target.relative, scan);
    lookups.push({ ...target, found });
    if ('reason' in found) return found;
    if (!known.has(found.path)) await read(found);
    const reason = 'it has changed a moment ago, and may not be all of it yet';
    return known.get(found.path) ?? { path: found.path, reason };
  };
  // The loop appends fragments to its own list, so deep includes need no recursion.
  for (const { from, file, includes } of linking)
    for (const text of file.parsed === null ? [] : includesIn(file.parsed))
      if (!includes.has(text)) includes.set(text, await included(from, text));
  const listed = scan.files.map(({ path }) => known.get(path) ?? null).filter((one) => one !== null);
  return {
    scan,
    files: listed.flatMap((one) => (isMissing(one) ? [] : one)),
    missing: [...scan.missing, ...listed.filter(isMissing)],
    taken,
    lookups,
    isRead,
  };
};

const readAtOnce = 32;

type Includes = Map<string, SourceFile | Missing>;

/** The file that an include means, in the directory of its own file or in another of those given; or why it means none. */
const includeTarget = (
  { root: own, relative }: ScannedFile,
  text: string,
  roots: readonly Root[],
): { readonly root: Root; readonly relative: string } | Missing => {
  const path = join(own.path, dirname(relative), text);
  const place = resolve(own.real, dirname(relative), text);
  const root = [own, ...roots].find(({ real }) => isWithin(place, [real]));
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
