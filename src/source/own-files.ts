import { isFragmentPath } from '../model/template.ts';
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { isMissing, type FileContent, type Missing, type SourceFile } from '../desired/source-file.ts';
import type { Ancestry, PublishedFile, PublishedFiles, PublishedMissing } from '../model/published.ts';
import { isAtRest, readBeginning } from '../regular-file.ts';
import type { ScannedFile } from './scan.ts';
import { openCheckouts } from './checkout.ts';
import { bytesOf, contentHash, contentOf } from './content.ts';
import { isUnchanged, readSnapshot, scanPaths, type Basis, type Snapshot } from './snapshot.ts';
import { maxFileSize } from '../desired/text.ts';

/** The template files of this machine, to be published for others. Unchanged files are not read again. */
export interface OwnTemplateFiles {
  /** As they are at one moment; null if a given path leads nowhere, or they keep changing. */
  readonly read: () => Promise<PublishedFiles | null>;
  /** What was read under this hash. Throws if the file has another content now. */
  readonly contentOf: (hash: string) => Promise<Buffer>;
  /** How two commits stand to each other, by the checkout that the files are in. */
  readonly ancestry: (commit: string, other: string) => Promise<Ancestry>;
}

/** Relative paths start from `cwd`. */
export const openOwnFiles = (paths: readonly string[], cwd = ''): OwnTemplateFiles => {
  let last: LastReading | null = null;
  const found = new Map<string, ScannedFile>();
  const readAnew = async (): Promise<LastReading | null> => {
    const scan = await scanPaths(paths, cwd, last?.basis.result);
    if (last && (await isUnchanged(last.basis, scan))) return last;
    const before = last?.sources;
    const sources = new Map<ScannedFile, FileContent>();
    const read = async (file: ScannedFile, startedAt: number): Promise<FileContent> => {
      const bytes = await bytesOf(file);
      const isFragment = isFragmentPath(file.path);
      const { hash, parsed } = await contentOf(contentHash(bytes, isFragment), bytes, isFragment);
      if (isAtRest(file.identity, startedAt)) sources.set(file, { hash, parsed });
      return { hash, parsed };
    };
    const snapshot = await readSnapshot(
      paths,
      (file, startedAt) => {
        const known = before?.get(file);
        if (known === undefined) return read(file, startedAt);
        sources.set(file, known);
        return known;
      },
      { cwd, first: scan },
    );
    const { basis, missing } = snapshot;
    if (basis === null || missing.some(({ path }) => paths.includes(path))) return null;
    const files = filesIn(snapshot, basis, found);
    return { basis, sources, files, digest: digestOf(files) };
  };
  return {
    read: async () => {
      last = await readAnew();
      if (last === null) return null;
      const { files, digest } = last;
      const readable = files.flatMap(({ path, content }) => ('hash' in content ? path : []));
      const checkoutOf = openCheckouts();
      const revisions = new Set(readable.map((file) => checkoutOf(resolve(cwd, file))?.commit ?? null));
      return { files, digest, revision: revisions.size === 1 ? [...revisions][0]! : null, uncommitted: [] };
    },
    contentOf: async (hash) => {
      const file = found.get(hash);
      if (file === undefined) throw new Error('it was never read');
      const bytes = await readBeginning(file.real, maxFileSize + 1, file.identity);
      if (contentHash(bytes, isFragmentPath(file.path)) !== hash)
        throw new Error(`${file.path} changed while it was published`);
      return bytes;
    },
    ancestry: (commit, other) => Promise.resolve(commit === other ? 'same' : 'unknown'),
  };
};

interface LastReading {
  readonly basis: Basis;
  readonly sources: ReadonlyMap<ScannedFile, FileContent>;
  readonly files: readonly PublishedFile[];
  readonly digest: string;
}

/** Also notes where each content was found. */
const filesIn = (
  { files, missing }: Snapshot,
  { result, lookups }: Basis,
  found: Map<string, ScannedFile>,
): PublishedFile[] => {
  const read = new Map<string, SourceFile | Missing>(missing.map((one) => [one.path, one]));
  for (const file of files) addWithIncludes(file, read);
  found.clear();
  const published = new Map<string, PublishedFile>();
  const add = (file: ScannedFile, root: string, relative: string, isListed: boolean): void => {
    const path = join(root, relative);
    const one = read.get(path);
    if (one === undefined || published.has(path)) return;
    const content = isMissing(one)
      ? reasonOf(one)
      : { hash: one.hash, size: Math.min(file.size, maxFileSize + 1) };
    if (!isMissing(one)) found.set(one.hash, file);
    published.set(path, { path, root, relative, isListed, content });
  };
  for (const file of result.files) add(file, file.root.path, file.relative, true);
  for (const one of result.missing)
    published.set(one.path, {
      path: one.path,
      root: '',
      relative: '',
      isListed: true,
      content: reasonOf(one),
    });
  for (const { root, relative, result: target } of lookups) {
    const path = join(root.path, relative);
    if (!('reason' in target)) add(target, root.path, relative, false);
    else if (!published.has(path))
      published.set(path, { path, root: root.path, relative, isListed: false, content: reasonOf(target) });
  }
  return [...published.values()];
};

const addWithIncludes = (file: SourceFile, read: Map<string, SourceFile | Missing>): void => {
  if (read.get(file.path) === file) return;
  read.set(file.path, file);
  for (const included of file.includes.values()) {
    if (!isMissing(included)) addWithIncludes(included, read);
    else if (!read.has(included.path)) read.set(included.path, included);
  }
};

const reasonOf = ({ reason, isOutside }: Missing): PublishedMissing => ({
  reason,
  isOutside: isOutside ?? false,
});

/** The same wherever the files are mounted, and for whomever they cannot be read. */
const digestOf = (files: readonly PublishedFile[]): string => {
  const roots = [...new Set(files.map(({ root }) => root))];
  const lines = files.map(({ root, relative, isListed, content }) => [
    roots.indexOf(root),
    relative,
    isListed,
    'hash' in content ? content.hash : null,
  ]);
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
};
