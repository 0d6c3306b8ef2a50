import { createHash } from 'node:crypto';
import { basename, dirname, isAbsolute, join, relative as relativeTo, resolve } from 'node:path';
import {
  includesIn,
  maxFileSize,
  parseFile,
  type FileContent,
  type Missing,
  type SourceFile,
} from '../desired/parse-file.ts';
import { backoffDelay } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { isFragmentPath } from '../model/template.ts';
import { isAtRest, readBeginning } from '../regular-file.ts';
import {
  eachInTurn,
  filesIn,
  findIncluded,
  isSame,
  isSameScan,
  isWithin,
  missingAt,
  type Included,
  type Root,
  type Scan,
  type ScannedFile,
} from './scan.ts';

/** What a file said when it was read. */
export interface Version {
  readonly file: ScannedFile;
  readonly content: FileContent;
  /** Whether a later write changes its times. */
  readonly isAtRest: boolean;
  /** Whether it ends with a newline. */
  readonly endsLine: boolean;
  /** Whether it ends with a bracket, before that: what stands in brackets is whole. */
  readonly endsBracket: boolean;
}

/** All files as they were at one moment. */
export interface Snapshot {
  readonly scan: Scan;
  /** By path, also of fragments. */
  readonly versions: ReadonlyMap<string, Version>;
  /** Files that were found, and could not be read. */
  readonly unread: ReadonlyMap<string, Missing>;
}

/** The bytes to take for those of a file, by its path, each time anew. */
export type ReadFile = (path: string, readFile: () => Promise<Buffer>) => Promise<Buffer>;

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that; if anything
 * changed meanwhile (a link moved, a directory was swapped, a file was saved) it reads everything again. Null if they never
 * stop changing. Of the `known` versions those at rest need not be read, and what they include is read too.
 */
export const readSnapshot = async (
  first: Scan,
  rescan: (known: Scan) => Promise<Scan>,
  known: ReadonlyMap<string, Version | null>,
  readFile?: ReadFile,
): Promise<Snapshot | null> => {
  let scan = first;
  for (let attempt = 1; ; attempt += 1) {
    const snapshot = await readAll(scan, known, readFile);
    if (isSameScan(snapshot.scan, await rescan(snapshot.scan))) return snapshot;
    if (attempt === tries) return null;
    await sleep(backoffDelay(attempt, { first: 40, max: 320 }));
    scan = await rescan(scan);
  }
};

const tries = 5;

const readAll = async (
  found: Scan,
  known: ReadonlyMap<string, Version | null>,
  readFile?: ReadFile,
): Promise<Snapshot> => {
  const versions = new Map<string, Version>();
  const unread = new Map<string, Missing>();
  const included = new Map<string, Included>();
  const scan = { ...found, included };
  const read = async (file: ScannedFile): Promise<void> => {
    const { path } = file;
    try {
      const before = known.get(path) ?? null;
      const isKnown = before?.isAtRest && isSame(before.file, file) && readFile === undefined;
      versions.set(path, isKnown ? before : await versionOf(file, scan.startedAt, before, readFile));
    } catch (error) {
      unread.set(path, missingAt(path, error));
    }
  };
  await eachInTurn(filesIn(scan), read);
  const follow = async (including: (Version | null)[]): Promise<void> => {
    // The loop appends fragments to its own list, so deep includes need no recursion.
    for (const version of including) {
      if (!version?.content.parsed) continue;
      for (const text of includesIn(version.content.parsed)) {
        const target = includeTarget(version.file, text, scan);
        const { path } = target;
        if ('reason' in target || scan.found.has(path) || included.has(path)) continue;
        const one = await findIncluded(target.root, target.relative, scan);
        included.set(path, one);
        if ('reason' in one.found) continue;
        await read(one.found);
        including.push(versions.get(path) ?? null);
      }
    }
  };
  await follow([...versions.values()]);
  // The version before it may stand.
  await follow([...known.values()]);
  return { scan, versions, unread };
};

