import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createMetrics, type Metrics } from '../../src/daemon/metrics.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { PassResult, TemplateResult } from '../../src/result.ts';
import { firing, type Moment } from './promql.ts';
import { parseScrape } from './scrape.ts';

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          annotations: z.object({ summary: z.string() }),
        }),
      ),
    }),
  ),
});

const readRules = async () => {
  const readme = await readFile(new URL('../../.github/docs/deployment.md', import.meta.url), 'utf8');
  const [, block = ''] = /```yaml\n(groups:\n.*?)```/s.exec(readme) ?? [];
  return rulesSchema.parse(parse(block)).groups.flatMap(({ rules }) => rules);
};

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T20:00:00Z'), toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const record = { type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: null };
const update: Difference = {
  action: 'update',
  recordId: 1,
  current: record,
  desired: record,
  fields: ['content'],
  cause: 'drifted',
  source: { file: 'web.yaml', line: 1, column: 1 },
  outcome: 'skipped',
};
const surplus: Difference = {
  action: 'surplus',
  recordId: 2,
  current: record,
  reason: 'unlisted',
  cause: 'unknown',
};

type State = Partial<Pick<TemplateResult, 'status' | 'message' | 'inSync' | 'differences'>>;
const well: State = { status: 'in-sync', inSync: 5 };
const drifted: State = { status: 'drifted', inSync: 4, differences: [update] };
const away: State = { status: 'failed', message: 'the service is away', inSync: 0 };

const template = (state: State): TemplateResult => ({
  client: 'acme',
  template: 'web',
  id: 1,
  file: 'web.yaml',
  revision: null,
  status: 'in-sync',
  message: null,
  inSync: 0,
  parked: 0,
  ignored: 0,
  differences: [],
  subdomains: [],
  ...state,
});

const result = (state: State): PassResult => ({
  client: 'acme',
  run: 'run',
  trigger: 'schedule',
  startedAt: '2026-11-20T20:00:00.000Z',
  durationMs: 1,
  dryRun: false,
  holdReason: null,
  retryAt: null,
  templates: [template(state)],
  problems: [],
});

/**
 * Three hours in which `acme` has a pass every five minutes, scraped every minute. `found` gives what the pass at a
 * minute finds; null for no pass. The client `bakery` is always well.
 */
const threeHours = async (
  found: (minute: number) => State | null,
  besides: (minute: number, metrics: Metrics) => void = () => undefined,
): Promise<readonly Moment[]> => {
  const metrics = createMetrics('1');
  for (const client of ['acme', 'bakery']) metrics.addClient(client);
  metrics.countLease('source', 'taken');
  const moments: Moment[] = [];
  for (let minute = 0; minute < 180; minute += 1) {
    const state = minute % 5 === 0 ? found(minute) : null;
    const pass = { trigger: 'schedule', durationMs: 1 } as const;
    if (state)
      metrics.countPass({ ...pass, client: 'acme', status: state.status ?? 'in-sync' }, result(state));
    if (minute % 5 === 0) metrics.countPass({ ...pass, client: 'bakery', status: 'in-sync' }, result(well));
    metrics.countLateness(200);
    besides(minute, metrics);
    moments.push({ at: Date.now() / 1_000, scrape: parseScrape(await metrics.text(0)) });
    vi.advanceTimersByTime(60_000);
  }
  return moments;
};

/** Of each alert that fired: for what, and in which minutes, the first and the last. */
const alertsIn = async (moments: readonly Moment[]): Promise<Record<string, readonly unknown[]>> => {
  const fired: Record<string, readonly unknown[]> = {};
  for (const rule of await readRules()) {
    const minutes = firing(rule, moments).flatMap((labels, minute) => (labels.length > 0 ? [minute] : []));
    const [first, last] = [minutes[0], minutes.at(-1)];
    if (first === undefined || last === undefined) continue;
    expect(minutes).toHaveLength(last - first + 1);
    fired[rule.alert] = [first, last, ...(firing(rule, moments)[first] ?? [])];
  }
  return fired;
};

const from =
  (start: number, state: State | null, end = Infinity) =>
  (minute: number): State | null =>
    minute >= start && minute < end ? state : well;

