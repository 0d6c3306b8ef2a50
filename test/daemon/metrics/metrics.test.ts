import { readFile } from 'node:fs/promises';
import perfHooks from 'node:perf_hooks';
import { describe, expect, it, vi } from 'vitest';
import type { Difference, Outcome } from '../../../src/plan/difference.ts';
import type { PassResult, TemplateResult } from '../../../src/result.ts';
import { pass as anyPass, template as anyTemplate } from '../../report/every-kind.ts';
import { parseScrape } from '../scrape.ts';
import { shownClients } from '../shown-clients.ts';

const record = { type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: null };
const source = { file: 'templates/web.yaml', line: 1, column: 1 };
const adds = (count: number, outcome?: Outcome): Difference[] =>
  Array.from({ length: count }, () => ({
    action: 'add',
    desired: record,
    cause: 'unknown',
    source,
    ...(outcome ? { outcome } : {}),
  }));

const template = (name: string, rest: Partial<TemplateResult> = {}): TemplateResult =>
  anyTemplate({ template: name, ...rest });

const result = (templates: readonly TemplateResult[], problems: PassResult['problems'] = []): PassResult =>
  anyPass({ durationMs: 1_500, templates, problems });

const ours = (name: string): string => `dns_template_sync_${name}`;

describe('a scrape', () => {
  it('has the metrics of the documentation, with type, labels and meaning, and those of the process', async () => {
    const { metrics, pass, text: shown } = shownClients('1.2.3');
    metrics.countRequest({ operation: 'list-dns-templates', status: 200, durationMs: 20 });
    const answers = {
      status: 'in-sync',
      askedAt: '2026-11-20T20:00:00.000Z',
      servers: [],
      differences: [],
    } as const;
    const subdomain = { subdomain: 'a', status: 'in-sync', message: null, differences: [], answers } as const;
    pass('drifted', result([template('web', { subdomains: [subdomain] })]));
    metrics.countNotification('ops', 'delivered');
    metrics.countOwned(1, {});
    metrics.countLateness(200);
    const text = await shown();
    const { types, samples } = parseScrape(text);
    const own = [...types].flatMap(([name, type]) => {
      if (!name.startsWith(ours(''))) return [];
      const found = samples.find((one) => one.name === name || one.name === `${name}_bucket`);
      const labels = Object.keys(found?.labels ?? {}).filter((label) => label !== 'le');
      const [, help = ''] = new RegExp(`^# HELP ${name} (.+)$`, 'm').exec(text) ?? [];
      return [[name.slice(ours('').length), type, labels.join(', '), help]];
    });
    const page = await readFile('.github/docs/daemon.md', 'utf8');
    const [, table = ''] = /^## Metrics$(.*?)^## /ms.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| `(.*?)` *\| (.*?) *\| (.*?) *\| (.*?) *\|$/gm)];
    expect(rows.map(([, ...cells]) => cells)).toEqual(own.sort());
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds', 'process_open_fds'])
      expect(types.get(name)).toBe('gauge');
  });

  it('looks at the event loop twenty times a second, so that an idle daemon sleeps', () => {
    const looks = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
    shownClients();
    expect(looks.mock.calls).toEqual([[{ resolution: 50 }]]);
  });

  it('has what was counted', async () => {
    const { metrics, pass, scrape } = shownClients('1.2.3');
    metrics.countRequest({ operation: 'list-dns-templates', status: 200, durationMs: 20 });
    metrics.countRequest({ operation: 'list-dns-templates', status: null, durationMs: 30_000 });
    metrics.countChange('acme', { action: 'add', outcome: 'unknown' });
    const before = Date.now() / 1_000;
    pass('drifted', result([]));
    const { value, all } = await scrape(['acme'], ['bakery']);
    expect(value(ours('build_info'), { version: '1.2.3' })).toBe(1);
    expect(value(ours('queue_depth'))).toBe(1);
    expect(['acme', 'bakery'].map((client) => value(ours('settings_valid'), { client }))).toEqual([1, 0]);
    expect(value(ours('requests_total'), { status: '200' })).toBe(1);
    expect(value(ours('requests_total'), { status: 'none' })).toBe(1);
    expect(value(ours('request_duration_seconds_sum'))).toBeCloseTo(30.02);
    expect(value(ours('passes_total'), { trigger: 'schedule', result: 'drifted' })).toBe(1);
    expect(value(ours('pass_duration_seconds_sum'))).toBe(1.5);
    for (const name of ['last_pass', 'last_success'])
      expect(value(ours(`${name}_timestamp_seconds`), { client: 'acme' })).toBeGreaterThanOrEqual(before);
    const changes = all(ours('changes_total')).map(({ labels, value: count }) => [
      `${labels['action']} ${labels['outcome']}`,
      count,
    ]);
    expect(Object.fromEntries(changes)).toEqual({
      'add applied': 0,
      'add failed': 0,
      'add unknown': 1,
      'update applied': 0,
      'update failed': 0,
      'update unknown': 0,
      'park applied': 0,
      'park failed': 0,
      'park unknown': 0,
    });
  });

  it.each([
    ['in-sync', true],
    ['drifted', true],
    ['held', true],
    ['failed', false],
  ] as const)('counts a pass that ends %s as a success: %s', async (status, isSuccess) => {
    const { pass, scrape } = shownClients();
    pass(status, result([]));
    const { value } = await scrape();
    expect(value(ours('last_success_timestamp_seconds'))! > 0).toBe(isSuccess);
    expect(value(ours('last_pass_timestamp_seconds'))).toBeGreaterThan(0);
  });

  it('escapes what names may hold', async () => {
    const { pass, scrape } = shownClients();
    const name = 'a "quoted" \\ name\nof two lines';
    pass('in-sync', result([template(name, { inSync: 3 })]));
    const { value } = await scrape();
    expect(value(ours('records'), { template: name, state: 'in_sync' })).toBe(3);
  });
});

