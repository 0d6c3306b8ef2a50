import { basename, dirname, isAbsolute, join, relative as relativeTo, resolve } from 'node:path';
import { includesIn, isMissing, type Missing, type SourceFile } from '../desired/parse-file.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { sameElements } from '../lib/same-elements.ts';
import { sleep } from '../lib/sleep.ts';
import { isFragmentPath } from '../model/template.ts';
import {
  filesIn,
  findFile,
  isWithin,
  missingAt,
  sameMissing,
  type Found,
  type Root,
  type Scan,
  type ScannedFile,
} from './scan.ts';
import type { Taken } from './uploads.ts';

export interface Snapshot extends Places {
  readonly files: readonly SourceFile[];
  readonly missing: readonly Missing[];
  /** What was taken of each file and fragment that could be read, by its path. */
  readonly taken: ReadonlyMap<string, Taken>;
  /** Whether all that were found could be read: what could not, may be readable the next time, as it is. */
  readonly isRead: boolean;
}

/** Where a snapshot was read from. */
export interface Places {
  readonly scan: Scan;
  /** The fragments that the scan has not listed, by path. */
  readonly included: ReadonlyMap<string, Included>;
}

interface Included {
  readonly root: Root;
  readonly relative: string;
  readonly found: Found;
}

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that;
 * if anything changed meanwhile (a link moved, a directory was swapped, a file was saved) it reads everything
 * again. Null if they never stop changing.
 */
export const readSnapshot = async (
  before: Places,
  rescan: (known: Scan) => Promise<Scan>,
  take: (file: ScannedFile, startedAt: number) => Promise<Taken>,
): Promise<Snapshot | null> => {
  let { scan } = before;
  for (let attempt = 1; ; attempt += 1) {
    const snapshot = await readAll({ ...before, scan }, take);
    if (await isStill(snapshot, await rescan(scan))) return snapshot;
    if (attempt === tries) return null;
    await sleep(backoffDelay(attempt, { first: 40, max: 320 }));
    scan = await rescan(scan);
  }
};

const tries = 5;

/** Whether another scan found the same files, and the other fragments are where they were. */
export const isStill = async ({ scan, included }: Places, again: Scan): Promise<boolean> => {
  if (!sameElements([...scan.found.values()], [...again.found.values()])) return false;
  for (const { root, relative, found } of included.values())
    if ((await fragmentAt(root, relative, again, found)) !== found) return false;
  return true;
};

const readAll = async (
  { scan, included: before }: Places,
  take: (file: ScannedFile, startedAt: number) => Promise<Taken>,
): Promise<Snapshot> => {
  const taken = new Map<string, Taken>();
  const included = new Map<string, Included>();
  /** By path; null: not a file yet. */
  const known = new Map<string, SourceFile | Missing | null>();
  const linking: { readonly from: ScannedFile; readonly file: SourceFile; readonly includes: Includes }[] =
    [];
  let isRead = true;
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
  const listed = filesIn(scan);
  for (let from = 0; from < listed.length; from += readAtOnce)
    await Promise.all(listed.slice(from, from + readAtOnce).map(read));
  const include = async (from: ScannedFile, text: string): Promise<SourceFile | Missing> => {
    const target = includeTarget(from, text, scan.roots);
    if ('reason' in target) return target;
    const { root, relative } = target;
    const path = join(root.path, relative);
    let found = scan.found.get(path) ?? included.get(path)?.found;
    if (found === undefined) {
      found = await fragmentAt(root, relative, scan, before.get(path)?.found);
      included.set(path, { root, relative, found });
    }
    if ('reason' in found) return found;
    if (!known.has(path)) await read(found);
    const reason = 'it has changed a moment ago, and may not be all of it yet';
    return known.get(path) ?? { path, reason };
  };
  // The loop appends fragments to its own list, so deep includes need no recursion.
  for (const { from, file, includes } of linking)
    for (const text of file.parsed === null ? [] : includesIn(file.parsed))
      if (!includes.has(text)) includes.set(text, await include(from, text));
  const all = [...scan.found.values()].map((one) => ('reason' in one ? one : (known.get(one.path) ?? null)));
  const there = all.filter((one) => one !== null);
  const files = there.flatMap((one) => (isMissing(one) ? [] : one));
  return { scan, included, files, missing: there.filter(isMissing), taken, isRead };
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
const fragmentAt = async (
  root: Root,
  relative: string,
  { realRoots }: Scan,
  before?: Found,
): Promise<Found> => {
  try {
    return await findFile(root, relative, [root.real, ...realRoots], before);
  } catch (error) {
    return sameMissing(missingAt(join(root.path, relative), error), before);
  }
};
