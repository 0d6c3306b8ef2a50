import type { Suspension } from '../../src/model/suspension.ts';
import type { Entry, Memory, MemoryChanges, RecordState, TemplateRow } from '../../src/state/memory.ts';

export type Disk = ReturnType<typeof simulatedDisk>;

interface Stored {
  readonly row: Map<number, string>;
  readonly records: Map<number, Map<string, string>>;
  readonly journal: Map<number, string>;
  /** By template: how often something was saved. */
  readonly writes: Map<number, number>;
  /** Distinguishes it from the state that was lost before. */
  readonly number: number;
  lastEntry: number;
}

/**
 * The disk, which outlives a process: the state as in SQLite, but inside this process, where a resolved promise means that it
 * is on disk.
 */
export const simulatedDisk = () => {
  let stored = emptyDisk();
  const before: Stored[] = [];
  let suspended: readonly Suspension[] = [];
  const commit = (): Stored => {
    before.push(stored);
    if (before.length > mostLost) before.shift();
    stored = copyOf(stored);
    return stored;
  };
  return {
    /** What a process finds at its start. */
    open: (): Memory =>
      memoryOn(
        () => stored,
        commit,
        () => suspended,
      ),
    /** What is suspended from now on, in every state. */
    suspend: (suspensions: readonly Suspension[]): void => void (suspended = suspensions),
    /** As if the state directory had been lost. */
    wipe: (): void => {
      stored = emptyDisk();
      before.length = 0;
    },
    /** As if everything but the open adds had been lost. */
    keepAdds: (): void => {
      const open = [...stored.journal].filter(([, body]) => parse<Entry>(body).state === 'sent');
      stored = { ...emptyDisk(), journal: new Map(open), lastEntry: stored.lastEntry };
    },
    /** As if a standby had taken over that lacked these last commits. Its revisions are others. */
    loseLast: (commits: number): void => {
      for (let left = commits; left > 0; left -= 1) stored = before.pop() ?? stored;
      stored = { ...stored, number: (disks += 1) };
    },
    /** Everything on it that a pass goes by. */
    content: (): unknown =>
      [stored.row, ...stored.records.values(), stored.journal].map((some) =>
        [...some.values()].map((body) => parse(body)),
      ),
  };
};

/** Commits that can be lost. */
export const mostLost = 8;

const copyOf = (stored: Stored): Stored => ({
  ...stored,
  row: new Map(stored.row),
  records: new Map([...stored.records].map(([id, records]) => [id, new Map(records)])),
  journal: new Map(stored.journal),
  writes: new Map(stored.writes),
});

let disks = 0;

const emptyDisk = (): Stored => ({
  row: new Map(),
  records: new Map(),
  journal: new Map(),
  writes: new Map(),
  number: (disks += 1),
  lastEntry: 0,
});

/** Everything goes through text, so that the disk shares no objects with the process. */
const memoryOn = (
  current: () => Stored,
  commit: () => Stored,
  suspended: () => readonly Suspension[],
): Memory => {
  const saveTo = (disk: Stored, { row, records, forgotten, entries, left }: MemoryChanges): void => {
    for (const entry of entries) disk.journal.set(entry.id, JSON.stringify(entry));
    for (const id of left) disk.journal.delete(id);
    if (row === null) return;
    disk.writes.set(row.templateId, (disk.writes.get(row.templateId) ?? 0) + 1);
    disk.row.set(row.templateId, JSON.stringify(row));
    const kept = disk.records.get(row.templateId) ?? new Map<string, string>();
    disk.records.set(row.templateId, kept);
    for (const key of forgotten) kept.delete(key);
    for (const record of records) kept.set(record.key, JSON.stringify(record));
  };
  return {
    template: (templateId) => {
      const disk = current();
      const row = disk.row.get(templateId);
      if (row === undefined) return Promise.resolve(null);
      const kept = [...(disk.records.get(templateId) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      return Promise.resolve({
        row: parse<TemplateRow>(row),
        records: kept.map(([, body]) => parse<RecordState>(body)),
      });
    },
    templates: () =>
      Promise.resolve(
        [...current().row].sort(([a], [b]) => a - b).map(([, body]) => parse<TemplateRow>(body)),
      ),
    journal: () => Promise.resolve([...current().journal.values()].map((body) => parse<Entry>(body))),
    suspensions: () => Promise.resolve(suspended()),
    begin: (entry) => {
      const disk = commit();
      disk.lastEntry += 1;
      const begun = { ...entry, id: disk.lastEntry };
      disk.journal.set(begun.id, JSON.stringify(begun));
      return Promise.resolve(begun);
    },
    save: (changes) => Promise.resolve(saveTo(commit(), changes)),
    revisions: () => {
      const { number, writes } = current();
      return Promise.resolve({ of: (templateId) => `${number} ${writes.get(templateId) ?? 0}` });
    },
    comparedByOthers: () => Promise.resolve(new Map()),
    compare: () => Promise.resolve(new Map()),
  };
};

const parse = <T>(body: string): T => {
  const value: T = JSON.parse(body);
  return value;
};
