import type Database from 'libsql';
import { memoryError, openDatabase } from './database.ts';
import type {
  FoundSlice,
  Ending,
  HistoryEntry,
  HistoryFilter,
  Intent,
  LedgerChanges,
  Memory,
  PagedHistory,
} from './memory.ts';

const historyDays = 90;

/**
 * Opens the memory of one client in a SQLite file, made where it is not there. `scope` tells clients apart that
 * share the file. A write is on disk, synced, when its promise resolves; it rejects with `UserError` where the disk
 * does not take it. Throws `UserError`, and `DamagedMemoryError` for what is no database of this program.
 */
export const openMemory = (file: string, scope: string): Memory & PagedHistory => {
  const database = openDatabase(file);
  const statements = prepare(database);

  /** How often this connection has written of a template; SQLite itself tells what others have done. */
  const writes = new Map<number, number>();
  let allWrites = 0;
  openings += 1;
  const opening = openings;

  const saveChanges = ({ facts, records, forgotten }: LedgerChanges): void => {
    const id = facts.templateId;
    writes.set(id, (writes.get(id) ?? 0) + 1);
    allWrites += 1;
    statements.saveTemplate.run(scope, id, JSON.stringify(facts));
    for (const key of forgotten) statements.forgetRecord.run(scope, id, key);
    for (const record of records) statements.saveRecord.run(scope, id, record.key, JSON.stringify(record));
  };
  const note = (intent: Intent, { outcome, recordId, error }: Ending): void => {
    const { at, run, templateId, template, action, before, after } = intent;
    const entry: HistoryEntry = {
      at,
      run,
      templateId,
      template,
      action,
      recordId,
      before,
      after,
      outcome,
      error,
    };
    statements.addHistory.run(scope, at, template, outcome, JSON.stringify(entry));
    statements.trimHistory.run(scope, at - historyDays * 86_400_000);
  };

  const ask = async <T>(task: () => T): Promise<T> => {
    try {
      return task();
    } catch (error) {
      throw memoryError(file, error);
    }
  };

  return {
    template: (templateId) =>
      ask(() => {
        const facts = statements.template.get(scope, templateId);
        if (facts === undefined) return null;
        return { facts: parse(facts), records: statements.records.all(scope, templateId).map(parse) };
      }),
    templates: () => ask(() => statements.templates.all(scope).map(parse)),
    openIntents: () => ask(() => statements.intents.all(scope).map(parse)),
    history: (filter = {}) =>
      ask(() =>
        statements.history
          .all(scope, filter.since ?? 0)
          .map((row): HistoryEntry => parse(row))
          .filter((entry) => matches(entry, filter)),
      ),
    historySlice: ({ before, rows, since = 0, ...filter }) =>
      ask(() => {
        const found = statements.slice.all(scope, since, before.at, before.id, rows).map(historyRow);
        const last = found.at(-1);
        return {
          entries: found.filter((row) => matches(row, filter)).map((row) => placed(row.id, parse(row))),
          end: last === undefined || found.length < rows ? null : { at: last.at, id: last.id },
        };
      }),
    begin: (intent) =>
      ask(() => {
        const { lastInsertRowid } = statements.addIntent.run(scope, JSON.stringify(intent));
        return { ...intent, id: Number(lastInsertRowid) };
      }),
    finish: (intent, ending, changes) =>
      ask(
        database.transaction(() => {
          statements.closeIntent.run(scope, intent.id);
          note(intent, ending);
          saveChanges(changes);
        }),
      ),
    save: (changes) => ask(database.transaction(() => saveChanges(changes))),
    revisions: () =>
      ask(() => {
        const others = versionIn(statements.dataVersion.get());
        return {
          of: (id) => `${opening} ${others} ${writes.get(id) ?? 0}`,
          whole: `${opening} ${others} ${allWrites}`,
        };
      }),
    close: () => ask(() => void database.close()),
  };
};

const versionIn = (row: unknown): string =>
  typeof row === 'object' && row !== null && 'data_version' in row ? String(row.data_version) : '';

/** Revisions of one opening tell nothing about those of another. */
let openings = 0;

type Statements = { [Name in keyof typeof queries]: Database.Statement };

const prepare = (database: Database.Database): Statements => {
  const statements: Partial<Statements> = {};
  for (const [name, sql] of Object.entries(queries))
    Object.assign(statements, { [name]: database.prepare(sql) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every query has just been prepared
  return statements as Statements;
};

const queries = {
  template: 'SELECT body FROM templates WHERE scope = ? AND template_id = ?',
  templates: 'SELECT body FROM templates WHERE scope = ? ORDER BY template_id',
  records: 'SELECT body FROM records WHERE scope = ? AND template_id = ?',
  saveTemplate:
    'INSERT INTO templates (scope, template_id, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  saveRecord:
    'INSERT INTO records (scope, template_id, key, body) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  forgetRecord: 'DELETE FROM records WHERE scope = ? AND template_id = ? AND key = ?',
  intents: "SELECT json_set(body, '$.id', id) AS body FROM intents WHERE scope = ? ORDER BY id",
  addIntent: 'INSERT INTO intents (scope, body) VALUES (?, ?)',
  closeIntent: 'DELETE FROM intents WHERE scope = ? AND id = ?',
  history: 'SELECT body FROM history WHERE scope = ? AND at >= ? ORDER BY at, id',
  slice: `SELECT id, at, template, outcome, body FROM history
    WHERE scope = ? AND at >= ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?`,
  addHistory: 'INSERT INTO history (scope, at, template, outcome, body) VALUES (?, ?, ?, ?, ?)',
  dataVersion: 'PRAGMA data_version',
  trimHistory: 'DELETE FROM history WHERE scope = ? AND at < ?',
} as const;

/** The bodies are this program's own: what wrote them is told by the schema version. */
const parse = (row: unknown): never => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { body } = row as { body: string };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(body) as never;
};

const placed = (id: number, entry: HistoryEntry): FoundSlice['entries'][number] => ({ ...entry, id });

interface HistoryRow extends Pick<HistoryEntry, 'at' | 'template' | 'outcome'> {
  readonly id: number;
  readonly body: string;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of that table
const historyRow = (row: unknown): HistoryRow => row as HistoryRow;

const matches = (
  entry: Pick<HistoryEntry, 'template' | 'outcome'>,
  { templates, outcome }: HistoryFilter,
): boolean =>
  (!templates || templates.length === 0 || templates.includes(entry.template)) &&
  (!outcome || entry.outcome === outcome);
