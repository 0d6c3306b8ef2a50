import { readZone } from '../../../src/import/zone/read-zone.ts';
import { sortOut } from '../../../src/import/write.ts';
import { canonicalRecord } from '../../../src/model/canonical.ts';
import type { ActualRecord, RecordData } from '../../../src/model/record.ts';

export interface Held {
  /** By line. */
  readonly records: readonly ActualRecord[];
  readonly leftOut: readonly string[];
  readonly notes: readonly string[];
}

/** What a template can hold of a zone file, and what it cannot. */
export const heldOf = (...[text, origin, file]: Parameters<typeof readZone>): Held => {
  const { records, whyNot, notes } = readZone(text, origin, file);
  const { desired, remarks } = sortOut(records, {
    noun: 'line',
    whyNot: ({ record }) => whyNot.get(record.id) ?? null,
  });
  const held = desired.map(({ record }) => record).toSorted((a, b) => a.id - b.id);
  return { records: held, leftOut: remarks, notes };
};

/** In canonical form, whatever their order. */
export const shown = (records: readonly RecordData[]): string[] =>
  records.map((record) => JSON.stringify({ ...canonicalRecord(record), ttl: record.ttl })).sort();
