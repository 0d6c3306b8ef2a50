import { canonicalName } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { modes, type DesiredTemplate } from '../model/template.ts';

/** What a version of a file says, as far as half of it could say less. */
export interface Extent {
  /** The templates that it is part of. */
  readonly templates: ReadonlySet<string>;
  /** The number of records in each record set, by template and set. */
  readonly sets: ReadonlyMap<string, number>;
  /** What keeps the program from writing: by template. */
  readonly restraints: ReadonlyMap<string, string>;
  readonly records: ReadonlySet<string>;
  /** The last record of the file itself; null without any. */
  readonly last: string | null;
}

/** What a file says, by all templates that were read. */
export const extentOf = (all: readonly DesiredTemplate[], file: string): Extent => {
  const templates = all.filter((one) => one.source.file === file || one.fragments?.includes(file));
  const sets = new Map<string, number>();
  const restraints = new Map<string, string>();
  const records = new Set<string>();
  let last: { readonly at: number; readonly key: string } | null = null;
  for (const { template, mode, ignore, records: own } of templates) {
    for (const stricter of modes.slice(1, modes.indexOf(mode) + 1))
      restraints.set(`${template}\n${stricter}`, template);
    for (const rule of ignore) restraints.set(`${template}\n${JSON.stringify(rule)}`, template);
    for (const record of own) {
      const set = `${template}\n${record.type} ${canonicalName(record.name)}`;
      sets.set(set, (sets.get(set) ?? 0) + 1);
      const key = keyOf(template, record);
      records.add(key);
      const { source } = record;
      const at = source.line * longestLine + source.column;
      if (source.file === file && at >= (last?.at ?? 0)) last = { at, key };
    }
  }
  const names = new Set(templates.map(({ template }) => template));
  return { templates: names, sets, restraints, records, last: last?.key ?? null };
};

/** Longer ones stand in no order. */
const longestLine = 2 ** 24;

const keyOf = (template: string, { type, name, content, priority, ttl }: RecordData): string =>
  JSON.stringify([template, type, name, content, priority, ttl]);

/** What a version lacks of an earlier one. */
export interface Lack {
  /** Record sets that have fewer records, by template and set. */
  readonly sets: readonly string[];
  /** Whether it may write what the earlier one kept it from: the rest may still come. */
  readonly isUnrestrained: boolean;
  /** Whether its last record is none that the earlier one had: it may be the beginning of one. */
  readonly endsAnew: boolean;
}

/** Null if it lacks nothing. */
export const lackOf = (before: Extent, now: Extent): Lack | null => {
  const sets = [...before.sets].flatMap(([set, count]) => ((now.sets.get(set) ?? 0) < count ? set : []));
  // A template that is gone, or has an error, writes nothing.
  const isUnrestrained = [...before.restraints].some(
    ([restraint, template]) => now.templates.has(template) && !now.restraints.has(restraint),
  );
  if (sets.length === 0 && !isUnrestrained) return null;
  return { sets, isUnrestrained, endsAnew: now.last !== null && !before.records.has(now.last) };
};
