import { realpathSync } from 'node:fs';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { Ancestry } from '../model/published.ts';
import { openCommits, type CommitReader } from './objects.ts';
import { checkoutOf } from './revision.ts';

/** How the commit of a file's checkout stands to another one, by what its git directory has. */
export const ancestryIn = async (file: string, commit: string, other: string): Promise<Ancestry> => {
  if (commit === other) return 'same';
  let commits: CommitReader | null = null;
  try {
    const checkout = checkoutOf(realpathSync.native(file));
    if (checkout === null) return 'unknown';
    commits = openCommits(checkout.gitDir);
    return await ancestry(commits, commit, other);
  } catch {
    return 'unknown';
  } finally {
    commits?.close();
  }
};

/** Looks back from both by turns: mostly one is a few commits before the other. */
const ancestry = async (commits: CommitReader, commit: string, other: string): Promise<Ancestry> => {
  const [back, forth] = [walk(commits, commit, other), walk(commits, other, commit)];
  for (;;) {
    const [one, two] = [back.step(), forth.step()];
    if (one === 'found') return 'descends';
    if (two === 'found') return 'precedes';
    if (one === 'lost' || two === 'lost') {
      // What is missing may lead there, but what can be seen is searched to its end.
      if (one !== 'walking' && two !== 'walking') return 'unknown';
    } else if (one === 'ended' && two === 'ended') return 'unrelated';
    if (isYieldDue()) await yieldToOthers();
  }
};

type WalkState = 'walking' | 'found' | 'ended' | 'lost';

const walk = (commits: CommitReader, from: string, to: string): { step: () => WalkState } => {
  const waiting = [from];
  const seen = new Set(waiting);
  let at = 0;
  let isLost = false;
  return {
    step: () => {
      const id = waiting[at];
      if (id === undefined || at >= maxCommits) return isLost || id !== undefined ? 'lost' : 'ended';
      at += 1;
      const parents = commits.parentsOf(id);
      isLost ||= parents === null;
      for (const parent of parents ?? []) {
        if (parent === to) return 'found';
        if (!seen.has(parent)) waiting.push(parent);
        seen.add(parent);
      }
      return 'walking';
    },
  };
};

/** Far more than lie between two publications. */
const maxCommits = 50_000;
