import type { FileContent, Missing, SourceFile } from '../desired/source-file.ts';
import { join, resolve } from 'node:path';
import type { PublishedFile } from '../model/published.ts';
import { isFragmentPath } from '../model/template.ts';
import type { Root } from './scan.ts';
import { includeTarget, type Snapshot } from './snapshot.ts';

/** Fetches contents by their hashes. Throws if one is not there any more. */
export type FetchContents = (hashes: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>;

/** Parses contents, or returns what is known of a hash. */
export interface ParseCache {
  readonly parse: (bytes: Buffer, isFragment: boolean) => Promise<FileContent>;
  readonly known: (hash: string) => FileContent | undefined;
}

/** Files as their source had them, with its paths and with what it could not read. */
export const readPublished = async (
  files: readonly PublishedFile[],
  contents: FetchContents,
  cache: ParseCache,
): Promise<Snapshot> => {
  const parsed = await parseAll(files, contents, cache);
  const read = new Map<string, ReadFile | Missing>();
  for (const { path, root, relative, content } of files)
    read.set(
      path,
      'hash' in content
        ? {
            root,
            relative,
            file: {
              ...parsed.get(content.hash)!,
              path,
              isFragment: isFragmentPath(path),
              includes: new Map<string, SourceFile | Missing>(),
            },
          }
        : { path, reason: content.reason, ...(content.isOutside ? { isOutside: true } : {}) },
    );
  const roots = [...new Set(files.flatMap(({ root }) => (root === '' ? [] : root)))].map(rootAt);
  for (const one of read.values()) if ('file' in one) findIncludes(one, read, roots);
  const listed = files.filter(({ isListed }) => isListed).flatMap(({ path }) => read.get(path) ?? []);
  return {
    files: listed.flatMap((one) => ('file' in one ? one.file : [])),
    missing: listed.flatMap((one) => ('file' in one ? [] : one)),
    read: new Map(),
    basis: null,
  };
};

interface ReadFile {
  readonly root: string;
  readonly relative: string;
  readonly file: SourceFile & { readonly includes: Map<string, SourceFile | Missing> };
}

/** Where its source has it. */
const rootAt = (path: string): Root => ({ path, real: resolve(path) });

const findIncludes = (
  { root, relative, file }: ReadFile,
  read: ReadonlyMap<string, ReadFile | Missing>,
  roots: readonly Root[],
): void => {
  for (const { text } of file.parsed.documents.flatMap((document) => document.include)) {
    const target = includeTarget(rootAt(root), relative, text, roots);
    if ('reason' in target) {
      file.includes.set(text, target);
      continue;
    }
    const path = join(target.root.path, target.relative);
    const found = read.get(path) ?? { path, reason: 'it does not exist' };
    file.includes.set(text, 'file' in found ? found.file : found);
  }
};

/** By their hashes. */
const parseAll = async (
  files: readonly PublishedFile[],
  contents: FetchContents,
  cache: ParseCache,
): Promise<ReadonlyMap<string, FileContent>> => {
  const parsed = new Map<string, FileContent>();
  const unknown: { hash: string; size: number; isFragment: boolean }[] = [];
  for (const { path, content } of files) {
    if (!('hash' in content) || parsed.has(content.hash)) continue;
    const known = cache.known(content.hash);
    if (known) parsed.set(content.hash, known);
    else unknown.push({ ...content, isFragment: isFragmentPath(path) });
  }
  for (const batch of batchesOf(unknown)) {
    const fetched = await contents([...new Set(batch.map(({ hash }) => hash))]);
    for (const { hash, isFragment } of batch)
      parsed.set(hash, await cache.parse(fetched.get(hash) ?? Buffer.alloc(0), isFragment));
  }
  return parsed;
};

const batchesOf = <One extends { readonly size: number }>(all: readonly One[]): One[][] => {
  const batches: One[][] = [];
  let left = 0;
  for (const one of all) {
    if (batches.length === 0 || one.size > left) {
      batches.push([]);
      left = batchSize;
    }
    batches.at(-1)!.push(one);
    left -= one.size;
  }
  return batches;
};

/** Bytes that are fetched at once. */
const batchSize = 8 * 1_024 ** 2;
