import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Metrics } from '../../../src/daemon/metrics.ts';
import type { Difference } from '../../../src/plan/difference.ts';
import type { PassResult, TemplateResult } from '../../../src/result.ts';
import {
  checkConfig,
  checkRules,
  expectAlerts,
  rulesFile,
  startMinute,
  type Fired,
  type Minute,
} from './promtool.ts';
import { pass, template } from '../../report/every-kind.ts';
import { shownClients } from '../shown-clients.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: startMinute * 60_000, toFake: ['Date'] });
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

type State = Partial<Pick<TemplateResult, 'status' | 'message' | 'inSync' | 'differences' | 'asOf'>> & {
  /** Why the pass ended early. */
  readonly holdReason?: string | null;
  readonly problems?: PassResult['problems'];
};
const well: State = { status: 'in-sync', inSync: 5 };
const drifted: State = { status: 'drifted', inSync: 4, differences: [update] };
const failed: State = { status: 'failed', message: 'refused', inSync: 4 };
const away: State = { status: 'failed', message: 'the service is away', asOf: null, holdReason: 'away' };
const invalid: State = {
  status: 'held',
  problems: [
    { severity: 'error', check: 'bad-ipv4', message: 'no', client: 'acme', file: 'a', line: 1, column: 1 },
  ],
};

const result = ({ holdReason = null, problems = [], ...state }: State): PassResult =>
  pass({ holdReason, problems, templates: [template({ template: 'web', ...state })] });

/**
 * Three hours in which `acme` has a pass every five minutes, scraped every minute. `found` gives what the pass at a
 * minute finds; null for no pass. The client `bakery` is always well.
 */
const threeHours = async (
  found: (minute: number) => State | null,
  besides: Besides = () => undefined,
): Promise<readonly Minute[]> => {
  const clients = shownClients();
  for (const client of ['acme', 'bakery']) clients.add(client);
  clients.metrics.countOwned(2, {});
  const minutes: Minute[] = [];
  for (let minute = 0; minute < 180; minute += 1) {
    const state = minute % 5 === 0 ? found(minute) : null;
    if (state) clients.pass(state.status ?? 'in-sync', result(state));
    if (minute % 5 === 0) clients.pass('in-sync', result(well), 'bakery');
    clients.metrics.countLateness(200);
    const seen = await besides(minute, clients.metrics, clients);
    minutes.push(seen ?? (await clients.scrape()));
    vi.advanceTimersByTime(60_000);
  }
  return minutes;
};

const from =
  (start: number, state: State | null, end = Infinity) =>
  (minute: number): State | null =>
    minute >= start && minute < end ? state : well;

/** What each alert says, of the instance, client or template that it is about. */
const summaries: Readonly<Record<string, (one: Fired['labels']) => string>> = {
  DnsTemplateSyncDown: ({ instance = '' }) =>
    `dns-template-sync ${instance} cannot be scraped: it is not running, or cannot be reached`,
  DnsTemplateSyncLate: ({ client }) => `${client}: no pass at all for a quarter of an hour`,
  DnsTemplateSyncStale: ({ client }) => `${client}: no pass could be completed for half an hour`,
  DnsTemplateSyncBehind: ({ instance }) => `${instance}: passes begin a minute late`,
  DnsTemplateSyncLeaseLost: ({ instance }) => `${instance}: its lease was not renewed in time`,
  DnsTemplateSyncTakenOver: ({ instance }) => `${instance}: took over clients of another process`,
  DnsTemplateFailed: () => 'acme: web fails, or a subdomain of it cannot be read',
  DnsTemplateDrift: () => 'acme: 1 records of web have differed for an hour',
  DnsTemplateHeld: () => 'acme: web waits for a person',
  DnsTemplateFilesInvalid: () => 'acme: template files have errors; these templates are held',
  DnsTemplateSettingsInvalid: ({ client }) =>
    `${client}: the settings are invalid; earlier ones are in use, or the client is left out`,
  DnsTemplateUnknownOutcome: () => 'acme: a write has an unknown outcome',
};

/** What a row says an alert is about. */
const labelsOf: Readonly<Record<string, Fired['labels']>> = {
  acme: { client: 'acme' },
  bakery: { client: 'bakery' },
  cafe: { client: 'cafe' },
  web: { client: 'acme', template: 'web' },
  'dns-1': { instance: 'dns-1:8053', job: 'dns-template-sync' },
  nobody: { job: 'dns-template-sync' },
};

/** Rows of an alert, what it is about, and its first and last minute; without that it fires to the end. */
const firedIn = (rows: string): Fired[] =>
  rows.split(' | ').map((row) => {
    const [alert = '', what = '', first, last = 179] = row.split(' ');
    const labels = labelsOf[what]!;
    return { alert, labels, first: Number(first), last: Number(last), summary: summaries[alert]!(labels) };
  });

type Found = (minute: number) => State | null;
type Besides = (
  minute: number,
  metrics: Metrics,
  clients: ReturnType<typeof shownClients>,
) => Minute | Promise<Minute> | void;

const always: Found = () => well;

