import type { HistoryEntry, Intent, Memory, RecordState, TemplateRow } from '../../src/state/memory.ts';

/** The disk: state that outlives a process. */
export interface Disk {
  /** What a process finds at its start. */
  open(): Memory;
  /** As if the state directory had been lost. */
  wipe(): void;
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
  return {
    open: () => memoryOn(stored),
    wipe: () => {
      stored = emptyDisk();
    },
    close: () => undefined,
  };
};

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
const memoryOn = (disk: Stored): Memory => {
  const save: Memory['save'] = ({ row, records, forgotten }) => {
    disk.writes.set(row.templateId, (disk.writes.get(row.templateId) ?? 0) + 1);
    disk.row.set(row.templateId, JSON.stringify(row));
    const kept = disk.records.get(row.templateId) ?? new Map<string, string>();
    disk.records.set(row.templateId, kept);
    for (const key of forgotten) kept.delete(key);
    for (const record of records) kept.set(record.key, JSON.stringify(record));
    return Promise.resolve();
  };
  return {
    template: (templateId) => {
      const row = disk.row.get(templateId);
      if (row === undefined) return Promise.resolve(null);
      const kept = [...(disk.records.get(templateId) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      return Promise.resolve({
        row: parse<TemplateRow>(row),
        records: kept.map(([, body]) => parse<RecordState>(body)),
      });
    },
    templates: () =>
      Promise.resolve([...disk.row].sort(([a], [b]) => a - b).map(([, body]) => parse<TemplateRow>(body))),
    openIntents: () => Promise.resolve([...disk.intents.values()].map((body) => parse<Intent>(body))),
    history: () => Promise.resolve(disk.history.map((body) => parse<HistoryEntry>(body))),
    begin: (intent) => {
      disk.lastIntent += 1;
      const begun = { ...intent, id: disk.lastIntent };
      disk.intents.set(begun.id, JSON.stringify(begun));
      return Promise.resolve(begun);
    },
    finish: (intent, result, changes) => {
      const { at, run, templateId, template, action, before, after } = intent;
      disk.intents.delete(intent.id);
      disk.history.push(JSON.stringify({ at, run, templateId, template, action, before, after, ...result }));
      return save(changes);
    },
    save,
    revisions: () =>
      Promise.resolve({
        of: (templateId) => `${disk.number} ${disk.writes.get(templateId) ?? 0}`,
        whole: `${disk.number} ${[...disk.writes.values()].join(' ')}`,
      }),
    close: () => Promise.resolve(),
  };
};

const parse = <T>(body: string): T => {
  const value: T = JSON.parse(body);
  return value;
};
