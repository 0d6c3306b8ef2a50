import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { RecordData } from '../../src/model/record.ts';
import {
  historyEntryOf,
  type ClientMemory,
  type Entry,
  type History,
  type HistoryEntry,
  type HistoryFilter,
  type Instant,
  type Memory,
  type MemoryChanges,
  type NewEntry,
  type RecordState,
  type TemplateRow,
} from '../../src/state/memory.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { clientMemory } from '../../src/state/client-memory.ts';
import { StateFile } from '../../src/state/state-file.ts';
import { storeLocation, type StoreLocation } from '../../src/state/store-location.ts';

/** A folder of its own, gone after the test. */
export const newFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const newFile = (): string => path.join(newFolder(), 'state', 'memory.db');

/** The memory of one client, and how its file is closed before the test ends. */
export interface OpenedMemory extends ClientMemory {
  close(when?: 'now' | 'later'): Promise<void>;
}

/** Where the state of a client of this name is. */
export const placeOf = (name = 'client', stateDir = 'state'): StoreLocation =>
  storeLocation({ stateDir, baseUrl: 'https://panel.example.net/api/v1', name }, `token of ${name}`, false);

/** By a connection of its own, which is closed when the test ends. */
export const opened = (file: string, name?: string): Promise<OpenedMemory> =>
  openedFor({ ...placeOf(name, path.dirname(file)), file });

export const openedFor = async (location: StoreLocation): Promise<OpenedMemory> => {
  const state = new StateFile(location.file, systemClock);
  onTestFinished(() => state.close('later'));
  return { ...clientMemory(await state.begin(), location), close: (when = 'now') => state.close(when) };
};

/** Clients of one process, which share a connection. */
export const clientsOf = async (
  file: string,
  ...names: readonly string[]
): Promise<{ readonly memories: readonly ClientMemory[]; readonly close: () => Promise<void> }> => {
  const state = new StateFile(file, systemClock);
  onTestFinished(() => state.close('now'));
  const rows = await state.begin();
  const memories = names.map((name) => clientMemory(rows, placeOf(name)));
  return { memories, close: () => state.close('now') };
};

export const recordData = (changes: Partial<RecordData> = {}): RecordData => ({
  type: 'A',
  name: 'www',
  content: '203.0.113.10',
  priority: null,
  ttl: 300,
  ...changes,
});

export const rowOf = (changes: Partial<TemplateRow> = {}): TemplateRow => ({
  templateId: 17,
  template: 'standard-web',
  file: 'templates/web.yaml',
  suspectIds: null,
  preexistingIds: [],
  otherIds: [],
  unlistedIds: [],
  lastReading: null,
  lastWriteAt: null,
  reportedDrift: [],
  ...changes,
});

/** In ms since the epoch, of which the machine counts every one. */
export const instant = (now: number): Instant => ({
  now,
  uptime: { boot: 'b', at: now },
});

const sampleTime = 1_763_679_600_000;

/** With something in every field. */
export const rememberedRecord = (key: string, changes: Partial<RecordState> = {}): RecordState => ({
  key,
  recordId: 5,
  wanted: recordData(),
  seen: recordData({ name: null, ttl: null }),
  keptName: 'www.example.net',
  isOnlyCounted: true,
  isAdopted: true,
  displaced: { was: recordData(), cause: 'drifted' },
  adds: 2,
  lostAdds: 1,
  stored: { sent: recordData(), at: [1, 2, 3] },
  rewritten: { sent: recordData(), stored: recordData({ content: 'žluťoučký "kůň" \u0000' }) },
  failure: {
    kind: 'refused',
    message: 'the service answered 422',
    count: 3,
    sent: recordData(),
    since: instant(sampleTime),
    pause: 60_000,
  },
  cause: 'edited',
  ...changes,
});

export const changesOf = (changes: Partial<MemoryChanges> = {}): MemoryChanges => ({
  row: rowOf(),
  records: [],
  forgotten: [],
  entries: [],
  left: [],
  history: [],
  ...changes,
});

/** `at`: when it was sent. */
export const newEntry = ({
  at = sampleTime,
  ...changes
}: Partial<NewEntry> & { at?: number } = {}): NewEntry => ({
  run: 'run-1',
  sentAt: instant(at),
  templateId: 17,
  template: 'standard-web',
  file: 'templates/web.yaml',
  action: 'add',
  key: 'A www  203.0.113.10',
  recordId: null,
  before: null,
  after: recordData(),
  cause: 'edited',
  trigger: 'schedule',
  source: { file: 'templates/web.yaml', line: 3, column: 5 },
  revision: null,
  makesWayFor: null,
  idsBefore: [1, 2],
  state: 'sent',
  error: null,
  refusedAt: null,
  unchangedAt: null,
  acceptedAt: null,
  missedAt: null,
  stored: null,
  isOnlyCounted: false,
  ...changes,
});

/** All of its writes, the oldest first. */
export const historyOf = (
  memory: History,
  filter: Partial<HistoryFilter> = {},
): Promise<readonly HistoryEntry[]> => memory.history({ limit: Number.MAX_SAFE_INTEGER, ...filter });

/** It leaves the journal for the history. */
export const finish = (
  memory: Pick<Memory, 'save'>,
  entry: Entry,
  result: Pick<HistoryEntry, 'outcome' | 'recordId' | 'error'>,
  changes = changesOf(),
): Promise<void> => memory.save({ ...changes, left: [entry.id], history: [historyEntryOf(entry, result)] });
