import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { grownPause } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { readBeginning } from '../regular-file.ts';
import {
  findFile,
  findFiles,
  missingAt,
  type Found,
  type FoundFile,
  type Missing,
  type Root,
} from './find.ts';
import type { FileOutline } from './outline.ts';
import { maxFileSize } from './text.ts';

export interface SourceFile extends FileContent {
  /** As a person would name it: the path that was given, and the way from there. */
  readonly path: string;
  readonly isFragment: boolean;
  /** By the text of the include: the fragment, or why there is none. */
  readonly includes: ReadonlyMap<string, SourceFile | Missing>;
}

export interface Snapshot {
  readonly files: readonly SourceFile[];
  readonly missing: readonly Missing[];
  /** What the files were found to be; null where they never came to rest. */
  readonly witness: Witness | null;
}

export interface Look {
  readonly found: Found;
  /** Before that; ms since the epoch. */
  readonly lookedAt: number;
}

/** What a snapshot was read from. */
export interface Witness extends Look {
  readonly probes: readonly Probe[];
  /** When a file was changed last, in ms since the epoch. */
  readonly changedAt: number;
}

export interface FileContent {
  /** Of the bytes. */
  readonly hash: string;
  readonly outline: FileOutline;
  /** Of a file that includes no other, and whose outline is empty because nobody has asked for it yet. */
  readonly bytes?: Uint8Array;
}

/** What is made of contents, from memory where one has been seen before. */
export interface Outliner {
  readonly outline: (bytes: Buffer, isFragment: boolean) => Promise<FileContent>;
  /** What was made of this very file. */
  readonly recall?: (found: FoundFile) => SourceFile | undefined;
  readonly remember?: (found: FoundFile, file: SourceFile) => void;
}

/**
 * Milliseconds: a file that was changed so shortly before a look may change once more without looking different,
 * for file systems count time in steps.
 */
const restless = 2_000;

const tries = 5;

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that; if
 * anything was exchanged meanwhile (a link that moved, a directory swapped, a file saved) all is read again.
 */
export const readSnapshot = async (
  paths: readonly string[],
  outliner: Outliner,
  first?: Look,
): Promise<Snapshot> => {
  let look = first ?? (await lookAt(paths));
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 0) {
      await sleep(grownPause(attempt, { first: 40, max: 320 }));
      look = await lookAt(paths, look.found);
    }
    const { found, lookedAt } = look;
    const reading: FileReading = { outliner, found, files: new Map(), probes: [], lookedAt };
    const { files, missing } = await readAll(reading);
    const { probes } = reading;
    const again = await findFiles(paths, found.byReal);
    if (!areSame(again, found) || !(await areTrueStill(probes, again))) continue;
    const changedAt = Math.max(0, ...changesIn(found, probes));
    const witness = { found, lookedAt, probes, changedAt };
    return { files, missing, witness };
  }
  const reason = 'the files changed again and again while they were read';
  return { files: [], missing: paths.map((path) => ({ path, reason })), witness: null };
};

/** The files that there are, not read yet; those that are as they were found `before` are the same objects. */
export const lookAt = async (paths: readonly string[], before?: Found): Promise<Look> => {
  const lookedAt = Date.now();
  return { found: await findFiles(paths, before?.byReal), lookedAt };
};

/** Whether reading would find the very same files again that were read before. */
export const isTrueStill = async (witness: Witness, { found }: Look): Promise<boolean> =>
  witness.changedAt + restless < witness.lookedAt &&
  areSame(found, witness.found) &&
  (await areTrueStill(witness.probes, found));

const changesIn = ({ files }: Found, probes: readonly Probe[]): number[] => [
  ...files.map(({ changedAt }) => changedAt),
  ...probes.flatMap(({ result }) => ('reason' in result ? [] : result.changedAt)),
];

/** Whether a look saw something else than what was read, and came after that. */
export const isNews = (witness: Witness, { found, lookedAt }: Look): boolean =>
  lookedAt > witness.lookedAt && !areSame(found, witness.found);

export const isMissing = (file: SourceFile | Missing): file is Missing => 'reason' in file;

interface FileReading {
  readonly outliner: Outliner;
  readonly found: Found;
  /** By path. */
  readonly files: Map<string, SourceFile | Missing>;
  /** What includes asked for, beside what was found. */
  readonly probes: Probe[];
  readonly lookedAt: number;
}

interface Probe {
  readonly root: Root;
  readonly relative: string;
  readonly result: FoundFile | Missing;
}

