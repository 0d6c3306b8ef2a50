import {
  inEffectByKey,
  isEndedBy,
  isInEffect,
  suspensionKey,
  suspensionsFrom,
  type Suspension,
} from '../model/suspension.ts';
import { entryIn, entryText, historyIn, historyText, recordIn, recordText } from './bodies.ts';
import { comparedByOthers, isComparing, noteCompared } from './clients.ts';
import { bodyIn, type SqliteConnection } from './connection.ts';
import {
  historyAge,
  isAskedFor,
  newestWrites,
  type ClientMemory,
  type FoundSlice,
  type HistoryEntry,
  type MemoryChanges,
} from './memory.ts';
import { mostRows, type Part, type StateFile } from './state-file.ts';
import type { StoreLocation } from './store-location.ts';

/** Of all clients; some 30 MB. */
const mostWrites = 50_000;

/** The state of one client in a file that was opened. `life`: of that opening; `scope`: whose state, the client's own or that of its earlier name. */
export const memoryIn = (
  state: StateFile,
  life: number,
  location: StoreLocation,
  scope = location.scope,
): ClientMemory => {
  const client = { scope, baseUrl: location.baseUrl };
  const now = (): number => state.now.now;
  const ask = <T>(task: (connection: SqliteConnection) => T): Promise<T> => state.ask(life, task);
  const change = <T>(task: (connection: SqliteConnection) => T): Promise<T> => state.change(life, task);
  const partOf = (templateId: number): string => `${scope} ${templateId}`;

  const partsOf = ({ row, records, forgotten, ...journal }: MemoryChanges): Part[] => {
    const settled = [
      ...slicesOf(journal.entries, mostRows, (to, some) => {
        for (const entry of some) to.run(queries.changeEntry, entryText(entry), entry.id, scope);
      }),
      ...slicesOf(journal.left, mostRows, (to, some) => {
        for (const id of some) to.run(queries.leave, id, scope);
      }),
      ...slicesOf(journal.history, mostRows, (to, some) => some.forEach((entry) => note(to, entry))),
    ];
    if (row === null) return settled;
    const id = row.templateId;
    return [
      ...settled,
      (to) => {
        state.noteWrite(partOf(id));
        to.run(queries.saveTemplate, scope, id, JSON.stringify(row));
      },
      ...slicesOf(forgotten, mostRows, (to, some) => {
        for (const key of some) to.run(queries.forgetRecord, scope, id, key);
      }),
      ...slicesOf(records, rowsAtOnce, (to, some) => {
        const values = some.flatMap((record) => [scope, id, record.key, recordText(record)]);
        to.run(saveRecords(some.length), ...values);
      }),
    ];
  };
  const note = (to: SqliteConnection, entry: HistoryEntry): void => {
    const { at, template, outcome } = entry;
    to.run(queries.addHistory, scope, at, template, outcome, historyText(entry));
    to.run(queries.trimOld, scope, at - historyAge, scope, newestWrites, historyAge);
    to.run(queries.trimMost, mostWrites);
  };
  const inEffect = (connection: SqliteConnection): Suspension[] =>
    connection
      .all(queries.suspensions, scope)
      .map((row): Suspension => bodyIn(row))
      .filter((one) => isInEffect(one, now()));

  return {
    template: (templateId) =>
      ask((connection) => {
        const row = connection.get(queries.template, scope, templateId);
        if (row === undefined) return null;
        return {
          row: bodyIn(row),
          records: connection.all(queries.records, scope, templateId).map((one) => recordIn(bodyIn(one))),
        };
      }),
    templates: () => ask((connection) => connection.all(queries.templates, scope).map(bodyIn)),
    journal: () =>
      ask((connection) =>
        connection.all(queries.journal, scope).map((row) => entryIn(bodyIn(row), idIn(row))),
      ),
    history: (filter = {}) =>
      ask((connection) =>
        connection
          .all(queries.history, scope, filter.since ?? 0)
          .map((row) => historyIn(bodyIn(row)))
          .filter((entry) => isAskedFor(entry, filter)),
      ),
    historySlice: ({ before, rows, since = 0, ...filter }) =>
      ask((connection) => {
        const found = connection.all(queries.slice, scope, since, before.at, before.id, rows).map(historyRow);
        const last = found.at(-1);
        return {
          entries: found.filter((entry) => isAskedFor(entry, filter)),
          end: last === undefined || found.length < rows ? null : { at: last.at, id: last.id },
        };
      }),
    begin: async (entry) => {
      const body = entryText(entry);
      const { lastInsertRowid } = await change((connection) => connection.run(queries.begin, scope, body));
      const id = Number(lastInsertRowid);
      state.noteEntry(id);
      return { ...entry, id };
    },
    save: (changes) => {
      const { records, forgotten, entries, left, history } = changes;
      const rows = 1 + records.length + forgotten.length + entries.length + left.length + history.length;
      const parts = partsOf(changes);
      // The outcome of a write does not wait for what others save.
      return history.length > 0
        ? change((connection) => parts.forEach((part) => part(connection)))
        : state.changeTogether(life, rows, parts);
    },
    suspensions: () => ask(inEffect),
    suspend: (request) =>
      change((connection) => {
        const made = suspensionsFrom(request, now());
        for (const one of made)
          connection.run(queries.suspend, scope, suspensionKey(one), JSON.stringify(one));
        return made;
      }),
    resume: (templates) =>
      change((connection) => {
        const ended = inEffect(connection).filter((one) => isEndedBy(one, templates));
        for (const one of ended) connection.run(queries.resume, scope, suspensionKey(one));
        return ended;
      }),
    revisions: async () => {
      const revisionOf = await state.revisions(life);
      return { of: (id) => revisionOf(partOf(id)) };
    },
    comparedByOthers: (ids) => ask((connection) => comparedByOthers(connection, client, ids, now())),
    compare: async (ids) => {
      const isNoted = await ask((connection) => isComparing(connection, client, ids, now()));
      if (isNoted) return new Map();
      return change((connection) => {
        noteCompared(connection, client, ids, now());
        return comparedByOthers(connection, client, ids, now());
      });
    },
  };
};

