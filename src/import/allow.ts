import { allowableChecks, type AllowableCheck } from '../desired/check-id.ts';
import type { Problem } from '../model/template.ts';

/** The checks that are switched off for each new entry of a file. */
export type Allow<Entry> = Map<Entry, readonly AllowableCheck[]>;

/**
 * Switches off what objects to new entries: for each its first problem, which may be the reason for its others. False if
 * nothing was left to switch off.
 */
export const switchOff = <Entry>(
  problems: readonly Problem[],
  entryAt: (problem: Problem) => Entry | undefined,
  allow: Allow<Entry>,
): boolean => {
  const settled = new Set<Entry>();
  for (const problem of problems) {
    const entry = entryAt(problem);
    if (entry === undefined || settled.has(entry)) continue;
    const known = allow.get(entry) ?? [];
    const allowed = allowableChecks.filter((one) => one === problem.check || known.includes(one));
    if (allowed.length === known.length) continue;
    allow.set(entry, allowed);
    settled.add(entry);
  }
  return settled.size > 0;
};
