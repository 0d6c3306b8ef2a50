import { canonicalName } from '../model/canonical.ts';
import { compareText, type ActualEntry } from './entry.ts';
import { groupBy } from './group.ts';
import { bareName } from './like.ts';
import type { PlanMemory } from './memory.ts';
import { isParkedName } from './parked.ts';

/** All canonical names under which the service may store a name of the file. */
export type KeptNames = (name: string) => readonly string[];

/**
 * A service may store names in its own spelling. The names that it stored for sent names show that spelling; it
 * may append the ending that it appended to most of them to any name. The name of a record beside those of the file
 * that differs by a placeholder or a final dot alone may be its spelling. Any other name is somebody else's.
 */
export const keptNamesOf = ({ byId }: PlanMemory, unpaired: readonly ActualEntry[]): KeptNames => {
  const spellings = new Map<string, Set<string>>();
  const respelled = groupBy(
    unpaired.filter(({ name }) => bareName(name) !== name),
    ({ name }) => bareName(name),
  );
  const endings = new Map<string, number>();
  for (const { desired, keptName: kept } of byId.values()) {
    if (kept === undefined || desired.name === kept) continue;
    const sent = canonicalName(desired.name);
    if (sent === kept || isParkedName(kept)) continue;
    spellings.set(sent, (spellings.get(sent) ?? new Set()).add(kept));
    const ending = endingOf(sent, kept);
    if (ending !== null) endings.set(ending, (endings.get(ending) ?? 0) + 1);
  }
  if (spellings.size === 0 && respelled.size === 0) return (name) => [name];
  const [common] = [...endings].toSorted((a, b) => b[1] - a[1] || compareText(a[0], b[0]));
  return (name) => [
    ...new Set([
      name,
      ...(spellings.get(name) ?? []),
      ...(common ? [withEnding(name, common[0])] : []),
      ...(respelled.get(name) ?? []).map((entry) => entry.name),
    ]),
  ];
};

const endingOf = (sent: string, kept: string): string | null => {
  if (sent === '') return `.${kept}`;
  return kept.startsWith(`${sent}.`) ? kept.slice(sent.length) : null;
};

const withEnding = (name: string, ending: string): string => (name === '' ? ending.slice(1) : name + ending);