const readAll = async (reading: FileReading): Promise<Pick<Snapshot, 'files' | 'missing'>> => {
  const { found } = reading;
  const files: SourceFile[] = [];
  const missing = [...found.missing];
  for (let from = 0; from < found.files.length; from += readAtOnce) {
    const some = found.files.slice(from, from + readAtOnce);
    const ready = some.map((one) => recalled(one, reading) ?? begun(contentOf(one, reading)));
    for (const [index, one] of some.entries()) {
      const known = ready[index]!;
      const file = 'path' in known ? known : await take(one, reading, known);
      if (isMissing(file)) missing.push(file);
      else files.push(file);
    }
  }
  return { files, missing };
};

const readAtOnce = 32;

/** A file that was read before and asks for no other: there may be thousands, and nothing to wait for. */
const recalled = (found: FoundFile, { outliner, files }: FileReading): SourceFile | null => {
  const file = files.has(found.path) ? undefined : outliner.recall?.(found);
  if (file === undefined || file.outline.documents.some(({ include }) => include.length > 0)) return null;
  files.set(found.path, file);
  return file;
};

const begun = <T>(task: Promise<T>): Promise<T> => {
  task.catch(() => undefined);
  return task;
};

const take = async (
  found: FoundFile,
  reading: FileReading,
  content?: Promise<FileContent>,
): Promise<SourceFile | Missing> => {
  const { path } = found;
  const known = reading.files.get(path);
  if (known !== undefined) return known;
  const file = await load(path, content ?? contentOf(found, reading));
  reading.files.set(path, file);
  if (isMissing(file)) return file;
  for (const { text } of file.outline.documents.flatMap((document) => document.include)) {
    if (!file.includes.has(text)) file.includes.set(text, await included(found, text, reading));
  }
  // What has not been changed for a while is what it was when it was read.
  if (found.changedAt + restless < reading.lookedAt) reading.outliner.remember?.(found, file);
  return file;
};

const load = async (path: string, content: Promise<FileContent>): Promise<LoadedFile | Missing> => {
  try {
    return { ...(await content), path, isFragment: isFragmentPath(path), includes: new Map() };
  } catch (error) {
    return missingAt(path, error);
  }
};

const isFragmentPath = (path: string): boolean => basename(path).startsWith('_');

const contentOf = async (found: FoundFile, { outliner }: FileReading): Promise<FileContent> =>
  outliner.recall?.(found) ?? outliner.outline(await bytesOf(found), isFragmentPath(found.path));

/** No more than what is enough to tell that it is too much. */
const bytesOf = ({ real, identity }: FoundFile): Promise<Buffer> =>
  readBeginning(real, maxFileSize + 1, identity);

const included = async (
  { root, relative }: FoundFile,
  text: string,
  reading: FileReading,
): Promise<SourceFile | Missing> => {
  const target = normalize(join(dirname(relative), text));
  const path = join(root.path, target);
  if (isAbsolute(text) || target === '..' || target.startsWith(`..${sep}`)) {
    return { path, reason: 'it is outside the templates directory' };
  }
  if (!/^_.*\.ya?ml$/.test(basename(target))) {
    return { path, reason: 'a fragment is a YAML file whose name starts with `_`' };
  }
  const result = await findBelow(root, target, reading.found);
  reading.probes.push({ root, relative: target, result });
  return 'reason' in result ? result : take(result, reading);
};

interface LoadedFile extends SourceFile {
  readonly includes: Map<string, SourceFile | Missing>;
}

/** A fragment below the root; a link may lead to another of the given paths. */
const findBelow = async (
  root: Root,
  relative: string,
  { realRoots, byReal }: Pick<Found, 'realRoots' | 'byReal'>,
): Promise<FoundFile | Missing> => {
  try {
    return await findFile(root, relative, [root.real, ...realRoots], byReal);
  } catch (error) {
    return missingAt(join(root.path, relative), error);
  }
};

const areTrueStill = async (
  probes: readonly Probe[],
  { realRoots }: Pick<Found, 'realRoots'>,
): Promise<boolean> => {
  for (const { root, relative, result } of probes) {
    const byReal = new Map('reason' in result ? [] : [[result.real, result]]);
    if (!isSame(await findBelow(root, relative, { realRoots, byReal }), result)) return false;
  }
  return true;
};

const areSame = (one: Found, other: Found): boolean =>
  one.files.length === other.files.length &&
  one.missing.length === other.missing.length &&
  one.files.every((file, index) => isSame(file, other.files[index]!)) &&
  one.missing.every((missing, index) => isSame(missing, other.missing[index]!));

/** What was found before and is as it was is the same object. */
const isSame = (one: FoundFile | Missing, other: FoundFile | Missing): boolean => {
  if ('reason' in one) return 'reason' in other && one.path === other.path && one.reason === other.reason;
  return one === other;
};
