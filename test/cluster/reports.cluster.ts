import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { PassReport } from '../../src/cluster/membership.ts';
import { reportsOf } from '../../src/cluster/reports.ts';
import { newTables } from './databases.ts';

// So long that it is kept apart from its row.
const holdReason = Array.from({ length: 200 }, () => randomUUID()).join();

/** Of a pass at this minute, whose client has so many differences. */
const reportAt = (minute: number, left: number): PassReport => {
  const startedAt = Date.UTC(2026, 10, 24, 12, minute);
  const pass = { client: 'one', trigger: 'schedule', durationMs: minute } as const;
  const found = { retryAfter: null, dryRun: false, wasRead: true, templates: [], problems: [] };
  return {
    entry: { ...pass, startedAt, status: 'held', written: 0, left, error: null },
    latest: {
      ...pass,
      ...found,
      run: randomUUID(),
      startedAt: new Date(startedAt).toISOString(),
      holdReason,
    },
    lastError: null,
    isReady: true,
  };
};

it('a pass that has found what the one before has found is shown by others, and its report is not saved again', async () => {
  const { database } = await newTables();
  const [one, other, reader] = ['one', 'other', 'reader'].map((process) => reportsOf(database, process));
  const [place] = await database.query<{ name: string }>(
    "SELECT reltoastrelid::regclass AS name FROM pg_class WHERE oid = 'dns_sync.reports'::regclass",
  );
  const savedBy = async (): Promise<string> =>
    (await database.query<{ by: string }>(`SELECT xmin::text AS by FROM ${place!.name}`))[0]!.by;
  let before = '';
  for (const [minute, process, left] of [
    [1, one, 0],
    [2, one, 0],
    [3, other, 0],
    [4, other, 1],
  ] as const) {
    const report = reportAt(minute, left);
    await process!.save('scope', report);
    expect((await reader!.news()).map((news) => news.report)).toEqual([report]);
    const by = await savedBy();
    expect(by === before).toBe(minute === 2 || minute === 3);
    before = by;
  }
  // It has made the last pass itself.
  expect(await other!.news()).toEqual([]);
  expect(await reader!.news()).toEqual([]);
});

it('what is found after an older state of the database was restored is shown by those that run on', async () => {
  const { database } = await newTables();
  const [one, reader] = ['one', 'reader'].map((process) => reportsOf(database, process));
  await database.query("SELECT setval('dns_sync.report_numbers', 5000)");
  await one!.save('scope', reportAt(1, 0));
  expect(await reader!.news()).toHaveLength(1);
  await database.query("SELECT setval('dns_sync.report_numbers', 3000)");
  const report = reportAt(2, 1);
  await one!.save('scope', report);
  expect(await reader!.news()).toEqual([{ scope: 'scope', report }]);
  expect(await reader!.news()).toEqual([]);
});
