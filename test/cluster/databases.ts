import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openDatabase, type PostgresDatabase } from '../../src/cluster/database.ts';
import { makeTables } from '../../src/cluster/schema.ts';
import { postgresStore, type PostgresStore } from '../../src/cluster/store.ts';

/** A database of its own, with nothing in it. */
export const newDatabaseUrl = async (options = ''): Promise<string> => {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const client = new Client(inject('postgres'));
  await client.connect();
  await client.query(`CREATE DATABASE ${name} ${options}`);
  await client.end();
  const url = new URL(inject('postgres'));
  url.pathname = `/${name}`;
  return url.href;
};

/** Closed when the test ends. */
export const connected = (url: string): PostgresDatabase => {
  const database = openDatabase(() => url);
  onTestFinished(() => database.close());
  return database;
};

/** One with the tables, which several may connect to. */
export const newTables = async (): Promise<{ readonly url: string; readonly database: PostgresDatabase }> => {
  const url = await newDatabaseUrl();
  const database = connected(url);
  await makeTables(database);
  return { url, database };
};

/** That of one process. */
export const storeAt = (url: string, leaseDuration = 30_000, isDaemon = false): PostgresStore =>
  postgresStore({
    url: () => url,
    connections: 4,
    leaseDuration,
    isDaemon,
    version: '1',
    address: null,
  });
