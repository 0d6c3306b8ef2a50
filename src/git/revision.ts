import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { readRegularFileSync } from '../regular-file.ts';

/**
 * Finds the git commit of the checkout that a file is in, also in worktrees and behind git-sync's links; null
 * outside of a checkout. Results are cached by folder, so each pass makes a new one. It reads synchronously:
 * these are a few small files, and a dozen awaits would take longer.
 */
export const createRevisions = (): ((file: string) => string | null) => {
  const ofFolder = new Map<string, string | null>();
  return (file) => {
    const folder = path.dirname(file);
    const known = ofFolder.get(folder);
    if (known !== undefined) return known;
    const found = revisionOf(file);
    ofFolder.set(folder, found);
    return found;
  };
};

const revisionOf = (file: string): string | null => {
  try {
    const checkout = checkoutOf(realpathSync.native(file));
    return checkout && commitOf(checkout.gitDir, textOf(path.join(checkout.gitDir, 'HEAD')));
  } catch {
    return null;
  }
};

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

const commitOf = (gitDir: string, head: string): string | null => {
  if (isCommit(head)) return head;
  const ref = head.replace(/^ref: /, '');
  const shared = path.resolve(gitDir, textIfThere(path.join(gitDir, 'commondir')) || '.');
  const loose = textIfThere(path.join(shared, ref));
  if (isCommit(loose)) return loose;
  const packed = textIfThere(path.join(shared, 'packed-refs'));
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  return line ? line.slice(0, line.indexOf(' ')) : null;
};

const isCommit = (value: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value);

const textIfThere = (file: string): string =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? textOf(file) : '';

const textOf = (file: string): string => readRegularFileSync(file, largestFile).toString('utf8').trim();

/** Bytes: the packed references of some 500,000 branches and tags. */
const largestFile = 32 * 1024 ** 2;
