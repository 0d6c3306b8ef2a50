import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noMemories, type HistoryFilter, type Memory, type SavedRecord } from '../../src/state/memory.ts';
import { storeHandle, type StateStore } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import {
  changesOf,
  finish,
  historyOf,
  instant,
  newEntry,
  newFolder,
  recordData,
  rememberedRecord,
  rowOf,
} from './samples.ts';

/** A client as it may be set. */
export interface Configured {
  readonly name?: string;
  readonly token?: string;
  /** All that are set; default: only this one. */
  readonly names?: readonly string[];
  readonly url?: string;
}

const baseUrl = 'https://panel.example.net/api/v1';

/** Passes and commands over one store, each of them a process of its own with its own settings, and what they had to say. */
export const processesOn = (newStore: () => StateStore) => {
  const stateDir = newFolder();
  const said: string[] = [];
  const openStore = (): StateStore => {
    const store = newStore();
    onTestFinished(() => store.close());
    return store;
  };
  const locationOf = ({ name = 'default', token = 'token', names = [name], url = baseUrl }: Configured) =>
    storeLocation({ stateDir, baseUrl: url, name }, token, false, names);
  const say = (message: string): void => void said.push(message);
  const write = <T>(settings: Configured, task: (memory: Memory) => Promise<T>): Promise<T> => {
    const { signal } = new AbortController();
    const use = { timeout: 0, signal, onWait: () => undefined, lostPause: 0 };
    return storeHandle(openStore(), say).write(locationOf(settings), use, ({ memory }) => task(memory));
  };
  return {
    stateDir,
    said,
    write,
    read: (settings: Configured) =>
      storeHandle(openStore(), say).read(locationOf(settings), (memory) =>
        memory === noMemories ? Promise.resolve(null) : known(memory),
      ),
    history: (settings: Configured = {}, filter: Partial<HistoryFilter> = {}) =>
      openStore().read(locationOf(settings), (memory) => historyOf(memory!, filter)),
    suspending: (settings: Configured = {}) => openStore().suspending(locationOf(settings), say),
    suspended: (...all: readonly Configured[]) => openStore().suspended(all.map(locationOf)),
  };
};

const known = (memory: Pick<Memory, 'templates'>): Promise<number[]> =>
  memory.templates().then((all) => all.map(({ templateId }) => templateId));

/** It has read a template and sent a write to it. */
const remember = (templateId: number) => async (memory: Memory) => {
  await memory.save(changesOf({ row: rowOf({ templateId }) }));
  return memory.begin(newEntry({ templateId }));
};

const journal = (memory: Memory) => memory.journal();

const byKey = (a: SavedRecord, b: SavedRecord): number => (a.key < b.key ? -1 : 1);
const recordsIn = async (memory: Memory, templateId = 17): Promise<readonly SavedRecord[] | undefined> =>
  (await memory.template(templateId))?.records.toSorted(byKey);

const applied = { outcome: 'applied', recordId: 12, error: null } as const;
const day = 86_400_000;

