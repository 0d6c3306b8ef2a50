import { realpathSync } from 'node:fs';
import path from 'node:path';
import { checkoutOf, commitOf, type Checkout } from './checkout.ts';

export interface CheckedOut extends Checkout {
  readonly commit: string;
}

/**
 * Finds the checkout that a real path is in, and its commit; null where there is none. Results are cached by folder,
 * so each pass makes a new one. It reads synchronously: these are a few small files, and a dozen awaits would take
 * longer.
 */
export const checkouts = (): ((real: string) => CheckedOut | null) => {
  const ofFolder = new Map<string, CheckedOut | null>();
  return (real) => {
    const folder = path.dirname(real);
    const known = ofFolder.get(folder);
    if (known !== undefined) return known;
    const found = checkedOutAt(real);
    ofFolder.set(folder, found);
    return found;
  };
};

const checkedOutAt = (real: string): CheckedOut | null => {
  try {
    const checkout = checkoutOf(real);
    const commit = checkout && commitOf(checkout);
    return checkout && commit !== null ? { ...checkout, commit } : null;
  } catch {
    return null;
  }
};

/** Finds the git commit of the checkout that a file is in, also in worktrees and behind git-sync's links. */
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
    return checkedOutAt(realpathSync.native(file))?.commit ?? null;
  } catch {
    return null;
  }
};
