import type { PostgresDatabase } from '../../src/cluster/database.ts';
import { makeTables } from '../../src/cluster/schema.ts';
import { connected, newDatabaseUrl } from './databases.ts';

/** A database with the tables, which several may connect to. */
export const newTables = async (): Promise<{ readonly url: string; readonly database: PostgresDatabase }> => {
  const url = await newDatabaseUrl();
  const database = connected(url);
  await makeTables(database);
  return { url, database };
};
