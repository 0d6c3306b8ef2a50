/**
 * One statement, whose values are texts and numbers. Throws `MemoryError`; a shared store waits no longer than `patience`
 * milliseconds.
 */
export type Query = <Row>(
  sql: string,
  values?: readonly unknown[],
  patience?: number,
) => Promise<readonly Row[]>;

/** The tables of a store. A large number may come as text. */
export interface Tables {
  readonly sql: Statements;
  readonly query: Query;
  /** For a task that finds out whether what is there can be read: where that fails the store is damaged. */
  readonly ask: <T>(task: (query: Query) => Promise<T>) => Promise<T>;
  /** All or nothing. `isSynced`: on disk when it returns; else at the latest when the next one is that is. */
  readonly transaction: <T>(task: (query: Query) => Promise<T>, isSynced?: boolean) => Promise<T>;
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly now: () => Promise<number>;
}

/** The same, for what a pass does with the state of its client. */
export interface ClientTables extends Tables {
  /** What a pass begins with. Throws where the client is not ours any more. */
  readonly opening: <T>(scope: string, read: (rows: readonly OpeningRow[]) => T) => Promise<T>;
  /** Another text where numbers may be given again. */
  readonly era: () => string;
  /** Adds an entry to the journal, synced. Returns its id. */
  readonly begin: (scope: string, body: string) => Promise<number>;
  /** What became of these entries is saved. */
  readonly ended: (ids: readonly number[]) => void;
}

export interface OpeningRow {
  readonly kind: 'entry' | 'suspension' | 'revisions' | 'compared' | 'token' | 'claim';
  readonly id: number | string;
  readonly body: string;
}

/** How a store says what SQLite and PostgreSQL say in different ways. */
export interface Dialect {
  /** The schema that the tables are in, with a dot; empty if there is none. */
  readonly schema: string;
  /** A number that no row before had. */
  readonly id: string;
  /** Where a table has nothing but its key and a body. */
  readonly keyed: string;
  /** A number by default that tells whether a row has changed. */
  readonly revision: string;
  /** What is text. */
  readonly text: (expression: string) => string;
  /** The elements of the JSON array in this parameter, each of them an array: `value ->> 0`. */
  readonly each: (parameter: string) => string;
  /** All rows as one JSON object, of numbers by numbers. */
  readonly object: (key: string, value: string) => string;
  /** How many writes the history of all clients together has; null: any number. */
  readonly mostWrites: number | null;
}

/**
 * The tables that both stores have. Bodies are JSON as text: `jsonb` refuses what a service may well put into a record.
 * `told` has a row for each receiver, client and template (the client as a whole: '') that is not in sync, as the receiver
 * knows it; `messages` those that were not taken yet. Whoever changes anything here or in a body changes the version of
 * both stores.
 */
export const tablesOf = ({ schema, id, keyed, revision }: Dialect): readonly string[] => [
  `CREATE TABLE ${schema}clients (
     scope text PRIMARY KEY, base_url text NOT NULL, name text NOT NULL, token text NOT NULL DEFAULT '')${keyed}`,
  `CREATE TABLE ${schema}templates (
     scope text NOT NULL, template_id bigint NOT NULL, revision bigint NOT NULL DEFAULT (${revision}),
     body text NOT NULL, PRIMARY KEY (scope, template_id))${keyed}`,
  `CREATE TABLE ${schema}records (
     scope text NOT NULL, template_id bigint NOT NULL, key text NOT NULL, body text NOT NULL,
     PRIMARY KEY (scope, template_id, key))${keyed}`,
  `CREATE TABLE ${schema}journal (id ${id}, scope text NOT NULL, body text NOT NULL)`,
  `CREATE INDEX journal_by_client ON ${schema}journal (scope)`,
  `CREATE TABLE ${schema}history (id ${id}, scope text NOT NULL, at bigint NOT NULL, body text NOT NULL)`,
  `CREATE INDEX history_by_time ON ${schema}history (scope, at, id)`,
  `CREATE TABLE ${schema}suspensions (
     scope text NOT NULL, key text NOT NULL, body text NOT NULL, PRIMARY KEY (scope, key))${keyed}`,
  `CREATE TABLE ${schema}compared (
     base_url text NOT NULL, template_id bigint NOT NULL, scope text NOT NULL, at bigint NOT NULL,
     PRIMARY KEY (base_url, template_id))${keyed}`,
  `CREATE INDEX compared_by_client ON ${schema}compared (scope)`,
  `CREATE TABLE ${schema}told (
     client text NOT NULL, receiver text NOT NULL, template text NOT NULL, body text NOT NULL,
     PRIMARY KEY (client, receiver, template))${keyed}`,
  `CREATE TABLE ${schema}messages (
     id text PRIMARY KEY, receiver text NOT NULL, client text NOT NULL, number bigint NOT NULL, body text NOT NULL)${keyed}`,
];

