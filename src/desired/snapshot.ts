import { createReadStream } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import {
  findFile,
  findFiles,
  reasonOf,
  type Found,
  type FoundFile,
  type Missing,
  type Root,
} from './find.ts';
import type { FileOutline } from './outline.ts';
import { maxFileSize } from './text.ts';

export interface SourceFile {
  /** As a person would name it: the path that was given, and the way from there. */
  readonly path: string;
  readonly isFragment: boolean;
  /** Of the content. */
  readonly hash: string;
  readonly outline: FileOutline;
  /** By the text of the include: the fragment, or why there is none. */
  readonly includes: ReadonlyMap<string, SourceFile | Missing>;
}

export interface Snapshot {
  readonly files: readonly SourceFile[];
  readonly missing: readonly Missing[];
}

/** Outlines a file's content, from memory where it has been seen before. */
export type Outliner = (bytes: Buffer, isFragment: boolean) => { hash: string; outline: FileOutline };

const tries = 5;

/**
 * Reads all files as they were at one moment. Each root is resolved once and everything is read below that; if
 * anything was exchanged meanwhile (a link that moved, a directory swapped, a file saved) all is read again.
 */
export const readSnapshot = async (paths: readonly string[], outliner: Outliner): Promise<Snapshot> => {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    if (attempt > 0) await setTimeout(20 * 2 ** attempt);
    const found = await findFiles(paths);
    const reading: Reading = { outliner, files: new Map(), probes: [] };
    const snapshot = await readAll(found, reading);
    const isTrueStill = fingerprint(await findFiles(paths)) === fingerprint(found);
    if (isTrueStill && (await areTrueStill(reading.probes))) return snapshot;
  }
  const reason = 'the files changed again and again while they were read';
  return { files: [], missing: paths.map((path) => ({ path, reason })) };
};

export const isMissing = (file: SourceFile | Missing): file is Missing => 'reason' in file;

interface Reading {
  readonly outliner: Outliner;
  /** By path. */
  readonly files: Map<string, SourceFile | Missing>;
  /** What includes asked for, beside what was found. */
  readonly probes: Probe[];
}

interface Probe {
  readonly root: Root;
  readonly relative: string;
  readonly result: FoundFile | Missing;
}

const readAll = async (found: Found, reading: Reading): Promise<Snapshot> => {
  const files: SourceFile[] = [];
  const missing = [...found.missing];
  for (const one of found.files) {
    const file = await take(one, reading);
    if (isMissing(file)) missing.push(file);
    else files.push(file);
  }
  return { files, missing };
};

const take = async (found: FoundFile, reading: Reading): Promise<SourceFile | Missing> => {
  const path = join(found.root.path, found.relative);
  const known = reading.files.get(path);
  if (known !== undefined) return known;
  const file = await load(found, path, reading.outliner);
  reading.files.set(path, file);
  if (isMissing(file)) return file;
  for (const { text } of file.outline.documents.flatMap((document) => document.include)) {
    file.includes.set(text, await included(found, text, reading));
  }
  return file;
};

const load = async (found: FoundFile, path: string, outliner: Outliner): Promise<LoadedFile | Missing> => {
  const isFragment = basename(path).startsWith('_');
  try {
    const bytes = await buffer(createReadStream(found.real, { end: maxFileSize }));
    return { path, isFragment, ...outliner(bytes, isFragment), includes: new Map() };
  } catch (error) {
    return { path, reason: reasonOf(error) };
  }
};

const included = async (
  { root, relative }: FoundFile,
  text: string,
  reading: Reading,
): Promise<SourceFile | Missing> => {
  const target = normalize(join(dirname(relative), text));
  const path = join(root.path, target);
  if (isAbsolute(text) || target === '..' || target.startsWith(`..${sep}`)) {
    return { path, reason: 'it is outside the templates directory' };
  }
  if (!/^_.*\.ya?ml$/.test(basename(target))) {
    return { path, reason: 'a fragment is a YAML file whose name starts with `_`' };
  }
  const result = await findBelow(root, target);
  reading.probes.push({ root, relative: target, result });
  return 'reason' in result ? result : take(result, reading);
};

interface LoadedFile extends SourceFile {
  readonly includes: Map<string, SourceFile | Missing>;
}

/** A fragment below the root, also when links are followed. */
const findBelow = async (root: Root, relative: string): Promise<FoundFile | Missing> => {
  const path = join(root.path, relative);
  try {
    const found = await findFile(root, relative);
    const isInside = found.real.startsWith(root.real.endsWith(sep) ? root.real : root.real + sep);
    return isInside ? found : { path, reason: 'it leads outside the templates directory' };
  } catch (error) {
    return { path, reason: reasonOf(error) };
  }
};

const areTrueStill = async (probes: readonly Probe[]): Promise<boolean> => {
  for (const { root, relative, result } of probes) {
    if (stateOf(await findBelow(root, relative)) !== stateOf(result)) return false;
  }
  return true;
};

const fingerprint = ({ files, missing }: Found): string => [...files, ...missing].map(stateOf).join('\n');

const stateOf = (state: FoundFile | Missing): string =>
  'reason' in state
    ? `${state.path}: ${state.reason}`
    : `${state.root.real} ${state.relative} ${state.signature}`;
