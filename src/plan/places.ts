import { canonicalName } from '../model/canonical.ts';
import { compareText, type ActualEntry } from './entry.ts';
import type { PlanMemory } from './memory.ts';
import { isParkedName } from './parked.ts';
import { bareName } from './spelling.ts';

/** The name in the file at which a record stands, however the service spells it; '' for the subdomain itself. */
export interface Places {
  readonly ofName: (name: string) => string;
  readonly of: (actual: ActualEntry) => string;
}

/**
 * A service may store names in its own spelling. The names that it stored for sent names show that spelling; it may append
 * the ending that it appended to most of them to any name. A placeholder or a final dot alone makes no other name.
 */
export const placesIn = ({ byId }: Pick<PlanMemory, 'byId'>): Places => {
  const endings = new Map<string, number>();
  for (const { recordId, wanted, keptName, seen } of byId.values()) {
    // A parked one shows it as well: it may be the last that does.
    const isParked = seen?.name?.startsWith('_parked-') === true;
    if (!isParked && (keptName === null || wanted.name === keptName)) continue;
    const ending = isParked
      ? endingOf(`_parked-${recordId}`, canonicalName(seen.name))
      : endingOf(canonicalName(wanted.name), keptName!);
    if (ending !== null) endings.set(ending, (endings.get(ending) ?? 0) + 1);
  }
  const [common] = [...endings].toSorted((a, b) => b[1] - a[1] || compareText(a[0], b[0]));
  const ofName = (name: string): string => {
    if (isParkedName(name)) return name;
    const ending = common?.[0];
    if (ending !== undefined && `.${name}`.endsWith(ending)) return `.${name}`.slice(1, -ending.length);
    return bareName(name);
  };
  return {
    ofName,
    of: ({ name, record }) => {
      const known = byId.get(record.id);
      return known?.keptName === name && !isParkedName(name)
        ? bareName(canonicalName(known.wanted.name))
        : ofName(name);
    },
  };
};

const endingOf = (sent: string, kept: string): string | null => {
  if (sent === kept) return null;
  if (sent === '') return isParkedName(kept) ? null : `.${kept}`;
  return kept.startsWith(`${sent}.`) ? kept.slice(sent.length) : null;
};