/** Reads a file, at most one byte more than allowed. Throws if it is not that file any more. */
const versionOf = async (
  file: ScannedFile,
  startedAt: number,
  before: Version | null,
  readFile: ReadFile = (_, read) => read(),
): Promise<Version> => {
  const { path, real, identity } = file;
  const bytes = await readFile(path, () => readBeginning(real, maxFileSize + 1, identity));
  // A template and a fragment of the same text are two.
  const isFragment = isFragmentPath(path);
  const hash = hashOf(bytes, isFragment);
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 100));
  return {
    file,
    content: before?.content.hash === hash ? before.content : contentOf(hash, bytes, isFragment),
    isAtRest: isAtRest(identity, startedAt),
    endsLine: end.endsWith('\n'),
    endsBracket: /[}\]]\s*$/.test(end),
  };
};

const hashOf = (bytes: Uint8Array, isFragment: boolean): string =>
  createHash('sha256')
    .update(isFragment ? '_' : ' ')
    .update(bytes)
    .digest('base64');

/** Whether a file says now what it said. It is read by its path: a link may lead elsewhere by now. */
export const saysTheSame = async ({ file, content }: Version, cwd: string): Promise<boolean> => {
  const bytes = await readBeginning(resolve(cwd, file.path), maxFileSize + 1).catch(() => null);
  return bytes !== null && hashOf(bytes, isFragmentPath(file.path)) === content.hash;
};

/** A file with includes has to be parsed to find them; other files can wait. */
const contentOf = (hash: string, bytes: Buffer, isFragment: boolean): FileContent =>
  isFragment || mayInclude(bytes)
    ? { hash, parsed: parseFile(bytes, isFragment), bytes: noBytes }
    : { hash, parsed: null, bytes };

/** The bytes of a file are in its templates once it is resolved. */
export const withoutBytes = (version: Version | null): Version | null =>
  version && { ...version, content: { ...version.content, bytes: noBytes } };

const noBytes = new Uint8Array();

/** Letters of a key can also be written as escapes, `\\x69`. */
const mayInclude = (bytes: Buffer): boolean =>
  ['include', '\\x', '\\u', '\\U', '\\\n', '\\\r'].some((text) => bytes.includes(text));

/** The file that an include means, in the directory of its own file or in another of those given; or why it means none. */
const includeTarget = (
  { root: own, relative }: ScannedFile,
  text: string,
  { roots }: Scan,
): { readonly root: Root; readonly relative: string; readonly path: string } | Missing => {
  const path = join(own.path, dirname(relative), text);
  const place = resolve(own.real, dirname(relative), text);
  const root = [own, ...roots].find(({ real }) => isWithin(place, [real]));
  if (isAbsolute(text) || root === undefined)
    return { path, reason: 'it is outside of the directories given as templates' };
  if (!/^_.*\.ya?ml$/.test(basename(place)))
    return { path, reason: 'a fragment is a YAML file whose name starts with `_`' };
  const below = relativeTo(root.real, place);
  return { root, relative: below, path: join(root.path, below) };
};

/**
 * The files with their fragments, and what could not be read, in the order of their paths. `taken`: the versions to take
 * of the files; null: it is not a file yet.
 */
export const sourceFiles = (
  { scan, unread }: Snapshot,
  taken: ReadonlyMap<string, Version | null>,
): readonly (SourceFile | Missing)[] => {
  const known = new Map<string, SourceFile | Missing | null>(unread);
  const linking: { readonly version: Version; readonly includes: Map<string, SourceFile | Missing> }[] = [];
  for (const [path, version] of taken) {
    const includes = new Map<string, SourceFile | Missing>();
    known.set(path, version && { ...version.content, path, isFragment: isFragmentPath(path), includes });
    if (version?.content.parsed) linking.push({ version, includes });
  }
  const fileAt = (path: string): SourceFile | Missing | null => {
    const found = scan.found.get(path) ?? scan.included.get(path)?.found;
    return found && 'reason' in found ? found : (known.get(path) ?? null);
  };
  const reason = 'it has changed a moment ago, and may not be all of it yet';
  for (const { version, includes } of linking)
    for (const text of includesIn(version.content.parsed!)) {
      const target = includeTarget(version.file, text, scan);
      const { path } = target;
      includes.set(text, 'reason' in target ? target : (fileAt(path) ?? { path, reason }));
    }
  return [...scan.found.keys()].flatMap((path) => fileAt(path) ?? []);
};