/** Tasks that do the same with so many items each. */
const slicesOf = <T>(
  items: readonly T[],
  size: number,
  task: (connection: SqliteConnection, some: readonly T[]) => void,
): Part[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => (connection) => {
    task(connection, items.slice(index * size, (index + 1) * size));
  });

/** Those in effect of all clients of a file, by the key of their state. */
export const suspensionsIn = (
  connection: SqliteConnection,
  now: number,
): ReadonlyMap<string, readonly Suspension[]> =>
  inEffectByKey(connection.all(queries.allSuspensions).map(bodyIn), now);

/** Whether no template of the client was ever read. */
export const isUnknown = (connection: SqliteConnection, scope: string): boolean =>
  connection.get(queries.known, scope) === undefined;

const queries = {
  template: 'SELECT CAST(body AS BLOB) AS body FROM templates WHERE scope = ? AND template_id = ?',
  templates: 'SELECT CAST(body AS BLOB) AS body FROM templates WHERE scope = ? ORDER BY template_id',
  records: 'SELECT CAST(body AS BLOB) AS body FROM records WHERE scope = ? AND template_id = ?',
  saveTemplate:
    'INSERT INTO templates (scope, template_id, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  forgetRecord: 'DELETE FROM records WHERE scope = ? AND template_id = ? AND key = ?',
  known: 'SELECT 1 FROM templates WHERE scope = ? LIMIT 1',
  journal: 'SELECT id, CAST(body AS BLOB) AS body FROM journal WHERE scope = ? ORDER BY id',
  begin: 'INSERT INTO journal (scope, body) VALUES (?, ?)',
  changeEntry: 'UPDATE journal SET body = ? WHERE id = ? AND scope = ?',
  leave: 'DELETE FROM journal WHERE id = ? AND scope = ?',
  history: 'SELECT CAST(body AS BLOB) AS body FROM history WHERE scope = ? AND at >= ? ORDER BY at, id',
  slice: `SELECT id, CAST(body AS BLOB) AS body FROM history
    WHERE scope = ? AND at >= ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?`,
  // Whoever could not know that it was noted notes it again.
  addHistory: `INSERT INTO history (scope, at, template, outcome, body) SELECT ?1, ?2, ?3, ?4, ?5
    WHERE NOT EXISTS (SELECT 1 FROM history WHERE scope = ?1 AND at = ?2 AND body = ?5)`,
  suspensions: 'SELECT CAST(body AS BLOB) AS body FROM suspensions WHERE scope = ? ORDER BY key',
  suspend:
    'INSERT INTO suspensions (scope, key, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  resume: 'DELETE FROM suspensions WHERE scope = ? AND key = ?',
  allSuspensions:
    "SELECT CAST(json_object('key', scope, 'suspension', json(body)) AS BLOB) AS body FROM suspensions ORDER BY scope, key",
  trimOld: `DELETE FROM history WHERE scope = ? AND at < ? AND +at <
    (SELECT min(at) FROM (SELECT at FROM history WHERE scope = ? ORDER BY id DESC LIMIT ?)) - ?`,
  trimMost: 'DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?',
} as const;

/** Rows of one statement take 60 % of the time that a statement for each of them would take. */
const rowsAtOnce = 20;

const saveRecords = (count: number): string =>
  `INSERT INTO records (scope, template_id, key, body) VALUES ${'(?, ?, ?, ?), '.repeat(count).slice(0, -2)}
    ON CONFLICT DO UPDATE SET body = excluded.body`;

const historyRow = (row: unknown): FoundSlice['entries'][number] => ({
  ...historyIn(bodyIn(row)),
  id: idIn(row),
});

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
const idIn = (row: unknown): number => (row as { readonly id: number }).id;
