import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PassReport } from '../../src/cluster/membership.ts';
import { reportsOf, type Reports } from '../../src/cluster/reports.ts';
import { newTables } from './databases.ts';

const client = 'one';
const long = Array.from({ length: 200 }, () => randomUUID()).join();

/** Of a pass at this minute, whose client has so many differences. */
const reportAt = (minute: number, left = 0): PassReport => {
  const run = randomUUID();
  const startedAt = Date.UTC(2026, 10, 24, 12, minute);
  const at = new Date(startedAt).toISOString();
  const status = left === 0 ? 'in-sync' : 'drifted';
  return {
    entry: {
      client,
      trigger: 'schedule',
      startedAt,
      durationMs: minute,
      status,
      written: 0,
      left,
      error: null,
    },
    latest: {
      client,
      run,
      trigger: 'schedule',
      startedAt: at,
      durationMs: minute,
      dryRun: false,
      // So long that it is kept apart from its row.
      holdReason: long,
      retryAfter: null,
      wasRead: true,
      templates: [],
      problems: [],
    },
    lastError: null,
    isReady: true,
  };
};

const newProcesses = async () => {
  const { database } = await newTables();
  const [one, other, reader] = ['one', 'other', 'reader'].map((process) => reportsOf(database, process));
  /** Another one after each change of what was found. */
  const versionOfReport = async (): Promise<string | undefined> => {
    const [{ place } = { place: '' }] = await database.query<{ place: string }>(
      "SELECT reltoastrelid::regclass AS place FROM pg_class WHERE oid = 'dns_sync.reports'::regclass",
    );
    return (await database.query<{ version: string }>(`SELECT xmin::text AS version FROM ${place}`))[0]
      ?.version;
  };
  return { database, one: one!, other: other!, reader: reader!, versionOfReport };
};

const scope = 'scope';

const shown = async (reports: Reports): Promise<PassReport[]> =>
  (await reports.news()).map(({ report }) => report);

describe('a pass that has found what the one before has found', () => {
  it('is shown by other processes, and leaves the report as it was, whoever made it', async () => {
    const { one, other, reader, versionOfReport } = await newProcesses();
    const passes = [1, 2, 3].map((minute) => reportAt(minute));
    await one.save(scope, passes[0]!);
    const version = await versionOfReport();
    expect(version).toBeDefined();
    expect(await shown(reader)).toEqual([passes[0]]);
    for (const [at, process] of [
      [1, one],
      [2, other],
    ] as const) {
      await process.save(scope, passes[at]!);
      expect(await shown(reader)).toEqual([passes[at]]);
    }
    expect(await versionOfReport()).toBe(version);
    // It has made the last pass itself.
    expect(await other.news()).toEqual([]);
    expect(await reader.news()).toEqual([]);
  });
});

describe('a pass that has found something else', () => {
  it('replaces the report', async () => {
    const { one, reader } = await newProcesses();
    const passes = [reportAt(1), reportAt(2), reportAt(3, 1), reportAt(4, 1)];
    for (const pass of passes) {
      await one.save(scope, pass);
      expect(await shown(reader)).toEqual([pass]);
    }
  });
});