/** What happens, and what fires. */
const scenes: readonly [what: string, found: Found, fired: string | null, besides?: Besides][] = [
  ['all is well', always, null],
  [
    'the daemon dies',
    always,
    // A series that ends is looked at for five minutes more.
    `DnsTemplateSyncDown dns-1 65 | DnsTemplateSyncLate acme 76 | DnsTemplateSyncStale acme 91 |
     DnsTemplateSyncLate bakery 76 | DnsTemplateSyncStale bakery 91`.replaceAll(/\s+/g, ' '),
    (minute) => (minute < 60 ? undefined : 'down'),
  ],
  [
    'the daemon and its target are gone',
    always,
    'DnsTemplateSyncDown nobody 65',
    (minute) => (minute < 60 ? undefined : 'gone'),
  ],
  [
    'a client is removed from the settings',
    from(60, null),
    null,
    (minute, _, { remove }) => void (minute === 60 ? remove('acme') : undefined),
  ],
  ['passes of a client cannot be completed', from(60, away), 'DnsTemplateSyncStale acme 91'],
  ['a client never succeeded', () => away, 'DnsTemplateSyncStale acme 5'],
  [
    'passes of a client are not made any more',
    from(60, null),
    'DnsTemplateSyncLate acme 76 | DnsTemplateSyncStale acme 91',
  ],
  ['a template fails', from(30, failed, 100), 'DnsTemplateFailed web 45 99'],
  [
    'a template fails, and then the service is away',
    (minute) => (minute < 30 ? well : minute < 90 ? failed : away),
    'DnsTemplateFailed web 45 95 | DnsTemplateSyncStale acme 121',
  ],
  ['records differ for an hour', from(30, drifted, 150), 'DnsTemplateDrift web 90 149'],
  ['records differ for less', from(30, drifted, 90), null],
  [
    'records differ, and the service cannot be read for a while',
    (minute) => (minute < 60 ? drifted : minute < 80 ? away : drifted),
    'DnsTemplateDrift web 60',
  ],
  [
    'a record is surplus, which nothing can remove',
    from(30, { status: 'drifted', inSync: 5, differences: [surplus] }),
    null,
  ],
  [
    'a template is held',
    from(30, { status: 'held', message: 'too many changes', inSync: 5 }, 100),
    'DnsTemplateHeld web 45 99',
  ],
  [
    'a file has errors',
    from(30, invalid, 100),
    'DnsTemplateFilesInvalid acme 45 99 | DnsTemplateHeld web 45 99',
  ],
  [
    'a client has invalid settings',
    always,
    'DnsTemplateSettingsInvalid cafe 45 99',
    (minute, _, { scrape }) => (minute >= 30 && minute < 100 ? scrape([], ['cafe']) : undefined),
  ],
  [
    'a write has an unknown outcome, also if it was the first',
    always,
    'DnsTemplateUnknownOutcome acme 30 89',
    (minute, metrics) => {
      if (minute === 30) metrics.countChange('acme', { action: 'add', outcome: 'unknown' });
      metrics.countChange('acme', { action: 'add', outcome: 'failed' });
    },
  ],
  ['passes begin a minute late for five minutes', always, null, lateIn(30, 35)],
  ['passes begin a minute late for an hour', always, 'DnsTemplateSyncBehind dns-1 51 97', lateIn(30, 90)],
  [
    'clients are lost and taken over',
    always,
    'DnsTemplateSyncLeaseLost dns-1 30 44 | DnsTemplateSyncTakenOver dns-1 31 45',
    (minute, metrics) => {
      if (minute === 30) metrics.countOwned(0, { lost: 2 });
      if (minute === 31) metrics.countOwned(2, { takenOver: 2 });
    },
  ],
];

function lateIn(begin: number, end: number): Besides {
  return (minute, metrics) => {
    if (minute >= begin && minute < end) metrics.countLateness(200_000);
  };
}

describe('the alert rules', () => {
  it.each(scenes)('fire as they should when %s', async (_, found, fired, besides) => {
    await expectAlerts(await threeHours(found, besides), fired === null ? [] : firedIn(fired));
  });

  it('are read by a Prometheus as the documentation configures it', async () => {
    const page = await readFile(new URL('../../../.github/docs/deployment.md', import.meta.url), 'utf8');
    const [, block = ''] = /```yaml\n(rule_files:.*?)```/s.exec(page) ?? [];
    await checkConfig(block);
  });

  it('have expressions of the same kind in the dashboard', async () => {
    const file = new URL('../../../.github/deploy/dashboard.json', import.meta.url);
    const expressions = [...(await readFile(file, 'utf8')).matchAll(/"expr": (".*")/g)].map(
      ([, text = '']): unknown => JSON.parse(text.replaceAll('$__rate_interval', '5m')),
    );
    expect(expressions.length).toBeGreaterThan(10);
    const rules = expressions.map((expr, at) => ({ record: `panel_${at}`, expr }));
    await checkRules(JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  });

  it('fire each in one of these scenes', async () => {
    const rules = (await readFile(rulesFile, 'utf8')).matchAll(/alert: (\w+)/g);
    const fired = new Set(scenes.flatMap(([, , alerts]) => (alerts ?? '').match(/DnsTemplate\w+/g) ?? []));
    expect([...fired].sort()).toEqual([...rules].map(([, name]) => name).sort());
  });
});
