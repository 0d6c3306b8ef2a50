import { existsSync, renameSync, rmSync } from 'node:fs';
import { connect, withTexts } from './connection.ts';
import {
  filesOf,
  markFileOf,
  memoryError,
  openDatabase,
  type DamagedMemoryError,
  type Opening,
} from './database.ts';
import { scopeOf } from './store-location.ts';

/** For people. */
export type Notice = readonly [message: string, level?: 'warn' | 'error'];

/**
 * Moves a file that cannot be used aside, under a name that says why, and puts a new one in its place, which knows of the
 * loss and of what was suspended. Nobody else may do the same meanwhile. Returns what people have to know.
 */
export const replaceDatabase = async (
  file: string,
  { message, kind }: DamagedMemoryError,
  opening: Opening,
): Promise<readonly Notice[]> => {
  const aside = asideOf(file, kind);
  const why = `${message}: it was moved to ${aside}`;
  const suspensions = await readSuspensions(file, kind);
  for (const one of filesOf(newOf(file))) rmSync(one, { force: true });
  const fresh = await openDatabase(newOf(file), { ...opening, lost: { at: opening.now, why } });
  for (const { scope, key, body } of suspensions ?? [])
    fresh.all('INSERT OR REPLACE INTO suspensions (scope, key, body) VALUES (?, ?, ?)', scope, key, body);
  await fresh.close('now');
  try {
    moveFiles(file, aside);
    rmSync(markFileOf(file), { force: true });
    renameSync(newOf(file), file);
  } catch (error) {
    throw memoryError(file, error);
  }
  const notices: Notice[] = [[`${why}; a new one starts without what it knew of the service`]];
  if (suspensions === null)
    notices.push([
      `what was suspended in ${file} cannot be read, and is suspended no more: suspend it again`,
      'error',
    ]);
  else if (suspensions.length > 0) notices.push([`${suspensions.length} suspensions in ${file} are kept`]);
  return notices;
};

/** The name for a file that is moved aside, which says why. */
export const asideOf = (file: string, kind: DamagedMemoryError['kind']): string =>
  `${file}.${kind}-${new Date().toISOString().replaceAll(/[^\d]/g, '')}`;

/** Moves a database with its files. */
export const moveFiles = (file: string, to: string): void => {
  for (const one of filesOf(file)) if (existsSync(one)) renameSync(one, to + one.slice(file.length));
};

/** Whoever replaced it may have died after the file was moved aside: the new one is whole. */
export const finishReplacing = (file: string): void => {
  if (existsSync(file) || !existsSync(newOf(file))) return;
  for (const one of filesOf(file)) rmSync(one, { force: true });
  renameSync(newOf(file), file);
};

const newOf = (file: string): string => `${file}.new`;

interface SavedSuspension {
  readonly scope: string;
  readonly key: string;
  readonly body: string;
}

/** Null if one query does not read them. */
const readSuspensions = async (
  file: string,
  kind: DamagedMemoryError['kind'],
): Promise<readonly SavedSuspension[] | null> => {
  const connection = connect(file, { timeout: 5_000 });
  try {
    return connection.all(kind === 'earlier' ? queries.earlier : queries.own).map(suspensionIn);
  } catch {
    return null;
  } finally {
    await connection.close('now');
  }
};

/** As bytes, which may be anything. Version 0.1 kept them by token, and knew whose a token was. */
const queries = {
  own: `SELECT CAST(scope AS BLOB) AS scope, CAST(key AS BLOB) AS key, CAST(body AS BLOB) AS body,
    NULL AS client FROM suspensions`,
  earlier: `SELECT NULL AS scope, CAST(key AS BLOB) AS key, CAST(suspensions.body AS BLOB) AS body,
    CAST(clients.body AS BLOB) AS client FROM suspensions LEFT JOIN clients USING (scope)`,
};

/** Throws if it is not what it should be. */
const suspensionIn = (row: unknown): SavedSuspension => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
  const { scope, key, body, client } = withTexts(row as Readonly<Record<string, string | null>>);
  const { template, by } = parse(body);
  if (!key || !body || JSON.stringify([template, by]) !== key) throw new Error('another suspension');
  if (scope) return { scope, key, body };
  const { baseUrl, name } = parse(client);
  if (typeof baseUrl !== 'string' || typeof name !== 'string') throw new Error('of an unknown client');
  return { scope: scopeOf(baseUrl, name), key, body };
};

const parse = (text: string | null | undefined): Readonly<Record<string, unknown>> => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is not an object has none of the keys
  return JSON.parse(text ?? '') as Record<string, unknown>;
};
