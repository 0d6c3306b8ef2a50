import { existsSync, renameSync, rmSync } from 'node:fs';
import { suspensionKey, type Suspension } from '../model/suspension.ts';
import { connect, withTexts } from './connection.ts';
import {
  filesOf,
  markFileOf,
  memoryError,
  openDatabase,
  type DamagedMemoryError,
  type Opening,
} from './database.ts';

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
  const suspensions = await readSuspensions(file);
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
const readSuspensions = async (file: string): Promise<readonly SavedSuspension[] | null> => {
  const connection = connect(file, { timeout: 5_000 });
  try {
    return connection.all(suspended).map(suspensionIn);
  } catch {
    return null;
  } finally {
    await connection.close('now');
  }
};

/** As bytes, which may be anything. Version 0.1 had no base URL there, and other scopes. */
const suspended = `SELECT CAST(scope AS BLOB) AS scope, CAST(key AS BLOB) AS key, CAST(body AS BLOB) AS body
  FROM suspensions LEFT JOIN (SELECT scope, base_url FROM clients) AS client USING (scope)`;

/** Throws if it is not what it should be. */
const suspensionIn = (row: unknown): SavedSuspension => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
  const found = withTexts(row as SavedSuspension);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is compared
  if (suspensionKey(JSON.parse(found.body) as Suspension) !== found.key)
    throw new Error('another suspension');
  return found;
};
