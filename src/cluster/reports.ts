import { createHash } from 'node:crypto';
import type { PassReport } from './membership.ts';
import { batched, limit } from '../lib/limit.ts';
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
      for (const row of await query<GivenRow>(bodies, [scopes, process]))
        found.push({ scope: row.scope, report: join(row) });
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
  /** What distinguishes the pass from another one that found the same: JSON of a list. */
  readonly pass: string;
  /** The same of all passes that found the same. */
  readonly body: string;
}

/** A pass that has read nothing shows what an earlier one has found, and when that was: that stays. */
const split = (report: PassReport): Omit<GivenRow, 'scope'> => {
  const { entry, latest } = report;
  const { trigger, startedAt, durationMs } = entry;
  const pass: unknown[] = [latest?.run ?? '', trigger, latest?.startedAt ?? '', startedAt, durationMs];
  const body = JSON.stringify(report, (key, value: unknown) =>
    ofPass.has(key) && pass.includes(value) ? { ofPass: pass.indexOf(value) } : value,
  );
  return { pass: JSON.stringify(pass), body };
};

/** The keys under which a report says that. */
const ofPass: ReadonlySet<string> = new Set(['run', 'trigger', 'startedAt', 'durationMs']);

const join = ({ pass, body }: GivenRow): PassReport => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this program wrote
  const values = JSON.parse(pass) as readonly unknown[];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
  return JSON.parse(body, (_, value: { readonly ofPass: number } | string | null) =>
    typeof value === 'object' && value !== null && 'ofPass' in value ? values[value.ofPass] : value,
  ) as PassReport;
};

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

/** Numbers are given again where an older state of the database was restored. */
const newer = planned(`SELECT scope, number FROM dns_sync.reports
  WHERE number > least($1, (SELECT last_value FROM dns_sync.report_numbers) - ${overlap}) AND process <> $2`);

const bodies =
  'SELECT scope, pass, body FROM dns_sync.reports WHERE scope = ANY ($1::text[]) AND process <> $2';
