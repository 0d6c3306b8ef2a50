import { describe, expect, it } from 'vitest';
import { clientState, readinessOf } from '../../../src/daemon/clients/client-state.ts';
import type { PassLoopState } from '../../../src/daemon/passes/loop.ts';
import type { PassResult, Status } from '../../../src/result.ts';

const result = (statuses: Readonly<Record<string, Status>>, error?: string): PassResult => ({
  client: 'acme',
  run: 'run',
  trigger: 'schedule',
  startedAt: '2026-11-20T20:00:00.000Z',
  durationMs: 1,
  dryRun: false,
  holdReason: null,
  retryAfter: null,
  templates: Object.entries(statuses).map(([template, status]) => ({
    client: 'acme',
    template,
    id: 1,
    file: 'templates/web.yaml',
    revision: null,
    status,
    message: status === 'held' || status === 'failed' ? `${status} for a reason` : null,
    inSync: 1,
    parked: 0,
    ignored: 0,
    differences: [],
    subdomains: [],
  })),
  problems:
    error === undefined
      ? []
      : [
          {
            client: 'acme',
            severity: 'error',
            check: 'x',
            message: error,
            file: null,
            line: null,
            column: null,
          },
        ],
});

const usual = {
  client: 'acme',
  loop: { running: null, waiting: null, failures: 0, backoffUntil: null } as PassLoopState,
  isReady: true,
  lastError: null as string | null,
  latest: result({ web: 'in-sync' }) as PassResult | null,
  nextScheduled: null as Date | null,
};

const stateOf = (rest: Partial<typeof usual> = {}) => {
  const { loop, latest, ...known } = { ...usual, ...rest };
  return clientState(known, loop, latest);
};

describe('a client', () => {
  it.each<[string, Partial<typeof usual>, string, string | null]>([
    ['before its first pass has ended', { latest: null }, 'starting', 'no pass has ended yet'],
    ['in sync', {}, 'healthy', null],
    ['drifted', { latest: result({ web: 'drifted' }) }, 'healthy', null],
    [
      'with a held template',
      { latest: result({ web: 'drifted', b: 'held' }) },
      'held',
      'b: held for a reason',
    ],
    [
      'with a failed one too',
      { latest: result({ a: 'held', b: 'failed' }) },
      'failing',
      'b: failed for a reason',
    ],
    ['with a broken file', { latest: result({ a: 'held' }, 'a fault') }, 'failing', 'a fault'],
    ['whose last pass was cut short', { lastError: 'the service is away' }, 'failing', 'the service is away'],
    [
      'whose tokens the service does not take',
      {
        latest: { ...result({}), holdReason: 'it answered 401', isDenied: true },
        lastError: 'it answered 401',
      },
      'denied',
      'it answered 401',
    ],
    [
      'whose tokens it did not take either, before another reason',
      { latest: { ...result({}), holdReason: 'it answered 401', isDenied: true }, lastError: 'no disk' },
      'failing',
      'no disk',
    ],
    ['whose first pass could not be made', { latest: null, lastError: 'no disk' }, 'failing', 'no disk'],
  ])('%s', (_, rest, health, why) => {
    expect(stateOf(rest)).toMatchObject({ client: 'acme', health, why });
  });

  it('reports the state of its loop', () => {
    const backoffUntil = new Date();
    const loop = { running: null, waiting: 'schedule', failures: 3, backoffUntil } as const;
    expect(stateOf({ loop, nextScheduled: backoffUntil })).toMatchObject({
      ...loop,
      nextScheduled: backoffUntil,
    });
  });
});

describe('the program is ready', () => {
  it('once every client is, and names those that are not, with the reason', () => {
    const ready = stateOf();
    const starting = stateOf({ client: 'bakery', isReady: false, latest: null });
    const away = stateOf({ client: 'cafe', isReady: false, latest: null, lastError: 'away' });
    expect(readinessOf([ready], null)).toEqual({ ready: true, reason: null });
    expect(readinessOf([ready, starting, away], null)).toEqual({
      ready: false,
      reason: 'bakery: no pass has ended yet; cafe: away',
    });
  });

  it('also if a client that was read fails now', () => {
    const state = stateOf({ lastError: 'away', latest: result({ web: 'failed' }) });
    expect(readinessOf([state], null)).toEqual({ ready: true, reason: null });
  });
});