describe('the templates', () => {
  const drifted = template('web', {
    status: 'drifted',
    inSync: 5,
    differences: [...adds(2), ...adds(1, 'skipped'), ...adds(4, 'applied')],
  });

  it('are shown by status, and their records by what still differs', async () => {
    const { pass, scrape } = shownClients();
    pass('drifted', result([drifted, template('mail', { status: 'held', inSync: 1 })]));
    const { value, all } = await scrape();
    expect(value(ours('records'), { template: 'web', state: 'in_sync' })).toBe(5);
    expect(value(ours('records'), { template: 'web', state: 'add' })).toBe(3);
    expect(all(ours('records'), { template: 'web' })).toHaveLength(6);
    for (const [name, status] of [
      ['web', 'drifted'],
      ['mail', 'held'],
    ])
      expect(
        all(ours('template_status'), { template: name! })
          .filter((sample) => sample.value === 1)
          .map(({ labels }) => labels['status']),
      ).toEqual([status]);
  });

  it('are counted together if they have the same name', async () => {
    const { pass, scrape } = shownClients();
    const other = template('web', { id: 18, inSync: 2 });
    pass('drifted', result([other, drifted]));
    const { value } = await scrape();
    expect(value(ours('records'), { template: 'web', state: 'in_sync' })).toBe(7);
    expect(value(ours('template_status'), { template: 'web', status: 'drifted' })).toBe(1);
    expect(value(ours('template_status'), { template: 'web', status: 'in-sync' })).toBe(0);
  });

  it('keep their values while the service cannot be read', async () => {
    const { pass, scrape } = shownClients();
    pass('drifted', result([drifted]));
    const unseen = template('web', { status: 'failed', message: 'the service is away', asOf: null });
    pass('failed', result([unseen, { ...unseen, template: 'new' }]));
    pass('failed', null);
    const { value, all } = await scrape();
    expect(value(ours('records'), { template: 'web', state: 'add' })).toBe(3);
    expect(value(ours('template_status'), { template: 'web', status: 'failed' })).toBe(1);
    expect(value(ours('template_status'), { template: 'web', status: 'drifted' })).toBe(0);
    expect(all(ours('records'), { template: 'new' })).toEqual([]);
  });

  it('lose their series when they are gone, and other clients keep theirs', async () => {
    const { pass, scrape } = shownClients();
    pass('drifted', result([drifted, template('mail')]));
    pass('in-sync', result([template('web')]), 'bakery');
    pass('in-sync', result([template('mail')]));
    const { all } = await scrape();
    const named = (client: string): unknown[] => [
      ...new Set(
        [...all(ours('records'), { client }), ...all(ours('template_status'), { client })].map(
          ({ labels }) => labels['template'],
        ),
      ),
    ];
    expect([named('acme'), named('bakery')]).toEqual([['mail'], ['web']]);
  });

  it('are valid or not, by their problems', async () => {
    const { pass, scrape } = shownClients();
    const problem = (severity: 'error' | 'warning') =>
      ({ client: 'acme', severity, check: 'x', message: 'x', file: null, line: null, column: null }) as const;
    const validAfter = async (problems: PassResult['problems']) => {
      pass('failed', result([], problems));
      return (await scrape()).value(ours('template_files_valid'), { client: 'acme' });
    };
    expect(await validAfter([problem('warning')])).toBe(1);
    expect(await validAfter([problem('warning'), problem('error')])).toBe(0);
    expect(await validAfter([])).toBe(1);
  });
});

