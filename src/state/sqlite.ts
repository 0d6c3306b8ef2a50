import type { ClientMemory, KnownClient } from './client-memory.ts';
import { clientsOf } from './clients.ts';
import type { Closing } from './connection.ts';
import {
  historyEntryOf,
  type IntentResult,
  type FoundSlice,
  type HistoryEntry,
  type HistoryFilter,
  type Intent,
  type MemoryChanges,
  type RecordState,
} from './memory.ts';
import { borrowForReading } from './read-copy.ts';
import { mostRows, openState, type StateFile } from './state-file.ts';
import {
  inEffectByDigest,
  isEndedBy,
  isInEffect,
  suspensionKey,
  suspensionsFrom,
  type Suspension,
} from '../model/suspension.ts';

/** The state of one client in a file. */
export interface FileMemory extends ClientMemory {
  close(when?: Closing): Promise<void>;
}

const day = 86_400_000;
const historyDays = 90;
/** A clock may be wrong: an entry is old only if it is by each of so many of the client's newest writes. */
const newestWrites = 100;
/** Of all clients; some 30 MB. */
const mostWrites = 50_000;

/**
 * Opens the state of one client in a SQLite file, which is created if missing. `digest` is that of its token: a client
 * may have been seen with several tokens; `now` is the clock of its suspensions. A write is on disk, synced, when its promise resolves; it rejects with
 * `UserError` if the disk fails. Throws `UserError`, and `DamagedMemoryError` for a file that is not a database of this
 * program.
 */
export const openMemory = async (
  file: string,
  digest: string,
  borrow: (file: string) => Promise<StateFile> = openAlone,
  now: () => number = Date.now,
): Promise<FileMemory> => {
  const state = await borrow(file);
  try {
    return await memoryIn(state, digest, now);
  } catch (error) {
    await state.giveBack();
    throw error;
  }
};

const openAlone = async (file: string): Promise<StateFile> => {
  const state = await openState(file);
  state.borrow();
  return state;
};

/** The state of one client in a file that was borrowed; closing it gives the file back. */
export const memoryIn = async (
  state: StateFile,
  digest: string,
  now: () => number = Date.now,
): Promise<FileMemory> => {
  const { connection } = state;
  const ask = state.ask.bind(state);
  const change = state.change.bind(state);
  const clients = clientsOf(connection);
  let scope = digest;
  const actAs = (client: KnownClient): void => {
    scope = client.scope;
  };
  const identify = (): KnownClient | null => {
    const client = clients.ofToken(digest);
    if (client) actAs(client);
    return client;
  };
  await ask(identify);
  const partOf = (templateId: number): string => `${scope} ${templateId}`;

  const partsOf = ({ row, records, forgotten }: MemoryChanges): (() => void)[] => {
    const id = row.templateId;
    const saveRow = (): void => {
      state.noteWrite(partOf(id));
      connection.run(queries.saveTemplate, scope, id, JSON.stringify(row));
    };
    const forget = (key: string): unknown => connection.run(queries.forgetRecord, scope, id, key);
    const save = (some: readonly RecordState[]): unknown => {
      const values = some.flatMap((record) => [scope, id, record.key, JSON.stringify(record)]);
      return connection.run(saveRecords(some.length), ...values);
    };
    return [
      saveRow,
      ...slicesOf(forgotten, mostRows, (some) => some.forEach(forget)),
      ...slicesOf(records, rowsAtOnce, save),
    ];
  };
  const note = (intent: Intent, result: IntentResult): void => {
    const entry = historyEntryOf(intent, result);
    const { at, template, outcome } = entry;
    const body = JSON.stringify(entry);
    connection.run(queries.addHistory, scope, at, template, outcome, body, scope, at, body);
    const kept = historyDays * day;
    connection.run(queries.trimOld, scope, at - kept, scope, newestWrites, kept);
    connection.run(queries.trimMost, mostWrites);
  };

  /** Also those of a token whose client was not known yet. */
  const saved = (): Suspension[] =>
    connection.all(queries.suspensions, scope, digest).map((row): Suspension => parse(row));
  const inEffect = (): Suspension[] => saved().filter((one) => isInEffect(one, now()));

  /** Adds of other clients to a template of ours are open too, for any token. */
  const rivals = (): readonly string[] => {
    const client = clients.ofToken(digest);
    return client ? clients.rivalsOf(client, []) : [];
  };

  return {
    template: (templateId) =>
      ask(() => {
        const row = connection.get(queries.template, scope, templateId);
        if (row === undefined) return null;
        return {
          row: parse(row),
          records: connection.all(queries.records, scope, templateId).map(parse),
        };
      }),
    templates: () => ask(() => connection.all(queries.templates, scope).map(parse)),
    openIntents: () =>
      ask(() => connection.all(queries.intents, scope, JSON.stringify(rivals()), scope).map(parse)),
    history: (filter = {}) =>
      ask(() =>
        connection
          .all(queries.history, scope, filter.since ?? 0)
          .map((row): HistoryEntry => parse(row))
          .filter((entry) => matches(entry, filter)),
      ),
    historySlice: ({ before, rows, since = 0, ...filter }) =>
      ask(() => {
        const found = connection.all(queries.slice, scope, since, before.at, before.id, rows).map(historyRow);
        const last = found.at(-1);
        return {
          entries: found.filter((row) => matches(row, filter)).map((row) => placed(row.id, parse(row))),
          end: last === undefined || found.length < rows ? null : { at: last.at, id: last.id },
        };
      }),
    begin: (intent) =>
      change(() => {
        const { lastInsertRowid } = connection.run(queries.addIntent, scope, JSON.stringify(intent));
        return { ...intent, id: Number(lastInsertRowid) };
      }),
    finish: (intent, result, changes) =>
      change(() => {
        connection.run(queries.closeIntent, intent.id, scope, JSON.stringify(rivals()));
        note(intent, result);
        for (const part of partsOf(changes)) part();
      }),
    save: (changes) =>
      state.changeTogether(1 + changes.records.length + changes.forgotten.length, partsOf(changes)),
    suspensions: () => ask(inEffect),
    suspend: (request) =>
      change(() => {
        const made = suspensionsFrom(request, now());
        for (const one of made)
          connection.run(queries.suspend, scope, suspensionKey(one), JSON.stringify(one));
        return made;
      }),
    resume: (templates) =>
      change(() => {
        const ended = inEffect().filter((one) => isEndedBy(one, templates));
        for (const one of ended) connection.run(queries.resume, scope, digest, suspensionKey(one));
        return ended;
      }),
    revisions: async () => {
      const revisionOf = await state.revisions();
      return { of: (id) => revisionOf(partOf(id)) };
    },
    identify: () => ask(identify),
    actAs,
    clients: {
      fitting: (baseUrl, listing) => ask(() => clients.fitting(baseUrl, listing)),
      rivalsOf: (client, templateIds) => ask(() => clients.rivalsOf(client, templateIds)),
      learn: (client, templateIds) =>
        change(() => {
          clients.learn(client, digest, templateIds);
          actAs(client);
        }),
    },
    close: (when) => state.giveBack(when),
  };
};

