import { describe, expect, it } from 'vitest';
import { inWords } from '../../src/log/words.ts';

const time = '2026-11-20T20:00:00.000Z';
const words = (fields: Record<string, unknown>): string =>
  inWords({ time, level: 'info', ...fields }).replace(/^\d\d:\d\d:\d\d /, '');

describe('a line of the log in words', () => {
  it('says what its event means', () => {
    expect(words({ event: 'pass.started', client: 'acme', trigger: 'schedule' })).toBe(
      'acme: pass started by schedule',
    );
    expect(
      words({
        event: 'change.applied',
        client: 'default',
        template: 'web',
        recordId: 5,
        action: 'update',
        before: { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: 60 },
        after: { type: 'A', name: null, content: '192.0.2.2', priority: null, ttl: null },
      }),
    ).toBe('applied update web #5: @ A 192.0.2.1 ttl 60 → @ A 192.0.2.2');
  });

  it('shows all fields and the level of an unknown event', () => {
    expect(words({ level: 'warn', event: 'watch.degraded', client: 'acme', msg: 'degraded' })).toBe(
      'WARN acme: degraded',
    );
  });

  it('names the first differences and the number of the others', () => {
    const difference = { action: 'add', desired: { type: 'A', name: 'a', content: 'x' } };
    expect(
      words({
        event: 'drift.report',
        client: 'default',
        template: 'web',
        status: 'drifted',
        message: null,
        inSync: 3,
        differences: Array.from({ length: 7 }, () => difference),
      }),
    ).toMatch(/^web: differs, 3 in sync, (?:add a A x, ){5}and 2 more differences$/);
  });

  it.each([
    'drift.report',
    'pass.finished',
    'daemon.started',
    'change.failed',
    'templates.invalid',
    'notice',
  ])('handles a line of %s with many parts cut off', (event) => {
    expect(() => words({ event, cut: 'everything else' })).not.toThrow();
  });

  it('names each of several clients, and has no raw JSON and no milliseconds in times', () => {
    const clients = ['acme', 'globex'].map((client) => ({
      client,
      baseUrl: `https://${client}.example/api/v1`,
      schedule: '*/5 * * * *',
    }));
    expect(words({ event: 'daemon.started', clients, listen: null })).toBe(
      [
        'daemon started, no status page',
        '         acme: https://acme.example/api/v1, schedule */5 * * * *',
        '         globex: https://globex.example/api/v1, schedule */5 * * * *',
      ].join('\n'),
    );
    const finished = {
      status: 'held',
      durationMs: 1_234,
      summary: { templates: 2, inSync: 3, heldTemplates: 1 },
    };
    expect(words({ event: 'pass.finished', client: 'acme', ...finished })).toBe(
      'acme: pass finished: held, 2 templates, 3 in sync, held templates 1, 1.2 s',
    );
    const failed = {
      status: 'failed',
      error: 'a.yaml:3:5: unknown key',
      durationMs: 5,
      summary: { templates: 2, inSync: 3 },
    };
    expect(words({ event: 'pass.finished', client: 'acme', ...failed })).toBe(
      'acme: pass finished: failed, 2 templates, 3 in sync, 0.0 s\n         a.yaml:3:5: unknown key',
    );
    expect(
      words({
        event: 'answers.finished',
        client: 'acme',
        msg: 'asked',
        durationMs: 60,
        subdomains: { failed: 2 },
      }),
    ).toBe('acme: asked, 0.1 s, subdomains failed 2');
    const problems = [{ file: 'a.yaml', line: 3, column: 5, message: 'no', check: 'include' }];
    expect(words({ level: 'error', event: 'templates.invalid', client: 'acme', problems })).toBe(
      'ERROR acme: invalid template files:\n         a.yaml:3:5: no [include]',
    );
  });

  it('contains no terminal controls from foreign text', () => {
    expect(words({ event: 'notice', client: 'default', notice: 'a\u001B[2Jb\r' })).not.toMatch(
      // oxlint-disable-next-line no-control-regex
      /[\u0000-\u0009\u000b-\u001f]/,
    );
  });
});
