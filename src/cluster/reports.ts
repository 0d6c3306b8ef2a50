import { createHash } from 'node:crypto';
import type { PassReport } from '../daemon/fleet.ts';
import { batched, limit } from '../lib/limit.ts';
import { planned, type PostgresDatabase } from './database.ts';
import { repeatedPassOf, repeatedReport, type RepeatedPass } from './repeated-pass.ts';

/** The last pass of each scope, for all processes to show. */
export interface Reports {
  /** Soon, with others. Returns whether it differs from the last one that this process saved of the scope. */
  save(scope: string, report: PassReport): Promise<boolean>;
  /** Those of other processes since it was called last; all of them the first time. */
  news(): Promise<readonly SharedReport[]>;
}

export interface SharedReport {
  /** The key of the scope. */
  readonly scope: string;
  readonly report: PassReport;
}

export const reportsOf = ({ query }: Pick<PostgresDatabase, 'query'>, process: string): Reports => {
  const known = new Map<string, KnownReport>();
  const digests = new Map<string, string>();
  let newest = 0;
  const oneAtATime = limit(1);
  const fetch = async (scopes: readonly string[]): Promise<void> => {
    for (let from = 0; from < scopes.length; from += pageSize) {
      const rows = await query<StoredReport>(bodies, [scopes.slice(from, from + pageSize)]);
      for (const { scope, number, body } of rows)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this program wrote
        known.set(scope, { number, shown: '', report: JSON.parse(body) as PassReport });
    }
  };
  const news = async (): Promise<readonly SharedReport[]> => {
    const heads = await query<NewestReport>(newer, [newest - overlap, process]);
    const fresh = heads.filter(({ scope, number }) => known.get(scope)?.shown !== number);
    const unknown = fresh.filter(({ scope, report }) => known.get(scope)?.number !== report);
    await fetch(unknown.map(({ scope }) => scope));
    newest = Math.max(newest, ...heads.map(({ number }) => Number(number)));
    return fresh.flatMap(({ scope, number, report, pass }) => {
      const found = known.get(scope);
      if (found === undefined) return [];
      known.set(scope, { ...found, shown: number });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this program wrote
      const repeated = pass === null ? null : (JSON.parse(pass) as RepeatedPass);
      const isSame = repeated !== null && found.number === report;
      return { scope, report: isSame ? repeatedReport(found.report, repeated) : found.report };
    });
  };
  const saveAll = async (rows: readonly SavedReport[]): Promise<void> => {
    // In one order, so that nobody waits for somebody who waits for them. Of each scope the last one.
    const sorted = [...new Map(rows.map((row) => [row.scope, row])).values()].toSorted((a, b) =>
      a.scope < b.scope ? -1 : 1,
    );
    const column = (name: keyof SavedReport): unknown[] => sorted.map((row) => row[name]);
    await query(save, [process, column('scope'), column('digest'), column('pass'), column('body')]);
  };
  const saveSoon = batched(saveAll, moment);
  return {
    save: async (scope, report) => {
      const row = asRow(scope, report);
      const isNew = row.digest === null || digests.get(scope) !== row.digest;
      if (row.digest !== null) digests.set(scope, row.digest);
      await saveSoon(row);
      return isNew;
    },
    news: () => oneAtATime(news),
  };
};

interface KnownReport {
  readonly number: string;
  /** The number of the last pass that was shown with it. */
  readonly shown: string;
  readonly report: PassReport;
}

interface StoredReport {
  readonly scope: string;
  readonly number: string;
  readonly body: string;
}

interface NewestReport extends Pick<StoredReport, 'scope' | 'number'> {
  /** The number of the report. */
  readonly report: string;
  /** A later pass that found the same. */
  readonly pass: string | null;
}

interface SavedReport {
  readonly scope: string;
  /** Equal for passes that found the same; null if there can be none. */
  readonly digest: string | null;
  readonly pass: string;
  readonly body: string;
}

const asRow = (scope: string, report: PassReport): SavedReport => {
  const pass = repeatedPassOf(report);
  const found = JSON.stringify(repeatedReport(report, ['', 'schedule', '', 0, 0]));
  return {
    scope,
    digest: pass && createHash('md5').update(found).digest('hex'),
    pass: JSON.stringify(pass),
    body: JSON.stringify(report),
  };
};

/** Milliseconds in which reports are saved together. */
const moment = 300;
/** A number that was drawn earlier may be committed later. */
const overlap = 1_000;
const pageSize = 200;

/**
 * A pass that found the same as its scope's report changes one small row, which no index has to follow. The digest of a
 * report is of no use once an older program, which knows nothing of it, has replaced the report.
 */
const save =
  planned(`WITH given AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS given (scope, digest, pass, body)),
    same AS (SELECT given.scope, given.pass, saved.number FROM given JOIN dns_sync.reports saved
      ON saved.scope = given.scope AND saved.digest = saved.number || ' ' || given.digest),
    repeated AS (INSERT INTO dns_sync.repeated_passes (scope, number, process, report, pass)
      SELECT scope, nextval('dns_sync.report_numbers'), $1, number, pass FROM same ORDER BY scope
      ON CONFLICT (scope) DO UPDATE SET number = excluded.number, process = excluded.process, report = excluded.report,
        pass = excluded.pass),
    other AS (SELECT *, nextval('dns_sync.report_numbers') AS number FROM given
      WHERE scope NOT IN (SELECT scope FROM same) ORDER BY scope)
  INSERT INTO dns_sync.reports (scope, number, process, body, digest)
    SELECT scope, number, $1, body, number || ' ' || digest FROM other
  ON CONFLICT (scope) DO UPDATE SET number = excluded.number, process = excluded.process, body = excluded.body,
    digest = excluded.digest`);

/** The last pass of each scope, unless this process has made it. */
const newer = planned(`WITH fresh AS (SELECT scope FROM dns_sync.reports WHERE number > $1
      UNION SELECT scope FROM dns_sync.repeated_passes WHERE number > $1)
  SELECT r.scope, coalesce(p.number, r.number) AS number, r.number AS report, p.pass
  FROM fresh JOIN dns_sync.reports r USING (scope)
    LEFT JOIN dns_sync.repeated_passes p ON p.scope = r.scope AND p.report = r.number AND p.number > r.number
  WHERE coalesce(p.process, r.process) <> $2`);

const bodies = 'SELECT scope, number, body FROM dns_sync.reports WHERE scope = ANY ($1::text[])';