/** Tasks that do the same with so many items each. */
const slicesOf = <T>(
  items: readonly T[],
  size: number,
  task: (some: readonly T[]) => unknown,
): (() => void)[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => () => {
    task(items.slice(index * size, (index + 1) * size));
  });

/** Those in effect of all clients of a file, by each digest of a token. */
export const suspensionsInFile = async (
  file: string,
  now: number,
): Promise<ReadonlyMap<string, readonly Suspension[]>> => {
  const state = await borrowForReading(file);
  try {
    const rows = await state.ask(() => state.connection.all(queries.allSuspensions));
    return inEffectByDigest(rows.map(parse), now);
  } finally {
    await state.giveBack('later');
  }
};

const queries = {
  template: 'SELECT body FROM templates WHERE scope = ? AND template_id = ?',
  templates: 'SELECT body FROM templates WHERE scope = ? ORDER BY template_id',
  records: 'SELECT body FROM records WHERE scope = ? AND template_id = ?',
  saveTemplate:
    'INSERT INTO templates (scope, template_id, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  forgetRecord: 'DELETE FROM records WHERE scope = ? AND template_id = ? AND key = ?',
  intents: `SELECT json_set(body, '$.id', id) AS body FROM intents WHERE scope = ? OR
    (scope IN (SELECT value FROM json_each(?)) AND json_extract(body, '$.templateId') IN
      (SELECT template_id FROM known_templates WHERE scope = ?)) ORDER BY id`,
  addIntent: 'INSERT INTO intents (scope, body) VALUES (?, ?)',
  closeIntent:
    'DELETE FROM intents WHERE id = ? AND (scope = ? OR scope IN (SELECT value FROM json_each(?)))',
  history: 'SELECT body FROM history WHERE scope = ? AND at >= ? ORDER BY at, id',
  slice: `SELECT id, at, template, outcome, body FROM history
    WHERE scope = ? AND at >= ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?`,
  addHistory: `INSERT INTO history (scope, at, template, outcome, body) SELECT ?, ?, ?, ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM history WHERE scope = ? AND at = ? AND body = ?)`,
  suspensions: 'SELECT body FROM suspensions WHERE scope IN (?, ?) ORDER BY key',
  suspend:
    'INSERT INTO suspensions (scope, key, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
  resume: 'DELETE FROM suspensions WHERE scope IN (?, ?) AND key = ?',
  allSuspensions: `SELECT json_object('digest', coalesce(digest, scope), 'suspension', json(suspensions.body)) AS body
    FROM suspensions LEFT JOIN tokens USING (scope) ORDER BY digest, key`,
  trimOld: `DELETE FROM history WHERE scope = ? AND at < ? AND +at <
    (SELECT min(at) FROM (SELECT at FROM history WHERE scope = ? ORDER BY id DESC LIMIT ?)) - ?`,
  trimMost: 'DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?',
} as const;

/** Rows of one statement take 60 % of the time that a statement for each of them would take. */
const rowsAtOnce = 20;

const saveRecords = (count: number): string =>
  `INSERT INTO records (scope, template_id, key, body) VALUES ${'(?, ?, ?, ?), '.repeat(count).slice(0, -2)}
    ON CONFLICT DO UPDATE SET body = excluded.body`;

/** The bodies are this program's own; the schema version says which version wrote them. */
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
