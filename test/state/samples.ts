import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { RecordData } from '../../src/model/record.ts';
import type { Intent, MemoryChanges, RecordState, TemplateRow } from '../../src/state/memory.ts';
import { openMemory, type FileMemory } from '../../src/state/sqlite.ts';

/** A folder of its own, gone after the test. */
export const newFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const newFile = (): string => path.join(newFolder(), 'state', 'memory.db');

/** Closed when the test ends. */
export const opened = async (file: string, scope = 'client'): Promise<FileMemory> => {
  const memory = await openMemory(file, scope);
  onTestFinished(() => memory.close('later'));
  return memory;
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
  strangers: [],
  lastWriteAt: null,
  ...changes,
});

/** With something in every field. */
export const rememberedRecord = (key: string, changes: Partial<RecordState> = {}): RecordState => ({
  key,
  recordId: 5,
  wanted: recordData(),
  seen: recordData({ name: null, ttl: null }),
  adds: 2,
  stored: { sent: recordData(), at: [1, 2, 3] },
  rewritten: { sent: recordData(), stored: recordData({ content: 'žluťoučký "kůň" \u0000' }) },
  failure: {
    kind: 'refused',
    message: 'the service answered 422',
    count: 3,
    sent: recordData(),
    retryAt: 1_763_679_600_000,
    pause: 60_000,
  },
  cause: 'edited',
  ...changes,
});

export const changesOf = (changes: Partial<MemoryChanges> = {}): MemoryChanges => ({
  row: rowOf(),
  records: [],
  forgotten: [],
  ...changes,
});

export const intentOf = (changes: Partial<Omit<Intent, 'id'>> = {}): Omit<Intent, 'id'> => ({
  run: 'run-1',
  at: 1_763_679_600_000,
  templateId: 17,
  template: 'standard-web',
  file: 'templates/web.yaml',
  action: 'add',
  key: 'A www  203.0.113.10',
  recordId: null,
  before: null,
  after: recordData(),
  cause: 'edited',
  idsBefore: [1, 2],
  ...changes,
});
