import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isAtRest, readRegularFileSync, timesMark } from '../regular-file.ts';
import { openCommittedFiles, type CommittedFiles } from './committed-files.ts';
import { checkouts } from './revision.ts';

/**
 * Whether a file in a checkout differs from its commit: edited since, or not part of it, whatever was added to git's
 * index. False if it cannot be determined. The function that it returns is for one pass.
 */
export const createUncommitted = (): (() => (file: string) => boolean) => {
  const contents = new Map<string, KnownContent>();
  const commits = new Map<string, CommittedFiles>();
  return () => {
    const checkoutAt = checkouts();
    const unreadable = new Set<string>();
    const differs = (file: string): boolean => {
      try {
        const real = realpathSync.native(file);
        const checkout = checkoutAt(real);
        if (checkout === null || unreadable.has(checkout.root)) return false;
        const { root, commit } = checkout;
        const known = commits.get(root);
        const committed = known?.commit === commit ? known : openCommittedFiles(checkout);
        commits.set(root, committed);
        const ids = contentIds(real, commit.length === 40 ? 'sha1' : 'sha256', contents);
        try {
          const id = committed.idOf(path.relative(root, real).split(path.sep));
          return id === null || !(ids.includes(id) || committed.isFiltered(id));
        } catch {
          unreadable.add(root);
        }
      } catch {
        // It is gone, or not a regular file.
      }
      return false;
    };
    const results = new Map<string, boolean>();
    return (file) => {
      const result = results.get(file) ?? differs(file);
      results.set(file, result);
      return result;
    };
  };
};

/** The ids that git gives to a content: as it is, and with the line ends that git stores. */
interface KnownContent {
  readonly print: string;
  readonly ids: readonly string[];
}

const contentIds = (
  file: string,
  algorithm: 'sha1' | 'sha256',
  contents: Map<string, KnownContent>,
): readonly string[] => {
  const stats = statSync(file, { bigint: true });
  const print = `${algorithm} ${timesMark(stats)}`;
  const known = contents.get(file);
  if (known?.print === print) return known.ids;
  const content = readRegularFileSync(file, largestFile);
  const idOf = (bytes: Buffer): string =>
    createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const ids = [idOf(content)];
  if (content.includes('\r\n'))
    ids.push(idOf(Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')));
  if (isAtRest(stats)) contents.set(file, { print, ids });
  return ids;
};

const largestFile = 8 * 1024 ** 2;
