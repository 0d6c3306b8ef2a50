import { createHash } from 'node:crypto';
import { realpathSync, statSync, type BigIntStats } from 'node:fs';
import path from 'node:path';
import { readRegularFileSync } from '../regular-file.ts';
import { parseIndex, type GitIndex, type IndexEntry } from './index-file.ts';
import { checkoutOf, type Checkout } from './revision.ts';

/**
 * Whether a file in a checkout differs from its commit: edited since, or never added. It reads git's index
 * and file times rather than running git, which is not always installed and executes what a repository's
 * settings say. False if it cannot be determined.
 */
export const createUncommitted = (): ((file: string) => boolean) => {
  const indexes = new Map<string, { readonly print: string; readonly index: GitIndex | null }>();
  const indexOf = (gitDir: string): GitIndex | null => {
    const file = path.join(gitDir, 'index');
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    const print = `${ino} ${size} ${mtimeNs}`;
    const known = indexes.get(gitDir);
    if (known?.print === print) return known.index;
    const index = parseIndex(readRegularFileSync(file, largestIndex));
    indexes.set(gitDir, { print, index });
    return index;
  };
  return (file) => {
    try {
      const real = realpathSync.native(file);
      const checkout = checkoutOf(real);
      const index = checkout && indexOf(checkout.gitDir);
      return checkout && index ? differs(real, checkout, index) : false;
    } catch {
      return false;
    }
  };
};

/** Bytes: the index of some 300,000 files. */
const largestIndex = 32 * 1024 ** 2;
const largestFile = 8 * 1024 ** 2;

const differs = (file: string, { root, gitDir }: Checkout, index: GitIndex): boolean => {
  const name = path.relative(root, file).split(path.sep).join('/');
  const entry = index.entries.get(name);
  if (entry === undefined) return true;
  const stats = statSync(file, { bigint: true });
  if (!isAsNoted(stats, entry, gitDir) && objectOf(file) !== entry.object) return true;
  const folder = path.posix.dirname(name);
  const wasAdded = index.isChanged(folder === '.' ? '' : folder);
  return wasAdded && stats.mtimeMs > lastMove(gitDir);
};

/** Like git, it reads a file that changed within the time resolution before the index was written. */
const isAsNoted = (
  { size, mtimeNs }: BigIntStats,
  { seconds, nanoseconds, size: noted }: IndexEntry,
  gitDir: string,
): boolean =>
  size === BigInt(noted) &&
  mtimeNs === BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds) &&
  mtimeNs < statSync(path.join(gitDir, 'index'), { bigint: true }).mtimeNs;

const objectOf = (file: string): string => {
  const content = readRegularFileSync(file, largestFile);
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
};

/** When another commit was last checked out or made. */
const lastMove = (gitDir: string): bigint => {
  const moved = statSync(path.join(gitDir, 'logs/HEAD'), { bigint: true, throwIfNoEntry: false });
  return (moved ?? statSync(path.join(gitDir, 'HEAD'), { bigint: true })).mtimeMs;
};
