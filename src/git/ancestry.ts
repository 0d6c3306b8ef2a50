import { realpathSync } from 'node:fs';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { Ancestry } from '../model/published.ts';
import { checkoutOf } from './checkout.ts';
import { openObjects, type GitObject, type ObjectReader } from './objects.ts';

/** How the commit of a file's checkout stands to another one, by what its git directory has. */
export const ancestryIn = async (file: string, commit: string, other: string): Promise<Ancestry> => {
  if (commit === other) return 'same';
  let objects: ObjectReader | null = null;
  try {
    const checkout = checkoutOf(realpathSync.native(file));
    if (checkout === null) return 'unknown';
    objects = openObjects(checkout.gitDir, commit);
    return await ancestry(objects, commit, other);
  } catch {
    return 'unknown';
  } finally {
    objects?.close();
  }
};

/** Looks back from both by turns: mostly one is a few commits before the other. */
const ancestry = async (objects: ObjectReader, commit: string, other: string): Promise<Ancestry> => {
  const [back, forth] = [walk(objects, commit, other), walk(objects, other, commit)];
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

const walk = (objects: ObjectReader, from: string, to: string): { step: () => WalkState } => {
  const waiting = [from];
  const seen = new Set(waiting);
  let at = 0;
  let isLost = false;
  return {
    step: () => {
      const id = waiting[at];
      if (id === undefined || at >= maxCommits) return isLost || id !== undefined ? 'lost' : 'ended';
      at += 1;
      const parents = parentsIn(objects.read(id));
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

/** The headers of a commit end at its first empty line. Null without a commit. */
const parentsIn = (object: GitObject | null): string[] | null => {
  if (object?.kind !== 'commit') return null;
  const headers = object.content.toString('latin1').split('\n\n', 1)[0] ?? '';
  return [...headers.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
};

/** Far more than lie between two publications. */
const maxCommits = 50_000;
