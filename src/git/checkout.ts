import { statSync } from 'node:fs';
import path from 'node:path';
import { readRegularFileSync } from '../regular-file.ts';

/*
 * Checkouts are read without git, which is not always installed, refuses the repositories of other users, and executes
 * what a repository's settings say. Its files may be hostile: only regular ones are read, up to a size.
 */

/** A folder and its git directory. */
export interface Checkout {
  readonly root: string;
  readonly gitDir: string;
}

/** The checkout that a real path is in; null outside of one. */
export const checkoutOf = (file: string): Checkout | null => {
  const root = path.dirname(file);
  const candidate = path.join(root, '.git');
  const found = statSync(candidate, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { root, gitDir: candidate };
  // A worktree has a file that names its git directory.
  if (found?.isFile())
    return { root, gitDir: path.resolve(root, textOf(candidate).replace(/^gitdir: /, '')) };
  return root === file ? null : checkoutOf(root);
};

/** The directory of what all worktrees share. */
export const sharedDirectoryOf = (gitDir: string): string =>
  path.resolve(gitDir, textIfThere(path.join(gitDir, 'commondir')) || '.');

/** The commit that is checked out; null before the first one. */
export const commitOf = ({ gitDir }: Checkout): string | null => {
  const head = textOf(path.join(gitDir, 'HEAD'));
  if (isCommit(head)) return head;
  const ref = head.replace(/^ref: /, '');
  if (!/^refs\/(?!.*\.\.)[!-~]+$/.test(ref)) return null;
  const shared = sharedDirectoryOf(gitDir);
  const loose = textIfThere(path.join(shared, ref));
  if (isCommit(loose)) return loose;
  const packed = textIfThere(path.join(shared, 'packed-refs'));
  const commit =
    packed
      .split('\n')
      .find((one) => one.endsWith(` ${ref}`))
      ?.split(' ')[0] ?? '';
  return isCommit(commit) ? commit : null;
};

/** In repositories with SHA-1 or SHA-256. */
const isCommit = (value: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value);

/** Empty if there is none. */
export const textIfThere = (file: string): string =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? textOf(file) : '';

const textOf = (file: string): string => readRegularFileSync(file, largestFile).toString('utf8').trim();

/** Bytes: the packed references of some 500,000 branches and tags. */
const largestFile = 32 * 1024 ** 2;