describe('all clients together', () => {
  const web = (rest: Partial<TemplateResult>) => template('web', rest);
  const isDrifted = { status: 'drifted', inSync: 2, differences: adds(3) } as const;

  it('are totals, also of templates that nobody can look at', async () => {
    const { pass, remove, scrape } = shownClients();
    pass('drifted', result([web(isDrifted), template('mail', { inSync: 4 })]), 'acme');
    pass('in-sync', result([web({ inSync: 1 })]), 'bakery');
    pass('failed', result([web({ status: 'failed', asOf: null }), template('mail', { inSync: 4 })]), 'acme');
    const { value } = await scrape();
    const totals = (['failed', 'drifted', 'in-sync'] as const).map((status) =>
      value(ours('fleet_templates'), { status }),
    );
    expect(totals).toEqual([1, 0, 2]);
    expect(value(ours('fleet_records'), { state: 'in_sync' })).toBe(7);
    expect(value(ours('fleet_records'), { state: 'add' })).toBe(3);
    await remove('acme');
    const { value: left } = await scrape();
    expect(left(ours('fleet_templates'), { status: 'failed' })).toBe(0);
    expect(left(ours('fleet_records'), { state: 'in_sync' })).toBe(1);
  });

  it('have series of single templates only up to a bound, and then of those that need somebody', async () => {
    const { pass, remove, scrape } = shownClients('1', { maxTemplates: 3 });
    const shown = async (): Promise<string[]> => {
      const { all } = await scrape();
      const named = all(ours('template_status'), { status: 'held' });
      const counted = all(ours('records'), { state: 'add' });
      expect(counted.map(({ labels }) => labels['client'])).toEqual(
        named.map(({ labels }) => labels['client']),
      );
      return named.map(({ labels }) => labels['client'] ?? '').toSorted();
    };
    const show = (client: string, rest: Partial<TemplateResult>) =>
      pass(rest.status ?? 'in-sync', result([web(rest)]), client);
    for (const client of ['a', 'b', 'c']) show(client, {});
    expect(await shown()).toEqual(['a', 'b', 'c']);
    show('d', isDrifted);
    expect(await shown()).toEqual(['d']);
    for (const client of ['a', 'b', 'c', 'e']) show(client, isDrifted);
    expect(await shown()).toEqual(['a', 'b', 'c']);
    show('b', {});
    show('c', isDrifted);
    expect(await shown()).toEqual(['a', 'c', 'd']);
    const { value } = await scrape();
    expect(value(ours('fleet_templates'), { status: 'drifted' })).toBe(4);
    await remove('d');
    await remove('e');
    expect(await shown()).toEqual(['a', 'b', 'c']);
  });
});

describe('owned clients', () => {
  it('are counted where processes share a store', async () => {
    const { metrics, scrape } = shownClients();
    expect((await scrape()).value(ours('clients_owned'))).toBeUndefined();
    metrics.countOwned(3, { takenOver: 2 });
    metrics.countOwned(0, { lost: 3 });
    const { value } = await scrape();
    expect(
      ['clients_owned', 'clients_taken_over_total', 'clients_lost_total'].map((name) =>
        value(ours(name), {}),
      ),
    ).toEqual([0, 2, 3]);
  });
});

describe('a client that is gone', () => {
  it('leaves no series', async () => {
    const { pass, remove, scrape } = shownClients();
    for (const client of ['acme', 'bakery']) {
      pass('in-sync', result([template('web', { inSync: 1 })]), client);
    }
    await remove('acme');
    const { samples } = await scrape();
    const clients = new Set(samples.flatMap(({ labels }) => labels['client'] ?? []));
    expect([...clients]).toEqual(['bakery']);
  });
});
