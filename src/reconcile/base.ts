import { dataOf } from '../model/record.ts';
import type { ActualTemplate, DesiredState } from '../model/template.ts';
import { bindTemplates, type BoundTemplate } from '../plan/bind.ts';
import { recordKey } from '../plan/entry.ts';
import { noMemory } from '../plan/memory.ts';
import { planTemplate } from '../plan/plan.ts';
import { emptyRow } from './memory.ts';
import { noMemories, type MemoryReader, type SavedRecord, type StoredTemplate } from '../state/memory.ts';

/**
 * What a state would know if earlier files had been applied: the records that they describe, by what pairing finds of them
 * at the service. For the plan of a pull request, where no state is at hand.
 */
export const memoryOfBase = (
  { templates, unusable }: DesiredState,
  listing: Promise<readonly ActualTemplate[]>,
): MemoryReader => {
  const known = listing.then((actual) => {
    const bound = bindTemplates(templates, unusable, actual).filter((one) => 'actual' in one);
    return new Map(bound.map((one) => [one.actual.id, storedAs(one)]));
  });
  // Whoever reads the listing says why there is none.
  known.catch(() => undefined);
  return {
    ...noMemories,
    template: async (id) => (await known).get(id) ?? null,
    templates: async () => [...(await known).values()].map(({ row }) => row),
  };
};

const storedAs = ({ desired, actual }: BoundTemplate): StoredTemplate => {
  const { pairs, missing } = planTemplate({ desired, actual, memory: noMemory, isSuspicious: false });
  const records: SavedRecord[] = [
    ...pairs.map(({ desired: entry, actual: { record: own }, fields }) => ({
      key: recordKey(entry),
      wanted: dataOf(entry.record),
      recordId: own.id,
      // Where they differ, the service once had what the file wanted, and was changed since.
      seen: fields.length === 0 ? dataOf(own) : null,
    })),
    ...missing.map((entry) => ({
      key: recordKey(entry),
      wanted: dataOf(entry.record),
      cause: 'unknown' as const,
    })),
  ];
  const used = new Set(pairs.map(({ actual: { record } }) => record.id));
  const others = actual.records.map(({ id }) => id).filter((id) => !used.has(id));
  const { template, source } = desired;
  const row = { ...emptyRow, templateId: actual.id, template, file: source.file, preexistingIds: others };
  return { row, records };
};
