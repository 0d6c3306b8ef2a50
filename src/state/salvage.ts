import { renameSync, rmSync } from 'node:fs';
import { connect, type SqliteConnection, type Value } from './connection.ts';
import { DamagedMemoryError, filesOf, quarantine, openDatabase } from './database.ts';
import { takeInScopes } from './migrations.ts';
import type { PortableTable } from './portable-rows.ts';
import { borrowState, openState, type StateFile } from './state-file.ts';

/** Borrows the saved state. A damaged one is kept aside, and a new one gets everything that can still be read. */
export const borrowOrSalvage = async (file: string, say: (message: string) => void): Promise<StateFile> => {
  try {
    return await borrowState(file, openState);
  } catch (error) {
    if (!(error instanceof DamagedMemoryError)) throw error;
    const { message } = error;
    return borrowState(file, () => salvaged(file, message, say));
  }
};

const salvaged = async (file: string, damage: string, say: (message: string) => void): Promise<StateFile> => {
  const fresh = `${file}.new`;
  removeDatabase(fresh);
  const saved = await salvage(file, fresh);
  const aside = quarantine(file, 'damaged');
  renameSync(fresh, file);
  say(
    `${damage}: it was moved to ${aside}; a new one starts with what could be read (${saved}); everything else is lost`,
  );
  return openState(file);
};

/** Intents come first: without them, a record could be added twice. */
const tables: readonly SalvagedTable[] = [
  {
    name: 'intents',
    called: 'writes of unknown outcome',
    key: ['id'],
    numbers: ['id'],
    texts: ['scope', 'body'],
  },
  {
    name: 'templates',
    called: 'templates',
    key: ['scope', 'template_id'],
    numbers: ['template_id'],
    texts: ['scope', 'body'],
  },
  {
    name: 'records',
    called: 'records',
    key: ['scope', 'template_id', 'key'],
    numbers: ['template_id'],
    texts: ['scope', 'key', 'body'],
  },
  {
    name: 'history',
    called: 'writes in the history',
    key: ['id'],
    numbers: ['id', 'at'],
    texts: ['scope', 'template', 'outcome', 'body'],
  },
  {
    name: 'suspensions',
    called: 'suspensions',
    key: ['scope', 'key'],
    numbers: [],
    texts: ['scope', 'key', 'body'],
  },
  { name: 'clients', called: null, key: ['scope'], numbers: [], texts: ['scope', 'body'] },
  { name: 'tokens', called: null, key: ['digest'], numbers: [], texts: ['digest', 'scope'] },
  {
    name: 'client_templates',
    called: null,
    key: ['scope', 'template_id'],
    numbers: ['template_id'],
    texts: ['scope'],
  },
];

interface SalvagedTable {
  readonly name: PortableTable;
  /** Null for the identity of clients: later listings restore it. */
  readonly called: string | null;
  /** The sort order of the rows. */
  readonly key: readonly string[];
  readonly numbers: readonly string[];
  /** The columns that hold text, which are read as bytes: they may be anything. */
  readonly texts: readonly string[];
}

type SalvagedRow = Readonly<Record<string, Value>>;

/** Copies the readable rows into a new database. Returns their numbers, in words. */
const salvage = async (file: string, fresh: string): Promise<string> => {
  const source = connect(file, { timeout: 5_000 });
  const target = await openDatabase(fresh);
  try {
    const counts = tables.map((table) => {
      const rows = readableRows(source, table);
      target.transaction(() => rows.forEach((row) => insert(target, table, row)));
      return table.called === null ? [] : [`${rows.length} ${table.called}`];
    });
    target.exec(takeInScopes);
    return counts.flat().join(', ');
  } finally {
    await source.close('now');
    await target.close('now');
  }
};

/** From both ends up to the damaged part. */
const readableRows = (source: SqliteConnection, table: SalvagedTable): SalvagedRow[] => {
  const rows = new Map<string, SalvagedRow>();
  for (const direction of ['ASC', 'DESC'] as const) {
    try {
      for (let row = next(source, table, direction, null); row; row = next(source, table, direction, row)) {
        const key = JSON.stringify(keyOf(table, row));
        if (rows.has(key)) break;
        rows.set(key, row);
      }
    } catch {
      // Rows behind this position cannot be reached.
    }
  }
  return [...rows.values()].filter((row) => isUsable(table, row));
};

const next = (
  source: SqliteConnection,
  table: SalvagedTable,
  direction: 'ASC' | 'DESC',
  after: SalvagedRow | null,
): SalvagedRow | undefined => {
  const { name, key, texts, numbers } = table;
  const bytes = texts.map((column) => `CAST(${column} AS BLOB) AS ${column}`).join();
  const beyond = `WHERE (${key.join()}) ${direction === 'ASC' ? '>' : '<'} (${key.map(() => '?').join()})`;
  const order = key.map((column) => `${column} ${direction}`).join();
  const sql = `SELECT ${numbers.join()}, ${bytes} FROM ${name} ${after ? beyond : ''} ORDER BY ${order} LIMIT 1`;
  const row = source.get(sql, ...(after ? keyOf(table, after) : []));
  return row === undefined ? undefined : decoded(table, row);
};

/** Throws if a text is not valid. */
const decoded = ({ numbers, texts }: SalvagedTable, row: unknown): SalvagedRow => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- numbers, and texts as bytes
  const values = row as Readonly<Record<string, number & ArrayBuffer>>;
  return Object.fromEntries([
    ...numbers.map((column) => [column, values[column]!] as const),
    ...texts.map((column) => [column, utf8.decode(values[column])] as const),
  ]);
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const keyOf = ({ key }: SalvagedTable, row: SalvagedRow): Value[] => key.map((column) => row[column] ?? '');

/** An invalid body, or one of another row, is dropped. */
const isUsable = ({ name }: SalvagedTable, { body, ...row }: SalvagedRow): boolean => {
  if (typeof row['scope'] !== 'string') return false;
  if (name === 'tokens' || name === 'client_templates') return true;
  const parsed = parseBody(body);
  if (parsed === null) return false;
  switch (name) {
    case 'clients':
      return parsed['scope'] === row['scope'];
    case 'intents':
      return typeof parsed['templateId'] === 'number' && typeof parsed['key'] === 'string';
    case 'templates':
      return parsed['templateId'] === row['template_id'];
    case 'records':
      return parsed['key'] === row['key'];
    case 'history':
      return parsed['at'] === row['at'];
    case 'suspensions':
      return JSON.stringify([parsed['template'], parsed['by']]) === row['key'];
  }
};

const parseBody = (body: Value | undefined): Readonly<Record<string, unknown>> | null => {
  try {
    const parsed: unknown = JSON.parse(String(body));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return typeof parsed === 'object' ? (parsed as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
};

const insert = (target: SqliteConnection, { name }: SalvagedTable, row: SalvagedRow): void => {
  const columns = Object.keys(row);
  const marks = columns.map(() => '?').join();
  target.run(`INSERT OR REPLACE INTO ${name} (${columns.join()}) VALUES (${marks})`, ...Object.values(row));
};

const removeDatabase = (file: string): void => filesOf(file).forEach((one) => rmSync(one, { force: true }));