/** What every store has to do. `newStore`: gives what opens the same store, empty at first, for one process after the other. */
export const storeContract = (newStore: () => Promise<() => StateStore>): void => {
  const newProcesses = async () => processesOn(await newStore());

  describe('the saved state', () => {
    it('is empty at first, and has every field for the next process', async () => {
      const { write } = await newProcesses();
      const row = rowOf({
        suspectIds: [3, 4],
        preexistingIds: [9],
        otherIds: [11],
        unlistedIds: [12],
        lastReading: { digest: 'x', since: instant(5) },
        reportedDrift: ['a'],
        lastWriteAt: 1_763_679_600_123,
      });
      const keys = ['A www  1', 'TXT  "it\'s"', 'TXT  a\u0000b', 'TXT  \ud800'];
      const records = keys.map((key) => rememberedRecord(key));
      const entry = await write({}, async (memory) => {
        expect([await memory.template(17), await journal(memory)]).toEqual([null, []]);
        await memory.save(changesOf({ row, records }));
        return memory.begin(newEntry({ before: recordData({ ttl: 60 }), recordId: 7, action: 'update' }));
      });
      await write({}, async (memory) => {
        expect((await memory.template(17))?.row).toEqual(row);
        expect(await recordsIn(memory)).toEqual(records.toSorted(byKey));
        expect([await memory.templates(), await journal(memory)]).toEqual([[row], [entry]]);
        await memory.save(changesOf({ forgotten: keys }));
        expect(await recordsIn(memory)).toEqual([]);
      });
    });

    it('equals a plain map after any changes', async () => {
      const key = fc.constantFrom('a', 'b', 'c', "d'); DROP TABLE records; --");
      const change = fc.record({
        templateId: fc.constantFrom(1, 2),
        records: fc.uniqueArray(fc.record({ key, adds: fc.nat(3) }), { selector: (one) => one.key }),
        forgotten: fc.uniqueArray(key),
      });
      const { write } = await newProcesses();
      let runs = 0;
      const test = fc.asyncProperty(fc.array(change, { maxLength: 8 }), (all) =>
        write({ name: `client ${(runs += 1)}`, token: `${runs}` }, async (memory) => {
          const expected = new Map<number, Map<string, SavedRecord>>();
          for (const { templateId, records, forgotten } of all) {
            const saved = records.map(({ key: name, adds }) => rememberedRecord(name, { adds }));
            await memory.save(changesOf({ row: rowOf({ templateId }), records: saved, forgotten }));
            const ofTemplate = expected.get(templateId) ?? new Map<string, SavedRecord>();
            for (const name of forgotten) ofTemplate.delete(name);
            for (const record of saved) ofTemplate.set(record.key, record);
            expected.set(templateId, ofTemplate);
          }
          for (const [id, records] of expected)
            expect(await recordsIn(memory, id)).toEqual([...records.values()].toSorted(byKey));
        }),
      );
      await fc.assert(test, { numRuns: 25 });
    });

    it('has another revision once this client saves a template, in whichever process', async () => {
      const { write } = await newProcesses();
      const save = (name: string): Promise<void> =>
        write({ name, token: name }, (memory) => memory.save(changesOf()));
      const revision = (): Promise<string> =>
        write({ name: 'a', token: 'a' }, async (memory) => (await memory.revisions!()).of(17));
      await save('a');
      const before = await revision();
      await save('b');
      expect(await revision()).toBe(before);
      await save('a');
      expect(await revision()).not.toBe(before);
    });
  });

  describe('what is suspended', () => {
    const [web, mail] = [
      { template: 'web', templateId: 17 },
      { template: 'mail', templateId: null },
    ];

    it('stays so, by whom and until when, until somebody resumes it', async () => {
      const { suspending, suspended } = await newProcesses();
      const memory = await suspending();
      expect(await memory.suspensions()).toEqual([]);
      const asked = { by: 'ann', reason: 'moving "www"', duration: null };
      expect(await memory.suspend({ ...asked, templates: [web, mail] })).toMatchObject([web, mail]);
      await memory.suspend({ by: 'bob', reason: 'new host', duration: 3_600_000, templates: [web] });

      const other = await suspending();
      const found = await other.suspensions();
      const { since } = found.find(({ by }) => by === 'bob')!;
      const ofAnn = { ...asked, since: expect.any(Number), until: null };
      expect(found.map(({ by, template }) => `${by} ${template}`)).toEqual([
        'ann mail',
        'ann web',
        'bob web',
      ]);
      expect(found).toMatchObject([
        { ...mail, by: 'ann', reason: ofAnn.reason, until: null },
        { ...web, by: 'ann', reason: ofAnn.reason, until: null },
        { ...web, by: 'bob', reason: 'new host', until: since + 3_600_000 },
      ]);
      expect(await suspended({}, { name: 'another' })).toEqual([found, []]);
      // The name may be that of another template by now.
      expect(await other.resume([{ template: 'web', templateId: 18 }])).toEqual([]);
      // By its id it is found under another name, too.
      expect(await other.resume([{ template: 'renamed', templateId: 17 }])).toHaveLength(2);
      expect(await other.resume([web])).toEqual([]);
      expect((await other.suspensions()).map(({ template }) => template)).toEqual(['mail']);
    });

    it('is a whole client, once for everybody, without what has run out', async () => {
      const { suspending, suspended } = await newProcesses();
      const memory = await suspending();
      for (const [by, reason, duration] of [
        ['ann', 'first', null],
        ['ann', 'second', 60_000],
        ['bob', 'over', 0],
      ] as const)
        await memory.suspend({ by, reason, duration, templates: null });
      const found = await memory.suspensions();
      expect(found).toMatchObject([{ template: null, templateId: null, reason: 'second' }]);
      expect(await suspended({})).toEqual([found]);
      expect(await memory.resume(null)).toEqual(found);
      expect(await memory.suspensions()).toEqual([]);
    });
  });

  describe('entries of the journal', () => {
    it('are open, in order, and changed in place, until they are finished together with their changes', async () => {
      const { write, history } = await newProcesses();
      await write({}, async (memory) => {
        const one = await memory.begin(newEntry());
        const two = await memory.begin(newEntry({ key: 'another' }));
        expect(one.id).not.toBe(two.id);
        expect(await journal(memory)).toEqual([one, two]);
        const stored = recordData({ ttl: 60 });
        const seen = { ...two, state: 'accepted', recordId: 12, stored } as const;
        await memory.save({ ...changesOf({ entries: [seen] }), row: null });
        expect(await journal(memory)).toEqual([one, seen]);

        const records = [rememberedRecord(one.key, { recordId: 12 })];
        await finish(memory, one, applied, changesOf({ records }));
        expect(await journal(memory)).toEqual([seen]);
        expect(await recordsIn(memory)).toEqual(records);
        expect(await history()).toMatchObject([{ ...applied, after: one.after }]);
      });
    });

    it('are noted once, also if they are finished again or were lost, and their id is given to no other', async () => {
      const { write, history } = await newProcesses();
      const entry = await write({}, async (memory) => {
        const begun = await memory.begin(newEntry());
        // Whoever lost the connection cannot know that it was finished.
        for (const recordId of [12, 13]) {
          const records = [rememberedRecord('a', { recordId })];
          await finish(memory, begun, applied, changesOf({ records }));
        }
        expect(await recordsIn(memory)).toMatchObject([{ recordId: 13 }]);
        return begun;
      });
      expect(await history()).toMatchObject([{ recordId: 12 }]);
      await write({}, async (memory) => {
        await finish(memory, { ...entry, id: 4_711, run: 'lost' }, applied);
        expect((await memory.begin(newEntry())).id).toBeGreaterThan(entry.id);
      });
      expect(await history()).toMatchObject([{ run: 'run-1' }, { run: 'lost' }]);
    });

    it('finish completely or not at all', async () => {
      const { write, history } = await newProcesses();
      await write({}, async (memory) => {
        const entry = await memory.begin(newEntry());
        // SQL that fails behind what was done before it, and what is no JSON.
        for (const [broken, why] of [
          [{ adds: 1n }, 'BigInt'],
          [{ key: undefined }, /null/i],
        ] as const) {
          const records = [rememberedRecord('a'), { ...rememberedRecord('b'), ...broken } as never];
          await expect(finish(memory, entry, applied, changesOf({ records }))).rejects.toThrow(why);
        }
        expect([await journal(memory), await memory.template(17)]).toEqual([[entry], null]);
      });
      expect(await history()).toEqual([]);
    });
  });

  it('the history starts with the oldest of 90 days, also after the clock was set back, and can be filtered', async () => {
    const { write, history } = await newProcesses();
    const at = async (filter: Partial<HistoryFilter> = {}): Promise<number[]> =>
      (await history({}, filter)).map((entry) => entry.at);
    const note = (...writes: readonly (readonly [at: number, template: string, outcome: string])[]) =>
      write({}, async (memory) => {
        for (const [sentAt, template, outcome] of writes) {
          const entry = await memory.begin(newEntry({ at: sentAt, template, run: `at ${sentAt}` }));
          await finish(memory, entry, { ...applied, outcome: outcome as 'applied' });
        }
      });
    await note([3_000, 'one', 'failed'], [1_000, 'one', 'applied'], [2_000, 'two', 'failed']);
    expect(await at({ templates: ['one'] })).toEqual([1_000, 3_000]);
    expect(await at({ templates: [] })).toEqual([1_000, 2_000, 3_000]);
    expect(await at({ since: 2_000 })).toEqual([2_000, 3_000]);
    expect(await at({ templates: ['one'], limit: 1 })).toEqual([3_000]);
    expect(await at({ outcome: 'failed', templates: ['one'], since: 1 })).toEqual([3_000]);
    await note([90 * day + 2_000, 'one', 'applied']);
    expect(await at()).toEqual([2_000, 3_000, 90 * day + 2_000]);
  });

  it('clients that share a store do not see each other', async () => {
    const { write, history } = await newProcesses();
    const [one, other] = [
      { name: 'one', token: 'one' },
      { name: 'other', token: 'other' },
    ];
    const entry = await write(one, async (memory) => {
      await memory.save(changesOf({ records: [rememberedRecord('a')] }));
      return memory.begin(newEntry());
    });
    await write(other, async (memory) => {
      await memory.save(changesOf({ entries: [{ ...entry, state: 'failed' }] }));
      await finish(memory, entry, applied, changesOf({ row: rowOf({ templateId: 18 }) }));
      await memory.save(changesOf({ forgotten: ['a'] }));
      expect(await known(memory)).toEqual([17, 18]);
    });
    await write(one, async (memory) => {
      expect([await journal(memory), await known(memory)]).toEqual([[entry], [17]]);
      expect(await recordsIn(memory)).toHaveLength(1);
    });
    expect(await history(one)).toEqual([]);
  });

  it.each<[string, Configured, Configured, 'has' | 'starts without']>([
    ['after its token was rotated, or became that of another account', {}, { token: 'new' }, 'has'],
    ['of another name', { token: 'one' }, { name: 'b', token: 'two' }, 'starts without'],
    ['at another base URL', {}, { url: 'https://other.example.net/api/v1' }, 'starts without'],
    ['that was renamed', {}, { name: 'acme' }, 'has'],
    ['that was renamed and rotated', {}, { name: 'acme', token: 'new' }, 'starts without'],
    ['beside the one that has its token', {}, { name: 'acme', names: ['acme', 'default'] }, 'starts without'],
    ['at the same base URL, in capitals', {}, { url: 'HTTPS://Panel.Example.NET/api/v1' }, 'has'],
    ['at the same, with port and slash', {}, { url: 'https://panel.example.net:443/api/v1/' }, 'has'],
    ['at the same, with final dots', {}, { url: 'https://panel.example.net./api/v1//' }, 'has'],
  ])('a client %s: %o, then %o, %s the state', async (_, before, after, how) => {
    const { write, read } = await newProcesses();
    const entry = await write(before, remember(17));
    const isKept = how === 'has';
    expect(await read(after)).toEqual(isKept ? [17] : []);
    expect(await write(after, known)).toEqual(isKept ? [17] : []);
    expect(await write(after, journal)).toEqual(isKept ? [entry] : []);
  });

  it('a client that was renamed takes its state over once, with what is suspended, and says so', async () => {
    const { said, write, suspending } = await newProcesses();
    await write({}, remember(17));
    const acme = { name: 'acme' };
    for (const [settings, by, reason] of [
      [{}, 'ann', 'before'],
      [{}, 'bob', 'before'],
      [acme, 'ann', 'after'],
    ] as const)
      await (await suspending(settings)).suspend({ by, reason, duration: null, templates: null });
    said.length = 0;
    for (let turn = 1; turn <= 2; turn += 1) await write(acme, known);
    expect(said).toEqual([
      'acme takes over the saved state of client default, which used this token and is not set any more',
    ]);
    // Whoever has suspended the new name already has said it last.
    expect(await (await suspending(acme)).suspensions()).toMatchObject([
      { by: 'ann', reason: 'after' },
      { by: 'bob', reason: 'before' },
    ]);
    expect(await write({ name: 'default', token: 'other' }, known)).toEqual([]);
  });

  it('what is suspended under a new name is so under the earlier one as well, until its state is taken over', async () => {
    const { write, suspending } = await newProcesses();
    await write({}, remember(17));
    const acme = { name: 'acme' };
    const request = { by: 'ann', reason: 'by hand', duration: null, templates: null };
    await (await suspending(acme)).suspend(request);
    await write({}, async (memory) =>
      expect(await memory.suspensions()).toMatchObject([{ reason: 'by hand' }]),
    );
    expect(await (await suspending(acme)).resume(null)).toMatchObject([{ reason: 'by hand' }]);
    await write({}, async (memory) => expect(await memory.suspensions()).toEqual([]));
    await write(acme, async (memory) => expect(await memory.suspensions()).toEqual([]));
  });

  it('a client takes over nothing where it is not clear whose token it was', async () => {
    const { write } = await newProcesses();
    await write({ name: 'one' }, remember(17));
    await write({ name: 'two', names: ['one', 'two'] }, remember(18));
    expect(await write({ name: 'three' }, known)).toEqual([]);
  });

  it.each<[string, Configured, Configured]>([
    ['two tokens of one client, as in a rolling restart', { token: 'old' }, { token: 'new' }],
    ['two names with one token', {}, { name: 'acme' }],
  ])('only one writes at a time: %s', async (_, one, other) => {
    const { write } = await newProcesses();
    const refused = 'another pass for this client is running';
    await write(one, () => expect(write(other, known)).rejects.toThrow(refused));
    await write(other, () => expect(write(one, known)).rejects.toThrow(refused));
  });

  it('two clients with a token each do not wait for each other', async () => {
    const { write } = await newProcesses();
    const other: Configured = { name: 'b', token: 'b' };
    await write({}, () => write(other, remember(18)));
    expect(await write(other, known)).toEqual([18]);
  });

  it('a template that another client compares is its own for a day', async () => {
    const { write } = await newProcesses();
    const other: Configured = { name: 'b', token: 'b' };
    const compare = (memory: Memory) => memory.compare([17, 18]);
    const look = (memory: Memory) => memory.comparedByOthers([17, 18]);
    expect(await write({}, (memory) => memory.compare([17]))).toEqual(new Map());
    for (const task of [look, compare, look, compare])
      expect(await write(other, task)).toEqual(new Map([[17, 'default']]));
    expect(await write({}, compare)).toEqual(new Map([[18, 'b']]));
    // Another service has other templates of these numbers.
    expect(await write({ url: 'https://other.example.net/api/v1' }, compare)).toEqual(new Map());
    // What it was called does not matter.
    expect(await write({ name: 'acme', names: ['acme', 'b'] }, compare)).toEqual(new Map([[18, 'b']]));
  });
};
