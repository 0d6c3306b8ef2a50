import { createHash } from 'node:crypto';
import type { PassReport } from './membership.ts';
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

/** What a pass has found is saved apart from when that was: most passes find what the one before has found. */
export const reportsOf = ({ query }: Pick<PostgresDatabase, 'query'>, process: string): Reports => {
  const shown = new Map<string, string>();
  const saved = new Map<string, string>();
  let newest = 0;
  const inTurn = limit(1);
  const news = async (): ReturnType<Reports['news']> => {
    const passes = await query<{ scope: string; number: string }>(newer, [newest - overlap, process]);
    const fresh = passes.filter(({ scope, number }) => shown.get(scope) !== number);
    const found: { scope: string; report: PassReport }[] = [];
    for (let from = 0; from < fresh.length; from += pageSize) {
      const scopes = fresh.slice(from, from + pageSize).map(({ scope }) => scope);
      for (const { scope, pass, body } of await query<GivenRow>(bodies, [scopes, process]))
        found.push({ scope, report: at(parse<PassReport>(body), pass) });
    }
    for (const { scope, number } of fresh) shown.set(scope, number);
    newest = Math.max(newest, ...passes.map(({ number }) => Number(number)));
    return found;
  };
  const saveSoon = batched<GivenRow>(async (rows) => {
    // In one order, so that nobody waits for somebody who waits for them. Of each scope the last one.
    const sorted = [...new Map(rows.map((row) => [row.scope, row])).values()].toSorted((a, b) =>
      a.scope < b.scope ? -1 : 1,
    );
    const column = (name: keyof GivenRow): unknown[] => sorted.map((row) => row[name]);
    await query(save, [process, column('scope'), column('pass'), column('body')]);
  }, moment);
  return {
    save: async (scope, report) => {
      const row = { scope, ...split(report) };
      await saveSoon(row);
      const digest = createHash('md5').update(row.body).digest('hex');
      const isNew = saved.get(scope) !== digest;
      saved.set(scope, digest);
      return isNew;
    },
    news: () => inTurn(news),
  };
};

interface GivenRow {
  readonly scope: string;
  /** When it was; null if the report says it. */
  readonly pass: string | null;
  /** The same of all passes that found the same. */
  readonly body: string;
}

/** What distinguishes a pass from another one that found the same. */
type Moment = readonly [run: string, trigger: Trigger, at: string, startedAt: number, durationMs: number];

const split = (report: PassReport): Omit<GivenRow, 'scope'> => {
  const { entry, latest } = report;
  if (latest === null) return { pass: null, body: JSON.stringify(report) };
  const { run, trigger, startedAt, durationMs } = latest;
  const pass: Moment = [run, trigger, startedAt, entry.startedAt, durationMs];
  const timeless = at(report, JSON.stringify(['', 'schedule', '', 0, 0]));
  return { pass: JSON.stringify(pass), body: JSON.stringify(timeless) };
};

const at = (report: PassReport, pass: string | null): PassReport => {
  if (pass === null) return report;
  const [run, trigger, time, startedAt, durationMs] = parse<Moment>(pass);
  return {
    ...report,
    entry: { ...report.entry, trigger, startedAt, durationMs },
    latest: report.latest && { ...report.latest, run, trigger, startedAt: time, durationMs },
  };
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters -- what this program wrote
const parse = <T>(text: string): T => JSON.parse(text) as T;

/** Milliseconds in which reports are saved together. */
const moment = 300;
/** A number that was drawn earlier may be committed later. */
const overlap = 1_000;
const pageSize = 200;

/** A long body that stays is not written again: its row refers to it. */
const save = planned(`INSERT INTO dns_sync.reports AS known (scope, number, process, pass, body)
    SELECT scope, nextval('dns_sync.report_numbers'), $1, pass, body
      FROM unnest($2::text[], $3::text[], $4::text[]) AS given (scope, pass, body) ORDER BY scope
  ON CONFLICT (scope) DO UPDATE SET number = excluded.number, process = excluded.process, pass = excluded.pass,
    body = CASE known.body WHEN excluded.body THEN known.body ELSE excluded.body END`);

const newer = planned('SELECT scope, number FROM dns_sync.reports WHERE number > $1 AND process <> $2');

const bodies =
  'SELECT scope, pass, body FROM dns_sync.reports WHERE scope = ANY ($1::text[]) AND process <> $2';