export type Statements = ReturnType<typeof statementsIn>;

/** What is done with the tables, which have the same names and columns in both stores. */
export const statementsIn = ({ schema, text, each, object, mostWrites }: Dialect) => ({
  // By one statement, since each pass asks for it. Each part is found by its client.
  opening: `SELECT 'entry' AS kind, id, ${text('body')} AS body FROM ${schema}journal WHERE scope = $1
    UNION ALL SELECT 'suspension', 0, ${text('body')} FROM ${schema}suspensions WHERE scope = $1
    UNION ALL SELECT 'revisions', 0, ${object('template_id', 'revision')} FROM ${schema}templates WHERE scope = $1
    UNION ALL SELECT 'compared', 0, ${object('template_id', 'at')} FROM ${schema}compared WHERE scope = $1
    UNION ALL SELECT 'token', 0, ${text('token')} FROM ${schema}clients WHERE scope = $1`,
  // By one as well.
  template: `SELECT 1 AS "isTemplate", ${text('body')} AS body FROM ${schema}templates
      WHERE scope = $1 AND template_id = $2
    UNION ALL SELECT 0, ${text('body')} FROM ${schema}records WHERE scope = $1 AND template_id = $2`,
  templates: `SELECT ${text('body')} AS body FROM ${schema}templates WHERE scope = $1 ORDER BY template_id`,
  saveTemplate: `INSERT INTO ${schema}templates (scope, template_id, body) VALUES ($1, $2, $3)
    ON CONFLICT (scope, template_id) DO UPDATE SET body = excluded.body, revision = excluded.revision`,
  forget: `DELETE FROM ${schema}records WHERE scope = $1 AND template_id = $2
    AND key IN (SELECT value ->> 0 FROM ${each('$3')})`,
  saveRecords: `INSERT INTO ${schema}records (scope, template_id, key, body)
    SELECT $1, $2, value ->> 0, value ->> 1 FROM ${each('$3')} WHERE true
    ON CONFLICT (scope, template_id, key) DO UPDATE SET body = excluded.body`,

  begin: `INSERT INTO ${schema}journal (scope, body) VALUES ($1, $2) RETURNING id`,
  amend: `UPDATE ${schema}journal AS entry SET body = value ->> 1 FROM ${each('$2')}
    WHERE entry.id = CAST(value ->> 0 AS bigint) AND entry.scope = $1`,
  leave: `DELETE FROM ${schema}journal WHERE scope = $1
    AND id IN (SELECT CAST(value ->> 0 AS bigint) FROM ${each('$2')})`,

  history: `SELECT id, ${text('body')} AS body FROM ${schema}history
    WHERE scope = $1 AND at >= $2 AND (at, id) < ($3, $4) ORDER BY at DESC, id DESC LIMIT $5`,
  // Whoever could not know that it was noted notes it again.
  note: `INSERT INTO ${schema}history (scope, at, body) SELECT CAST($1 AS text), CAST($2 AS bigint), CAST($3 AS text)
    WHERE NOT EXISTS (SELECT 1 FROM ${schema}history WHERE scope = $1 AND at = $2 AND body = $3)`,
  trimOld: `DELETE FROM ${schema}history WHERE scope = $1 AND at < $2`,
  trimMost:
    mostWrites === null
      ? null
      : `DELETE FROM ${schema}history WHERE id <= (SELECT max(id) FROM ${schema}history) - ${mostWrites}`,

  suspensions: `SELECT ${text('body')} AS body FROM ${schema}suspensions WHERE scope = $1 ORDER BY key`,
  allSuspensions: `SELECT ${text('scope')} AS scope, ${text('body')} AS body FROM ${schema}suspensions ORDER BY scope, key`,
  suspend: `INSERT INTO ${schema}suspensions (scope, key, body) VALUES ($1, $2, $3)
    ON CONFLICT (scope, key) DO UPDATE SET body = excluded.body`,
  resume: `DELETE FROM ${schema}suspensions WHERE scope = $1 AND key = $2`,

  // One that has state of its own has nothing to take over.
  renamed: `SELECT ${text('scope')} AS scope, ${text('name')} AS name FROM ${schema}clients
    WHERE base_url = $2 AND token = $3 AND scope <> $1
      AND NOT EXISTS (SELECT 1 FROM ${schema}clients WHERE scope = $1 AND token <> '')`,
  noteClient: `INSERT INTO ${schema}clients (scope, base_url, name, token) VALUES ($1, $2, $3, $4)
    ON CONFLICT (scope) DO UPDATE SET name = excluded.name, token = excluded.token`,
  removeClient: `DELETE FROM ${schema}clients WHERE scope = $1`,
  takeOver: [
    // Whoever has suspended the new name already has said it last.
    `DELETE FROM ${schema}suspensions WHERE scope = $2
      AND key IN (SELECT key FROM ${schema}suspensions WHERE scope = $1)`,
    ...['templates', 'records', 'journal', 'history', 'suspensions', 'compared'].map(
      (table) => `UPDATE ${schema}${table} SET scope = $1 WHERE scope = $2`,
    ),
  ],
  // A clock may have been set back since, by less than a day.
  compare: `INSERT INTO ${schema}compared (base_url, template_id, scope, at)
    SELECT $1, CAST(value ->> 0 AS bigint), $3, $4 FROM ${each('$2')} WHERE true
    ON CONFLICT (base_url, template_id) DO UPDATE SET scope = excluded.scope, at = excluded.at
    WHERE compared.scope = excluded.scope OR compared.at NOT BETWEEN $5 AND $6`,
  comparedByOthers: `SELECT template_id AS id, ${text('name')} AS name
    FROM ${schema}compared JOIN ${schema}clients USING (scope)
    WHERE compared.base_url = $1 AND scope <> $3 AND at BETWEEN $4 AND $5
      AND template_id IN (SELECT CAST(value ->> 0 AS bigint) FROM ${each('$2')})`,

  told: `SELECT ${text('body')} AS body FROM ${schema}told WHERE client = $1`,
  tell: `INSERT INTO ${schema}told (client, receiver, template, body) VALUES ($1, $2, $3, $4)
    ON CONFLICT (client, receiver, template) DO UPDATE SET body = excluded.body`,
  forgetTold: `DELETE FROM ${schema}told WHERE client = $1 AND receiver = $2 AND template = $3`,
  addMessage: `INSERT INTO ${schema}messages (id, receiver, client, number, body)
    SELECT $1, $2, $3, coalesce(max(number), 0) + 1, $4 FROM ${schema}messages`,
  waitingMessages: `SELECT count(*) AS count FROM ${schema}messages WHERE client = $1 AND receiver = $2`,
  // Of all clients where there is no list of them.
  nextMessage: `SELECT ${text('body')} AS body FROM ${schema}messages WHERE receiver = $1
    AND (CAST($2 AS text) IS NULL OR client IN (SELECT value ->> 0 FROM ${each('$2')})) ORDER BY number, id LIMIT 1`,
  endMessage: `DELETE FROM ${schema}messages WHERE id = $1`,
});
