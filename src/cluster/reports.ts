import type { PassReport } from '../daemon/fleet.ts';
import { limit } from '../lib/limit.ts';
import type { PostgresDatabase } from './postgres/database.ts';

/** The last pass of each client, for all processes to show. */
export interface Reports {
  save(report: PassReport): Promise<void>;
  /** Those of other processes since it was called last; all of them the first time. */
  news(): Promise<readonly PassReport[]>;
}

export const reportsOf = ({ query }: Pick<PostgresDatabase, 'query'>, replica: string): Reports => {
  const seen = new Map<string, string>();
  let newest = 0;
  const oneAtATime = limit(1);
  const news = async (): Promise<readonly PassReport[]> => {
    const heads = await query<{ client: string; number: string }>(newer, [newest - overlap, replica]);
    const fresh = heads.filter(({ client, number }) => seen.get(client) !== number);
    const reports: PassReport[] = [];
    for (let from = 0; from < fresh.length; from += pageSize) {
      const clients = fresh.slice(from, from + pageSize).map(({ client }) => client);
      for (const { client, number, body } of await query<ReportRow>(bodies, [clients])) {
        seen.set(client, number);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this program wrote
        reports.push(JSON.parse(body) as PassReport);
      }
    }
    newest = Math.max(newest, ...heads.map(({ number }) => Number(number)));
    return reports;
  };
  return {
    save: async (report) => {
      await query(save, [report.event.client, replica, JSON.stringify(report)]);
    },
    news: () => oneAtATime(news),
  };
};

/** On which processes tell each other what is new. */
export const fleetChannel = 'dns_template_sync_fleet';
/** `report`: of a pass that has ended; `pass`: one is to be made at once. */
export const fleetNews = { report: 'report', pass: 'pass' } as const;

interface ReportRow {
  readonly client: string;
  readonly number: string;
  readonly body: string;
}

/** A number that was drawn earlier may be committed later. */
const overlap = 1_000;
const pageSize = 200;

const save = `INSERT INTO dns_template_sync.reports (client, number, replica, body)
  VALUES ($1, nextval('dns_template_sync.report_numbers'), $2, $3)
  ON CONFLICT (client) DO UPDATE SET number = excluded.number, replica = excluded.replica, body = excluded.body`;

const newer = 'SELECT client, number FROM dns_template_sync.reports WHERE number > $1 AND replica <> $2';

const bodies = 'SELECT client, number, body FROM dns_template_sync.reports WHERE client = ANY ($1::text[])';
