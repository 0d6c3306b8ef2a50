import { expect, it } from 'vitest';
import { inWords, type Line } from '../../src/log/words.ts';

const words = (fields: Line): string =>
  inWords({ time: '2026-11-20T20:00:00.000Z', level: 'info', ...fields }).replace(/^\d\d:\d\d:\d\d /, '');

const record = { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: 60 };
const change = { template: 'web', recordId: 5, action: 'update', before: record };
const difference = { action: 'add', desired: { type: 'A', name: 'a', content: 'x' } };
const clients = ['acme', 'globex'].map((client) => ({
  client,
  baseUrl: `https://${client}.example/api/v1`,
  schedule: '*/5 * * * *',
}));
const summary = { templates: 2, inSync: 3 };

const lines: readonly Line[] = [
  { event: 'daemon.started', clients, listen: null },
  { event: 'pass.started', client: 'acme', trigger: 'schedule' },
  {
    event: 'change.applied',
    client: 'default',
    ...change,
    after: { ...record, content: '192.0.2.2', ttl: null },
  },
  { event: 'change.failed', client: 'default', ...change, after: record, error: 'the service answered 500' },
  // The first differences, and the number of the others.
  {
    event: 'drift.report',
    template: 'web',
    status: 'drifted',
    inSync: 3,
    differences: Array.from({ length: 7 }, () => difference),
  },
  { event: 'pass.finished', status: 'held', durationMs: 1_234, summary: { ...summary, heldTemplates: 1 } },
  { event: 'pass.finished', status: 'failed', error: 'a.yaml:3:5: unknown key', durationMs: 5, summary },
  {
    level: 'error',
    event: 'templates.invalid',
    client: 'acme',
    problems: [{ file: 'a.yaml', line: 3, column: 5, message: 'no', check: 'include' }],
  },
  { event: 'notice', client: 'default', notice: 'a\u001B[2Jb\r' },
  // Of which nothing is known.
  { level: 'warn', event: 'watch.degraded', client: 'acme', msg: 'degraded' },
  { event: 'answers.finished', msg: 'asked', durationMs: 60, subdomains: { failed: 2 } },
  // With many parts cut off.
  ...['drift.report', 'pass.finished', 'daemon.started', 'change.failed', 'templates.invalid', 'notice'].map(
    (event) => ({ event, cut: 'everything else' }),
  ),
];

it('lines of the log in words are as before', async () => {
  await expect(lines.map((line) => `${words(line)}\n`).join('')).toMatchFileSnapshot('words.golden.txt');
});
