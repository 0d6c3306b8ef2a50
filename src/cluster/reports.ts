import { createHash } from 'node:crypto';
import type { PassReport } from '../daemon/fleet.ts';
import { batched, limit } from '../lib/limit.ts';
import { planned, type PostgresDatabase } from './database.ts';
import { repeatedPassOf, repeatedReport, type RepeatedPass } from './repeated-pass.ts';

/** The last pass of each client, for all processes to show. */
export interface Reports {
  /** Soon, with others. */
  save(report: PassReport): Promise<void>;
  /** Those of other processes since it was called last; all of them the first time. */
  news(): Promise<readonly PassReport[]>;
}

export const reportsOf = ({ query }: Pick<PostgresDatabase, 'query'>, replica: string): Reports => {
  const known = new Map<string, KnownReport>();
  let newest = 0;
  const oneAtATime = limit(1);
  const fetch = async (clients: readonly string[]): Promise<void> => {
    for (let from = 0; from < clients.length; from += pageSize) {
      const rows = await query<StoredReport>(bodies, [clients.slice(from, from + pageSize)]);
      for (const { client, number, body } of rows)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this program wrote
        known.set(client, { number, shown: '', report: JSON.parse(body) as PassReport });
    }
  };
  const news = async (): Promise<readonly PassReport[]> => {
    const heads = await query<NewestReport>(newer, [newest - overlap, replica]);
    const fresh = heads.filter(({ client, number }) => known.get(client)?.shown !== number);
    const unknown = fresh.filter(({ client, report }) => known.get(client)?.number !== report);
    await fetch(unknown.map(({ client }) => client));
    newest = Math.max(newest, ...heads.map(({ number }) => Number(number)));
    return fresh.flatMap(({ client, number, report, pass }) => {
      const found = known.get(client);
      if (found === undefined) return [];
      known.set(client, { ...found, shown: number });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this program wrote
      const repeated = pass === null ? null : (JSON.parse(pass) as RepeatedPass);
      return repeated === null || found.number !== report
        ? found.report
        : repeatedReport(found.report, repeated);
    });
  };
  const saveAll = async (rows: readonly SavedReport[]): Promise<void> => {
    // In one order, so that nobody waits for somebody who waits for them. Of each client the last one.
    const sorted = [...new Map(rows.map((row) => [row.client, row])).values()].toSorted((a, b) =>
      a.client < b.client ? -1 : 1,
    );
    const column = (name: keyof SavedReport): unknown[] => sorted.map((row) => row[name]);
    await query(save, [replica, column('client'), column('digest'), column('pass'), column('body')]);
  };
  const saveSoon = batched(saveAll, moment);
  return {
    save: (report) => saveSoon(asRow(report)),
    news: () => oneAtATime(news),
  };
};

/** On which processes tell each other what is new. */
export const fleetChannel = 'dns_template_sync_fleet';
/** `report`: of a pass that has ended; `pass`: one is to be made at once. */
export const fleetNews = { report: 'report', pass: 'pass' } as const;

interface KnownReport {
  readonly number: string;
  /** The number of the last pass that was shown with it. */
  readonly shown: string;
  readonly report: PassReport;
}

interface StoredReport {
  readonly client: string;
  readonly number: string;
  readonly body: string;
}

interface NewestReport extends Pick<StoredReport, 'client' | 'number'> {
  /** The number of the report. */
  readonly report: string;
  /** A later pass that found the same. */
  readonly pass: string | null;
}

interface SavedReport {
  readonly client: string;
  /** Equal for passes that found the same; null if there can be none. */
  readonly digest: string | null;
  readonly pass: string;
  readonly body: string;
}

const asRow = (report: PassReport): SavedReport => {
  const pass = repeatedPassOf(report);
  const found = JSON.stringify(repeatedReport(report, ['', 'schedule', '', 0, 0]));
  return {
    client: report.event.client,
    digest: pass && createHash('md5').update(found).digest('hex'),
    pass: JSON.stringify(pass),
    body: JSON.stringify(report),
  };
};

/** Milliseconds in which reports are saved together. */
const moment = 100;
/** A number that was drawn earlier may be committed later. */
const overlap = 1_000;
const pageSize = 200;

/**
 * A pass that found the same as its client's report changes one small row, which no index has to follow. The digest of a
 * report is of no use once an older program, which knows nothing of it, has replaced the report.
 */
const save =
  planned(`WITH given AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS given (client, digest, pass, body)),
    same AS (SELECT given.client, given.pass, saved.number FROM given JOIN dns_template_sync.reports saved
      ON saved.client = given.client AND saved.digest = saved.number || ' ' || given.digest),
    repeated AS (INSERT INTO dns_template_sync.repeated_passes (client, number, replica, report, pass)
      SELECT client, nextval('dns_template_sync.report_numbers'), $1, number, pass FROM same ORDER BY client
      ON CONFLICT (client) DO UPDATE SET number = excluded.number, replica = excluded.replica, report = excluded.report,
        pass = excluded.pass),
    other AS (SELECT *, nextval('dns_template_sync.report_numbers') AS number FROM given
      WHERE client NOT IN (SELECT client FROM same) ORDER BY client)
  INSERT INTO dns_template_sync.reports (client, number, replica, body, digest)
    SELECT client, number, $1, body, number || ' ' || digest FROM other
  ON CONFLICT (client) DO UPDATE SET number = excluded.number, replica = excluded.replica, body = excluded.body,
    digest = excluded.digest`);

/** The last pass of each client, unless this process has made it. */
const newer = planned(`WITH fresh AS (SELECT client FROM dns_template_sync.reports WHERE number > $1
      UNION SELECT client FROM dns_template_sync.repeated_passes WHERE number > $1)
  SELECT r.client, coalesce(p.number, r.number) AS number, r.number AS report, p.pass
  FROM fresh JOIN dns_template_sync.reports r USING (client)
    LEFT JOIN dns_template_sync.repeated_passes p ON p.client = r.client AND p.report = r.number AND p.number > r.number
  WHERE coalesce(p.replica, r.replica) <> $2`);

const bodies = 'SELECT client, number, body FROM dns_template_sync.reports WHERE client = ANY ($1::text[])';
