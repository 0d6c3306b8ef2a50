import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  HistoryFilter,
  MemoryChanges,
  NewEntry,
  RecordState,
  SavedRecord,
} from '../../src/state/memory.ts';
import {
  changesOf,
  finish,
  instant,
  newEntry,
  recordData,
  rememberedRecord,
  rowOf,
  type OpenedMemory,
  historyOf,
} from './samples.ts';

/** Opens the memory of one client in a store that is empty at first; closed when the test ends. */
export type OpenStore = (name?: string) => Promise<OpenedMemory>;

const byKey = (a: SavedRecord, b: SavedRecord): number => (a.key < b.key ? -1 : 1);

/** What every store has to do. */
export const memoryContract = (newStore: () => Promise<OpenStore>): void => {
  describe('the saved state', () => {
    it('is empty at first, and complete, field by field, after the file is opened again', async () => {
      const open = await newStore();
      const first = await open();
      expect(await first.template(17)).toBeNull();
      expect(await first.journal()).toEqual([]);
      const row = rowOf({
        suspectIds: [3, 4],
        preexistingIds: [9],
        otherIds: [11],
        unlistedIds: [12],
        lastReading: { digest: 'x', since: instant(5) },
        reportedDrift: ['a'],
        lastWriteAt: 1_763_679_600_123,
      });
      const records = [rememberedRecord('A www  1'), rememberedRecord('TXT  "it\'s"')];
      await first.save(changesOf({ row, records }));
      const entry = await first.begin(
        newEntry({ before: recordData({ ttl: 60 }), recordId: 7, action: 'update' }),
      );
      await first.close();

      const second = await open();
      const template = await second.template(17);
      expect(template?.row).toEqual(row);
      expect(template?.records.toSorted(byKey)).toEqual(records);
      expect(await second.templates()).toEqual([row]);
      expect(await second.journal()).toEqual([entry]);
    });

    it('keeps what is suspended, by whom and until when, until somebody resumes it', async () => {
      const open = await newStore();
      const memory = await open();
      expect(await memory.suspensions()).toEqual([]);
      const web = { template: 'web', templateId: 17 };
      const mail = { template: 'mail', templateId: null };
      const asked = { by: 'ann', reason: 'moving "www"', duration: null };
      expect(await memory.suspend({ ...asked, templates: [web, mail] })).toMatchObject([web, mail]);
      await memory.suspend({ by: 'bob', reason: 'new host', duration: 3_600_000, templates: [web] });
      await memory.close();

      const other = await open();
      const found = await other.suspensions();
      expect(found).toHaveLength(3);
      const ofBob = found.find(({ by }) => by === 'bob')!;
      expect(ofBob).toEqual({
        ...web,
        by: 'bob',
        reason: 'new host',
        since: ofBob.since,
        until: ofBob.since + 3_600_000,
      });
      expect(found.filter(({ by }) => by === 'ann').map(({ template, until }) => [template, until])).toEqual([
        ['mail', null],
        ['web', null],
      ]);
      expect(await (await open('another client')).suspensions()).toEqual([]);
      // The name may be that of another template by now.
      expect(await other.resume([{ template: 'web', templateId: 18 }])).toEqual([]);
      // By its id it is found under another name, too.
      expect(await other.resume([{ template: 'renamed', templateId: 17 }])).toHaveLength(2);
      expect(await other.resume([web])).toEqual([]);
      expect((await other.suspensions()).map(({ template }) => template)).toEqual(['mail']);
    });

    it('suspends a client, once for everybody, and forgets what has run out', async () => {
      const memory = await (await newStore())();
      await memory.suspend({ by: 'ann', reason: 'first', duration: null, templates: null });
      await memory.suspend({ by: 'ann', reason: 'second', duration: 60_000, templates: null });
      await memory.suspend({ by: 'bob', reason: 'over', duration: 0, templates: null });
      const found = await memory.suspensions();
      expect(found.map(({ template, templateId, reason }) => [template, templateId, reason])).toEqual([
        [null, null, 'second'],
      ]);
      expect(await memory.resume(null)).toEqual(found);
      expect(await memory.suspensions()).toEqual([]);
    });

    it('equals a plain map after any changes', async () => {
      const key = fc.constantFrom('a', 'b', 'c', "d'); DROP TABLE records; --");
      const change = fc.record({
        templateId: fc.constantFrom(1, 2),
        records: fc.uniqueArray(fc.record({ key, adds: fc.nat(3) }), { selector: (one) => one.key }),
        forgotten: fc.uniqueArray(key),
      });
      const open = await newStore();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (all) => {
          const memory = await open(`client ${(runs += 1)}`);
          const expected = new Map<number, Map<string, SavedRecord>>();
          for (const { templateId, records, forgotten } of all) {
            const changes: MemoryChanges = changesOf({
              row: rowOf({ templateId }),
              records: records.map(({ key: name, adds }) => rememberedRecord(name, { adds })),
              forgotten,
            });
            await memory.save(changes);
            const known = expected.get(templateId) ?? new Map<string, SavedRecord>();
            for (const name of forgotten) known.delete(name);
            for (const record of changes.records) known.set(record.key, record);
            expected.set(templateId, known);
          }
          for (const [templateId, known] of expected) {
            const found = (await memory.template(templateId))?.records.toSorted(byKey);
            expect(found).toEqual([...known.values()].toSorted(byKey));
          }
        }),
        { numRuns: 25 },
      );
    });
  });

  describe('entries of the journal', () => {
    it('are open, in order, until they are finished together with their changes', async () => {
      const memory = await (await newStore())();
      const one = await memory.begin(newEntry());
      const two = await memory.begin(newEntry({ key: 'another' }));
      expect(one.id).not.toBe(two.id);
      expect(await memory.journal()).toEqual([one, two]);

      const records = [rememberedRecord(one.key, { recordId: 12 })];
      await finish(memory, one, { outcome: 'applied', recordId: 12, error: null }, changesOf({ records }));
      expect(await memory.journal()).toEqual([two]);
      expect((await memory.template(17))?.records).toEqual(records);
      expect(await historyOf(memory)).toMatchObject([{ outcome: 'applied', recordId: 12, after: one.after }]);
    });

    it('are changed in place, each by its id', async () => {
      const memory = await (await newStore())();
      const one = await memory.begin(newEntry());
      const two = await memory.begin(newEntry({ key: 'another' }));
      const known = { ...two, state: 'accepted', recordId: 12, stored: recordData({ ttl: 60 }) } as const;
      await memory.save({ ...changesOf({ entries: [known] }), row: null });
      expect(await memory.journal()).toEqual([one, known]);
    });

    it('are noted once, also if they are finished again', async () => {
      const memory = await (await newStore())();
      const entry = await memory.begin(newEntry());
      // Whoever lost the connection cannot know that it was finished.
      for (const recordId of [12, 13])
        await finish(
          memory,
          entry,
          { outcome: 'applied', recordId: 12, error: null },
          changesOf({ records: [rememberedRecord('a', { recordId })] }),
        );
      expect(await historyOf(memory)).toMatchObject([{ recordId: 12 }]);
      expect((await memory.template(17))?.records).toMatchObject([{ recordId: 13 }]);
    });

    it('are noted also if the store has lost them', async () => {
      const memory = await (await newStore())();
      const entry = { ...(await memory.begin(newEntry())), id: 4_711 };
      await finish(memory, entry, { outcome: 'applied', recordId: 12, error: null }, changesOf());
      expect(await historyOf(memory)).toMatchObject([{ recordId: 12 }]);
    });

    it('finish completely or not at all', async () => {
      const memory = await (await newStore())();
      const entry = await memory.begin(newEntry());
      const unstorable = { ...rememberedRecord('a'), adds: 1n } as unknown as RecordState;
      const result = { outcome: 'applied', recordId: 1, error: null } as const;
      await expect(finish(memory, entry, result, changesOf({ records: [unstorable] }))).rejects.toThrow(
        'BigInt',
      );
      expect(await memory.journal()).toEqual([entry]);
      expect(await historyOf(memory)).toEqual([]);
      expect(await memory.template(17)).toBeNull();
    });

    it('never reuse the id of a finished one', async () => {
      const open = await newStore();
      const first = await open();
      const entry = await first.begin(newEntry());
      await finish(first, entry, { outcome: 'failed', recordId: null, error: 'x' }, changesOf());
      await first.close();
      expect((await (await open()).begin(newEntry())).id).toBeGreaterThan(entry.id);
    });
  });

  describe('history', () => {
    const write = async (
      entries: readonly (Partial<NewEntry> & { at?: number } & { outcome?: 'applied' | 'failed' })[],
    ) => {
      const memory = await (await newStore())();
      for (const [index, { outcome = 'applied', ...changes }] of entries.entries())
        await finish(
          memory,
          await memory.begin(newEntry({ run: `run-${index}`, ...changes })),
          { outcome, recordId: 3, error: null },
          changesOf(),
        );
      return memory;
    };

    it('starts with the oldest, also after the clock was set back, and can be filtered', async () => {
      const memory = await write([
        { at: 3_000, template: 'one', outcome: 'failed' },
        { at: 1_000, template: 'one' },
        { at: 2_000, template: 'two', outcome: 'failed' },
      ]);
      const at = async (filter: Partial<HistoryFilter>): Promise<number[]> =>
        (await historyOf(memory, filter)).map((entry) => entry.at);
      expect(await at({ templates: ['one'] })).toEqual([1_000, 3_000]);
      expect(await at({ templates: [] })).toEqual([1_000, 2_000, 3_000]);
      expect(await at({ since: 2_000 })).toEqual([2_000, 3_000]);
      expect(await at({ templates: ['one'], limit: 1 })).toEqual([3_000]);
      expect(await at({ outcome: 'failed', templates: ['one'], since: 1 })).toEqual([3_000]);
    });

    const day = 86_400_000;
    it('is kept for 90 days', async () => {
      const memory = await write([{ at: 0 }, { at: day }, { at: 91 * day - 1 }]);
      expect((await historyOf(memory)).map(({ at }) => at)).toEqual([day, 91 * day - 1]);
    });
  });

  it('separates clients that share the file', async () => {
    const open = await newStore();
    const [one, other] = [await open('one'), await open('other')];
    await one.save(changesOf({ records: [rememberedRecord('a')] }));
    const entry = await one.begin(newEntry());
    await finish(
      other,
      entry,
      { outcome: 'applied', recordId: 1, error: null },
      changesOf({ row: rowOf({ templateId: 18 }) }),
    );
    await other.save(changesOf({ forgotten: ['a'] }));

    expect(await one.journal()).toEqual([entry]);
    expect(await historyOf(one)).toEqual([]);
    expect((await one.template(17))?.records).toHaveLength(1);
    expect((await one.templates()).map(({ templateId }) => templateId)).toEqual([17]);
    expect((await other.templates()).map(({ templateId }) => templateId)).toEqual([17, 18]);
  });
};
