import { onTestFinished } from 'vitest';
import { openAnswers, type AnswersOptions, type SubdomainQuestion } from '../../src/answers/answers.ts';
import type { SubdomainRecord } from '../../src/model/template.ts';
import type { SubdomainAnswers } from '../../src/result.ts';
import { parseRecord } from '../scenarios/records.ts';
import { startZoneServer, type ZoneServer, type ZoneServerOptions } from './zone-server.ts';

export const apex = 'shop.example.net';

/** Records as the service shows them, as `www A 192.0.2.1 | @ MX 10 mx.example.net`. Their TTL is an hour, or is said. */
export const shown = (lines: string): SubdomainRecord[] =>
  lines.split(' | ').map((line) => {
    const { ttl, ...record } = parseRecord(line);
    return { id: 1, ...record, ttl: Number(ttl ?? 3_600), templateRecordId: 1 };
  });

export const serve = async (options: Partial<ZoneServerOptions> = {}): Promise<ZoneServer> => {
  const server = await startZoneServer({ apex, lines: [], ...options });
  onTestFinished(() => server.close());
  return server;
};

export type CheckOptions = Partial<SubdomainQuestion & AnswersOptions>;

/** What is found of the subdomain at these servers. */
export const check = async (
  records: readonly SubdomainRecord[],
  servers: readonly ZoneServer[],
  options: CheckOptions = {},
): Promise<SubdomainAnswers> => {
  const ask = openAnswers({
    signal: new AbortController().signal,
    timeout: 200,
    resolver: null,
    grace: 3_600_000,
    now: () => 1_000_000_000_000,
    ...options,
  });
  return ask({
    subdomain: apex,
    records,
    nameservers: servers.map(({ place }) => place),
    lastWriteAt: null,
    previous: null,
    ...options,
  });
};

/** In short: `stale www.shop.example.net A: 192.0.2.1 → 192.0.2.2`. */
export const told = ({ differences }: SubdomainAnswers): string[] =>
  differences
    .map(({ kind, name, type, desired, current }) => {
      const of = (records: typeof desired): string =>
        records
          .map(({ content, priority }) => (priority === null ? content : `${priority} ${content}`))
          .sort()
          .join('|') || 'none';
      return `${kind} ${name} ${type}: ${of(desired)} → ${of(current)}`;
    })
    .sort();
