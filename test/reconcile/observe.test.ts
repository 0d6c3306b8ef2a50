import { expect, test } from 'vitest';
import { edit, openMemory } from '../../src/memory/memory.ts';
import { observe } from '../../src/memory/observe.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { noMemory } from '../../src/plan/memory.ts';
import { planTemplate } from '../../src/plan/plan.ts';
import type { RecordState } from '../../src/state/memory.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { rowOf, recordData, rememberedRecord } from '../state/samples.ts';

const record = recordData();
const key = recordKey(entryOf(record));

/** What is known of `record`, which the file dropped, after a pass that read this template. */
const knownAfter = (known: RecordState, actual: readonly string[]): RecordState | undefined => {
  const memory = openMemory({ row: rowOf(), records: [known] }, rowOf());
  const desired = desiredTemplate(['@ A 192.0.2.1']);
  const reading = actualTemplate(actual);
  const plan = planTemplate({ desired, actual: reading, memory: noMemory });
  const at = 700_000;
  const seen = { actual: reading, desiredKeys: new Set<string>(), from: at, to: at, settle: 30_000 };
  return edit(memory, (draft) => observe(draft, plan, seen)).records.get(key);
};

/** Of two records that adds of one desired record made, the first was missed earlier. */
const addedTwice = rememberedRecord(key, {
  recordId: 5,
  copies: [6],
  missedAt: 0,
  failure: null,
  rewritten: null,
});

test.each<[string, readonly string[], boolean]>([
  ['both', ['#1 @ A 192.0.2.1', '#5 www A 203.0.113.10', '#6 www.example A 203.0.113.10'], true],
  ['the first', ['#1 @ A 192.0.2.1', '#5 www A 203.0.113.10'], true],
  ['the second', ['#1 @ A 192.0.2.1', '#6 www.example A 203.0.113.10'], true],
  ['none', ['#1 @ A 192.0.2.1'], false],
])(
  'the state of a dropped record is kept while a reading shows %s of its records: %j: %s',
  (_, actual, isKept) => {
    expect(knownAfter(addedTwice, actual) !== undefined).toBe(isKept);
  },
);

test.each([
  ['an add of it is found in no reading', 'unknown', 1, true],
  ['no add of it was sent', 'unknown', 0, false],
] as const)('what is gone and no file wants any more is remembered where %s', (_, kind, adds, isKept) => {
  const failure = { kind, message: '', count: 1, sent: record, retryAt: 0, pause: 1_000 };
  const known = rememberedRecord(key, { recordId: 5, missedAt: 0, failure, adds, rewritten: null });
  const kept = knownAfter(known, ['#1 @ A 192.0.2.1']);
  expect(kept).toEqual(isKept ? { ...known, recordId: null, seen: null, missedAt: null } : undefined);
});
