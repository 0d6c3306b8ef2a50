import { readFile } from 'node:fs/promises';
import perfHooks from 'node:perf_hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
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

const drifted = template('web', {
  status: 'drifted',
  inSync: 5,
  differences: [...adds(2), ...adds(1, 'skipped'), ...adds(4, 'applied')],
});

/** Series of ours, with the values of their labels, that are not 0; of the named metrics alone where some are named. */
const shown = (text: string, ...names: readonly string[]): string[] =>
  parseScrape(text).samples.flatMap(({ name: whole, labels, value }) => {
    const name = whole.replace(/^dns_template_sync_/, '');
    const isAsked = names.length === 0 ? name !== whole && !name.endsWith('_bucket') : names.includes(name);
    return isAsked && value !== 0 ? [[name, ...Object.values(labels), value].join(' ')] : [];
  });

const started = (...given: Parameters<typeof shownClients>) => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const clients = shownClients(...given);
  return { ...clients, series: async (...names: readonly string[]) => shown(await clients.text(), ...names) };
};

test('a scrape has the metrics of the documentation, and those of the process', async () => {
  const { metrics, pass, text: shownText } = started();
  metrics.countRequest({ operation: 'list-dns-templates', status: 200, durationMs: 20 });
  const askedAt = '2026-11-20T20:00:00.000Z';
  const answers = { status: 'in-sync', askedAt, servers: [], differences: [] } as const;
  const subdomain = { subdomain: 'a', status: 'in-sync', message: null, differences: [], answers } as const;
  pass('drifted', result([template('web', { subdomains: [subdomain] })]));
  metrics.countNotification('ops', 'delivered');
  metrics.countOwned(1, {});
  metrics.countLateness(200);
  const text = await shownText();
  const { types, samples } = parseScrape(text);
  const own = [...types].flatMap(([name, type]) => {
    if (!name.startsWith('dns_template_sync_')) return [];
    const found = samples.find((one) => one.name === name || one.name === `${name}_bucket`);
    const labels = Object.keys(found?.labels ?? {}).filter((label) => label !== 'le');
    const [, help = ''] = new RegExp(`^# HELP ${name} (.+)$`, 'm').exec(text) ?? [];
    return [[name.slice('dns_template_sync_'.length), type, labels.join(', '), help]];
  });
  const page = await readFile('.github/docs/daemon.md', 'utf8');
  const [, table = ''] = /^## Metrics$(.*?)^## /ms.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| `(.*?)` *\| (.*?) *\| (.*?) *\| (.*?) *\|$/gm)];
  expect(rows.map(([, ...cells]) => cells)).toEqual(own.sort());
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds', 'process_open_fds'])
    expect(types.get(name)).toBe('gauge');
});

test('the event loop is looked at twenty times a second, so that an idle daemon sleeps', () => {
  const looks = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  shownClients();
  expect(looks.mock.calls).toEqual([[{ resolution: 50 }]]);
});

test('it has what was counted, and what was seen last, of whatever name', async () => {
  const { metrics, pass, series, text } = started('1.2.3');
  metrics.countRequest({ operation: 'list-dns-templates', status: 200, durationMs: 20 });
  metrics.countRequest({ operation: 'list-dns-templates', status: null, durationMs: 30_000 });
  metrics.countChange('acme', { action: 'add', outcome: 'unknown' });
  pass('held', result([template('a "quoted" \\ name\nof two lines', { status: 'held', inSync: 3 })]));
  pass('failed', result([drifted]), 'bakery');
  expect(await series()).toEqual([
    'passes_total acme schedule held 1',
    'passes_total bakery schedule failed 1',
    'changes_total acme add unknown 1',
    'requests_total list-dns-templates 200 1',
    'requests_total list-dns-templates none 1',
    'pass_duration_seconds_sum 3',
    'pass_duration_seconds_count 2',
    'request_duration_seconds_sum list-dns-templates 30.02',
    'request_duration_seconds_count list-dns-templates 2',
    'build_info 1.2.3 1',
    'fleet_records in_sync 8',
    'fleet_records add 3',
    'fleet_templates drifted 1',
    'fleet_templates held 1',
    'last_complete_pass_timestamp_seconds acme 1800000000',
    'last_complete_pass_timestamp_seconds bakery 1800000000',
    'last_pass_timestamp_seconds acme 1800000000',
    'last_pass_timestamp_seconds bakery 1800000000',
    'last_success_timestamp_seconds acme 1800000000',
    'records acme a "quoted" \\ name\nof two lines in_sync 3',
    'records bakery web in_sync 5',
    'records bakery web add 3',
    'settings_valid acme 1',
    'settings_valid bakery 1',
    'template_files_valid acme 1',
    'template_files_valid bakery 1',
    'template_status acme a "quoted" \\ name\nof two lines held 1',
    'template_status bakery web drifted 1',
  ]);
  // So that the first event shows as an increase.
  expect(parseScrape(await text()).all('dns_template_sync_changes_total', { client: 'acme' })).toHaveLength(
    9,
  );
  expect(shown(await text(['acme'], ['bakery', 'c']), 'queue_depth', 'settings_valid')).toEqual([
    'queue_depth 1',
    'settings_valid acme 1',
  ]);
});

