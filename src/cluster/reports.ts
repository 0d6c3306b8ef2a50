import { createHash } from 'node:crypto';
import type { PassReport } from '../daemon/fleet.ts';
import { batched, limit } from '../lib/limit.ts';
import type { Trigger } from '../result.ts';
import { planned, type PostgresDatabase } from './database.ts';

/** The last pass of each scope, for all processes to show. */
export interface Reports {
  /** Soon, with others. Returns whether it differs from the last one that this process saved of the scope. */
  save(scope: string, report: PassReport): Promise<boolean>;
  /** Those of other processes since it was called last; all of them the first time. */
  news(): Promise<readonly { readonly scope: string; readonly report: PassReport }[]>;
}

/**
 * What a pass has found is saved apart from when that was: most passes find what the one before has found, and change one
 * small row, which no index has to follow.
 */
export const reportsOf = ({ query }: Pick<PostgresDatabase, 'query'>, process: string): Reports => {
  /** Of other processes, by scope. */
  const known = new Map<string, { readonly digest: string; readonly report: PassReport }>();
  const shown = new Map<string, string>();
  const saved = new Map<string, string>();
  let newest = 0;
  const inTurn = limit(1);
  const fetch = async (scopes: readonly string[]): Promise<void> => {
    for (let from = 0; from < scopes.length; from += pageSize) {
      const rows = await query<FoundRow>(bodies, [scopes.slice(from, from + pageSize)]);
      for (const { scope, digest, body } of rows) known.set(scope, { digest, report: parse(body) });
    }
  };
  const news: Reports['news'] = async () => {
    const passes = await query<PassRow>(newer, [newest - overlap, process]);
    const fresh = passes.filter(({ scope, number }) => shown.get(scope) !== number);
    const isKnown = ({ scope, digest }: PassRow): boolean => known.get(scope)?.digest === digest;
    await fetch(fresh.filter((pass) => !isKnown(pass)).map(({ scope }) => scope));
    newest = Math.max(newest, ...passes.map(({ number }) => Number(number)));
    // Of one that has found something else meanwhile there is a later pass.
    return fresh.filter(isKnown).map(({ scope, number, pass }) => {
      shown.set(scope, number);
      const { report } = known.get(scope)!;
      return { scope, report: pass === null ? report : at(report, parse<Moment>(pass)) };
    });
  };
  const saveSoon = batched<GivenRow>(async (rows) => {
    // In one order, so that nobody waits for somebody who waits for them. Of each scope the last one.
    const sorted = [...new Map(rows.map((row) => [row.scope, row])).values()].toSorted((a, b) =>
      a.scope < b.scope ? -1 : 1,
    );
    const column = (name: keyof GivenRow): unknown[] => sorted.map((row) => row[name]);
    await query(save, [process, column('scope'), column('digest'), column('pass'), column('body')]);
  }, moment);
  return {
    save: async (scope, report) => {
      const row = asRow(scope, report);
      const isNew = saved.get(scope) !== row.digest;
      await saveSoon(row);
      saved.set(scope, row.digest);
      return isNew;
    },
    news: () => inTurn(news),
  };
};

interface FoundRow {
  readonly scope: string;
  /** Equal for passes that found the same. */
  readonly digest: string;
  readonly body: string;
}

interface PassRow extends Pick<FoundRow, 'scope' | 'digest'> {
  readonly number: string;
  /** When it was; null if the report says it. */
  readonly pass: string | null;
}

type GivenRow = FoundRow & Pick<PassRow, 'pass'>;

/** What distinguishes a pass from another one that found the same. */
type Moment = readonly [run: string, trigger: Trigger, at: string, startedAt: number, durationMs: number];

const asRow = (scope: string, report: PassReport): GivenRow => {
  const { event, entry, latest } = report;
  const { run, at: startedAt } = event;
  const { trigger, durationMs } = entry;
  const pass: Moment = [run, trigger, startedAt, entry.startedAt, durationMs];
  const same = { ...latest, run, trigger, startedAt, durationMs };
  // A pass that has read nothing shows what an earlier one has found, and when that was.
  if (latest === null || JSON.stringify(same) !== JSON.stringify(latest))
    return { scope, digest: run, pass: null, body: JSON.stringify(report) };
  const body = JSON.stringify(at(report, ['', 'schedule', '', 0, 0]));
  return { scope, digest: createHash('md5').update(body).digest('hex'), pass: JSON.stringify(pass), body };
};

/** The same as another pass found it. */
const at = (report: PassReport, [run, trigger, time, startedAt, durationMs]: Moment): PassReport => ({
  ...report,
  event: { ...report.event, run, at: time },
  entry: { ...report.entry, trigger, startedAt, durationMs },
  latest: report.latest && { ...report.latest, run, trigger, startedAt: time, durationMs },
});

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters -- what this program wrote
const parse = <T>(text: string): T => JSON.parse(text) as T;

/** Milliseconds in which reports are saved together. */
const moment = 300;
/** A number that was drawn earlier may be committed later. */
const overlap = 1_000;
const pageSize = 200;

const save =
  planned(`WITH given AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS given (scope, digest, pass, body)),
    found AS (INSERT INTO dns_sync.reports (scope, digest, body)
      SELECT scope, digest, body FROM given
        WHERE NOT EXISTS (SELECT FROM dns_sync.reports r WHERE r.scope = given.scope AND r.digest = given.digest)
        ORDER BY scope
      ON CONFLICT (scope) DO UPDATE SET digest = excluded.digest, body = excluded.body)
  INSERT INTO dns_sync.passes (scope, number, process, digest, pass)
    SELECT scope, nextval('dns_sync.report_numbers'), $1, digest, pass FROM given ORDER BY scope
  ON CONFLICT (scope) DO UPDATE SET number = excluded.number, process = excluded.process, digest = excluded.digest,
    pass = excluded.pass`);

const newer = planned(
  'SELECT scope, number, digest, pass FROM dns_sync.passes WHERE number > $1 AND process <> $2',
);

const bodies = 'SELECT scope, digest, body FROM dns_sync.reports WHERE scope = ANY ($1::text[])';
