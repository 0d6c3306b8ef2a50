import { canonicalName } from '../model/canonical.ts';
import { pushTo } from './group.ts';
import type { TemplateMemory } from './memory.ts';
import { isParkedName } from './parked.ts';

/** All names, in canonical form, under which the service may keep what the file calls by one. */
export type KeptNames = (name: string) => readonly string[];

/**
 * A service may keep names in a spelling of its own. What it made of names that it was sent tells that spelling, and
 * an ending that it gave to one of them it may give to any.
 */
export const keptNamesOf = ({ byId }: TemplateMemory): KeptNames => {
  const spellings = new Map<string, string[]>();
  const endings = new Set<string>();
  for (const { wanted, seen } of byId.values()) {
    if (wanted.name === seen.name) continue;
    const [sent, kept] = [canonicalName(wanted.name), canonicalName(seen.name)];
    if (sent === kept || isParkedName(kept)) continue;
    pushTo(spellings, sent, kept);
    const ending = endingOf(sent, kept);
    if (ending !== null) endings.add(ending);
  }
  if (spellings.size === 0) return (name) => [name];
  return (name) => [
    ...new Set([
      name,
      ...(spellings.get(name) ?? []),
      ...[...endings].map((ending) => withEnding(name, ending)),
    ]),
  ];
};

const endingOf = (sent: string, kept: string): string | null => {
  if (sent === '') return `.${kept}`;
  return kept.startsWith(`${sent}.`) ? kept.slice(sent.length) : null;
};

const withEnding = (name: string, ending: string): string => (name === '' ? ending.slice(1) : name + ending);