test('templates of one name are counted together, keep their values while nobody can look, and go', async () => {
  const { pass, series } = started();
  const templates = () => series('records', 'template_status');
  pass('drifted', result([template('web', { id: 18, inSync: 2 }), drifted, template('mail')]));
  const records = ['records acme web in_sync 7', 'records acme web add 3'];
  expect(await templates()).toEqual([
    ...records,
    'template_status acme web drifted 1',
    'template_status acme mail in-sync 1',
  ]);
  pass('drifted', result([drifted]));
  expect(await templates()).toEqual([
    'records acme web in_sync 5',
    'records acme web add 3',
    'template_status acme web drifted 1',
  ]);
  const unseen = template('web', { status: 'failed', message: 'the service is away', asOf: null });
  vi.setSystemTime(1_800_000_060_000);
  pass('failed', anyPass({ templates: [unseen, { ...unseen, template: 'new' }], holdReason: 'away' }));
  pass('failed', null);
  expect(await templates()).toEqual([
    'records acme web in_sync 5',
    'records acme web add 3',
    'template_status acme web failed 1',
    'template_status acme new failed 1',
  ]);
  expect(await series('fleet_templates', 'fleet_records')).toEqual([
    'fleet_records in_sync 5',
    'fleet_records add 3',
    'fleet_templates failed 2',
  ]);
  const times = ['last_pass', 'last_complete_pass', 'last_success'].map(
    (name) => `${name}_timestamp_seconds`,
  );
  expect((await series(...times)).map((line) => line.split(' ').at(-1))).toEqual([
    '1800000000',
    '1800000060',
    '1800000000',
  ]);
});

test('files are valid unless one of their problems is an error', async () => {
  const { pass, series } = started();
  const warning = { client: 'acme', severity: 'warning', check: 'x', message: 'x' } as const;
  const place = { file: null, line: null, column: null };
  const valid: number[] = [];
  for (const severities of [['warning'], ['warning', 'error'], []] as const) {
    const problems = severities.map((severity) => ({ ...warning, ...place, severity }));
    pass('failed', result([], problems));
    valid.push((await series('template_files_valid')).length);
  }
  expect(valid).toEqual([1, 0, 1]);
});

test('single templates have series only up to a bound, and then those that need somebody', async () => {
  const { pass, remove, series, scrape } = started('1', { maxTemplates: 3 });
  const named = async (): Promise<unknown[]> => {
    const { all } = await scrape();
    const held = all('dns_template_sync_template_status', { status: 'held' });
    const added = all('dns_template_sync_records', { state: 'add' });
    expect(added.map(({ labels }) => labels['client'])).toEqual(held.map(({ labels }) => labels['client']));
    return held.map(({ labels }) => labels['client']);
  };
  const [good, bad] = [result([template('web')]), result([drifted])];
  for (const client of ['a', 'b', 'c']) pass('in-sync', good, client);
  expect(await named()).toEqual(['a', 'b', 'c']);
  pass('drifted', bad, 'd');
  expect(await named()).toEqual(['d']);
  for (const client of ['a', 'b', 'c', 'e']) pass('drifted', bad, client);
  expect(await named()).toEqual(['a', 'b', 'c']);
  pass('in-sync', good, 'b');
  expect(await named()).toEqual(['a', 'c', 'd']);
  expect(await series('fleet_templates')).toEqual(['fleet_templates in-sync 1', 'fleet_templates drifted 4']);
  for (const client of ['d', 'e']) await remove(client);
  expect(await named()).toEqual(['a', 'b', 'c']);
});

test('owned clients are counted where processes share a store, and a client that is gone leaves no series', async () => {
  const { metrics, pass, remove, scrape, series } = started();
  expect((await scrape()).value('dns_template_sync_clients_owned')).toBeUndefined();
  metrics.countOwned(3, { takenOver: 2 });
  metrics.countOwned(1, { lost: 3 });
  expect(await series('clients_owned', 'clients_taken_over_total', 'clients_lost_total')).toEqual([
    'clients_taken_over_total 2',
    'clients_lost_total 3',
    'clients_owned 1',
  ]);
  for (const client of ['acme', 'bakery']) pass('in-sync', result([template('web')]), client);
  await remove('acme');
  const { samples } = await scrape();
  expect(new Set(samples.flatMap(({ labels }) => labels['client'] ?? []))).toEqual(new Set(['bakery']));
});
