import type { Suspension } from '../../src/model/suspension.ts';
import type {
  HistoryEntry,
  Intent,
  Memory,
  MemoryChanges,
  RecordState,
  TemplateRow,
} from '../../src/state/memory.ts';

/** The disk: state that outlives a process. */
export interface Disk {
  /** What a process finds at its start. */
  open(): Memory;
  /** As if the state directory had been lost. */
  wipe(): void;
  /** As for a client token that belongs to none of several clients: it takes their open adds, and nothing else. */
  keepAdds(): void;
  /** As if a standby had taken over that lacked these last commits. */
  loseLast(commits: number): void;
  /** What is suspended from now on, in every state. */
  suspend(suspensions: readonly Suspension[]): void;
  /** Everything on it that a pass goes by. */
  content(): unknown;
  close(): void;
}

interface Stored {
  readonly row: Map<number, string>;
  readonly records: Map<number, Map<string, string>>;
  readonly intents: Map<number, string>;
  readonly history: string[];
  /** By template: how often something was saved. */
  readonly writes: Map<number, number>;
  /** Distinguishes it from the state that was lost before. */
  readonly number: number;
  lastIntent: number;
}

/** The state as in SQLite, but inside this process: a resolved promise means that it is on disk. */
export const simulatedDisk = (): Disk => {
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
    open: () =>
      memoryOn(
        () => stored,
        commit,
        () => suspended,
      ),
    suspend: (suspensions) => {
      suspended = suspensions;
    },
    wipe: () => {
      stored = emptyDisk();
      before.length = 0;
    },
    keepAdds: () => {
      const adds = [...stored.intents].filter(([, body]) => parse<Intent>(body).action === 'add');
      stored = { ...emptyDisk(), intents: new Map(adds), lastIntent: stored.lastIntent };
    },
    loseLast: (commits) => {
      for (let left = commits; left > 0; left -= 1) stored = before.pop() ?? stored;
      // Revisions of a standby are others.
      stored = { ...stored, number: (disks += 1) };
    },
    content: () =>
      [stored.row, ...stored.records.values(), stored.intents].map((some) =>
        [...some.values()].map((body) => parse(body)),
      ),
    close: () => undefined,
  };
};

/** Commits that can be lost. */
export const mostLost = 8;

const copyOf = (stored: Stored): Stored => ({
  ...stored,
  row: new Map(stored.row),
  records: new Map([...stored.records].map(([id, records]) => [id, new Map(records)])),
  intents: new Map(stored.intents),
  history: [...stored.history],
  writes: new Map(stored.writes),
});

let disks = 0;

const emptyDisk = (): Stored => ({
  row: new Map(),
  records: new Map(),
  intents: new Map(),
  history: [],
  writes: new Map(),
  number: (disks += 1),
  lastIntent: 0,
});

/** Everything goes through text, so that the disk shares no objects with the process. */
const memoryOn = (
  current: () => Stored,
  commit: () => Stored,
  suspended: () => readonly Suspension[],
): Memory => {
  const saveTo = (disk: Stored, { row, records, forgotten }: MemoryChanges): void => {
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
    openIntents: () => Promise.resolve([...current().intents.values()].map((body) => parse<Intent>(body))),
    history: () => Promise.resolve(current().history.map((body) => parse<HistoryEntry>(body))),
    suspensions: () => Promise.resolve(suspended()),
    begin: (intent) => {
      const disk = commit();
      disk.lastIntent += 1;
      const begun = { ...intent, id: disk.lastIntent };
      disk.intents.set(begun.id, JSON.stringify(begun));
      return Promise.resolve(begun);
    },
    finish: (intent, result, changes) => {
      const { at, run, templateId, template, action, before, after } = intent;
      const disk = commit();
      disk.intents.delete(intent.id);
      disk.history.push(JSON.stringify({ at, run, templateId, template, action, before, after, ...result }));
      saveTo(disk, changes);
      return Promise.resolve();
    },
    save: (changes) => {
      saveTo(commit(), changes);
      return Promise.resolve();
    },
    revisions: () => {
      const { number, writes } = current();
      return Promise.resolve({ of: (templateId) => `${number} ${writes.get(templateId) ?? 0}` });
    },
    close: () => Promise.resolve(),
  };
};

const parse = <T>(body: string): T => {
  const value: T = JSON.parse(body);
  return value;
};