describe('the alert rules of the documentation', () => {
  it('do not fire while all is well', async () => {
    expect(await alertsIn(await threeHours(() => well))).toEqual({});
  });

  it('are one for each problem, with a label for its place', async () => {
    const rules = await readRules();
    expect(rules.map(({ alert }) => alert)).toEqual([
      'DnsTemplateSyncStale',
      'DnsTemplateSyncLate',
      'DnsTemplateSyncBehind',
      'DnsTemplateSyncLeaseLost',
      'DnsTemplateSyncTakenOver',
      'DnsTemplateSyncNoSource',
      'DnsTemplateDrift',
      'DnsTemplateHeld',
      'DnsTemplateUnknownOutcome',
    ]);
    for (const { annotations } of rules)
      expect(annotations.summary).toMatch(/\{\{ \$labels\.(?:client|template|instance|lease) \}\}/);
  });

  it.each([
    ['fails', from(60, away), {}],
    [
      'is not made any more',
      from(60, null),
      { DnsTemplateSyncLate: [55 + 15 + 1 + 5, 179, { client: 'acme' }] },
    ],
  ])('tell of a client whose pass %s, when its last success is long ago', async (_, found, more) => {
    expect(await alertsIn(await threeHours(found))).toEqual({
      DnsTemplateSyncStale: [55 + 30 + 1 + 5, 179, { client: 'acme' }],
      ...more,
    });
  });

  it('fire for a client that never succeeded', async () => {
    expect(await alertsIn(await threeHours(() => away))).toEqual({
      DnsTemplateSyncStale: [5, 179, { client: 'acme' }],
    });
  });

  it('fire for records that differ for an hour, also while the service cannot be read, and for none that differ for less', async () => {
    const web = { client: 'acme', template: 'web' };
    expect(await alertsIn(await threeHours(from(30, drifted, 150)))).toEqual({
      DnsTemplateDrift: [90, 149, web],
    });
    expect(await alertsIn(await threeHours(from(30, drifted, 90)))).toEqual({});
    const unseen = (minute: number): State => (minute < 60 ? drifted : minute < 80 ? away : drifted);
    expect(await alertsIn(await threeHours(unseen))).toEqual({ DnsTemplateDrift: [60, 179, web] });
  });

  it('do not fire for surplus, which nothing can remove', async () => {
    const left: State = { status: 'drifted', inSync: 5, differences: [surplus] };
    expect(await alertsIn(await threeHours(from(30, left)))).toEqual({});
  });

  it('fire for a template that is held for a quarter of an hour', async () => {
    const held: State = { status: 'held', message: 'too many changes', inSync: 5 };
    expect(await alertsIn(await threeHours(from(30, held, 100)))).toEqual({
      DnsTemplateHeld: [45, 99, { client: 'acme', template: 'web', status: 'held' }],
    });
  });

  it('fire at once, and for an hour, for a write of unknown outcome, also if it was the first', async () => {
    const lose = (minute: number, metrics: Metrics): void => {
      if (minute === 30) metrics.countChange('acme', { action: 'add', outcome: 'unknown' });
      metrics.countChange('acme', { action: 'add', outcome: 'failed' });
    };
    expect(await alertsIn(await threeHours(() => well, lose))).toEqual({
      DnsTemplateUnknownOutcome: [30, 88, { client: 'acme', action: 'add', outcome: 'unknown' }],
    });
  });

  it('tell of passes that begin a minute late, for a quarter of an hour', async () => {
    const late = (begin: number, end: number) => (minute: number, metrics: Metrics) => {
      if (minute >= begin && minute < end) metrics.countLateness(200_000);
    };
    expect(await alertsIn(await threeHours(() => well, late(30, 35)))).toEqual({});
    expect(await alertsIn(await threeHours(() => well, late(30, 90)))).toEqual({
      DnsTemplateSyncBehind: [expect.any(Number), expect.any(Number), {}],
    });
  });

  it('tell of leases that are lost or taken over, and of files that nobody publishes', async () => {
    const lose = (minute: number, metrics: Metrics): void => {
      if (minute === 30) metrics.countLease('client', 'lost');
      if (minute === 31) metrics.countLease('client', 'taken-over');
      if (minute === 60) metrics.countLease('source', 'given-back');
      if (minute === 70) metrics.countLease('source', 'taken');
    };
    expect(await alertsIn(await threeHours(() => well, lose))).toEqual({
      DnsTemplateSyncLeaseLost: [30, 43, { lease: 'client' }],
      DnsTemplateSyncTakenOver: [31, 44, { lease: 'client' }],
      DnsTemplateSyncNoSource: [65, 69, { lease: 'source' }],
    });
  });
});
