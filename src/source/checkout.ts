import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { readRegularFileSync } from '../regular-file.ts';

/*
 * Checkouts are read without git, which is not always installed, refuses the repositories of other users, and executes
 * what a repository's settings say. Its files may be hostile: only regular ones are read, up to a size. They are a few
 * small files, read synchronously: a dozen awaits would take longer.
 */

/** A folder that git has checked out, and the commit; null before the first one. */
export interface Checkout {
  readonly root: string;
  readonly commit: string | null;
}

/**
 * Finds the checkout that a file or folder is in, also in worktrees and behind git-sync's links; null where there is none
 * that can be read. Results are kept by folder, so each look at the files makes a new one.
 */
export const openCheckouts = (): ((file: string) => Checkout | null) => {
  const ofFolder = new Map<string, Checkout | null>();
  return (file) => {
    const folder = path.dirname(file);
    const known = ofFolder.get(folder);
    if (known !== undefined) return known;
    const found = checkoutOf(file);
    ofFolder.set(folder, found);
    return found;
  };
};

const checkoutOf = (file: string): Checkout | null => {
  try {
    return checkoutAbove(realpathSync.native(file));
  } catch {
    return null;
  }
};

const checkoutAbove = (real: string): Checkout | null => {
  const root = path.dirname(real);
  const candidate = path.join(root, '.git');
  const found = statSync(candidate, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { root, commit: commitIn(candidate) };
  // A worktree has a file that names its git directory.
  if (found?.isFile())
    return { root, commit: commitIn(path.resolve(root, textOf(candidate).replace(/^gitdir: /, ''))) };
  return root === real ? null : checkoutAbove(root);
};

const commitIn = (gitDir: string): string | null => {
  const head = textOf(path.join(gitDir, 'HEAD'));
  if (isCommit(head)) return head;
  const ref = head.replace(/^ref: /, '');
  if (!/^refs\/(?!.*\.\.)[!-~]+$/.test(ref)) return null;
  // What all worktrees share.
  const shared = path.resolve(gitDir, textIfThere(path.join(gitDir, 'commondir')) || '.');
  const loose = textIfThere(path.join(shared, ref));
  if (isCommit(loose)) return loose;
  const packed = textIfThere(path.join(shared, 'packed-refs')).split('\n');
  const commit = packed.find((one) => one.endsWith(` ${ref}`))?.split(' ')[0] ?? '';
  return isCommit(commit) ? commit : null;
};

/** In repositories with SHA-1 or SHA-256. */
const isCommit = (value: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value);

/** Empty if there is none. */
const textIfThere = (file: string): string =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? textOf(file) : '';

const textOf = (file: string): string => readRegularFileSync(file, largestFile).toString('utf8').trim();

/** Bytes: the packed references of some 500,000 branches and tags. */
const largestFile = 32 * 1024 ** 2;
