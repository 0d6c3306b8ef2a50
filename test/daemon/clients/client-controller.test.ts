import { expect, onTestFinished, test, vi } from 'vitest';
import { ClientController } from '../../../src/daemon/clients/client-controller.ts';
import { alone } from '../../../src/daemon/fleet.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import type { PassResult } from '../../../src/result.ts';
import { readSettings } from '../../../src/settings.ts';
import { pass, template } from '../../report/every-kind.ts';
import { listeningLogger } from '../listening-logger.ts';

const minute = 60_000;
const never = () => expect.fail('nobody asked for that');

/** A client whose passes began a second ago, by a clock that is an hour ahead, and find that what waits may settle at these times. */
const controlled = async (times: () => readonly string[], more: () => Partial<PassResult> = () => ({})) => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T12:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const [settings] = readSettings({
    flags: {},
    needsService: false,
    env: { HOME: '/nowhere', DNS_SYNC_SCHEDULE: '0 0 29 2 *' },
    cwd: '/nowhere',
  }).clients;
  const passes: string[] = [];
  const fleet = alone();
  const controller = new ClientController({
    client: {
      settings: settings!,
      pass: ({ trigger, run }) => {
        passes.push(`${trigger} ${new Date().toISOString().slice(8, 16)}`);
        const startedAt = new Date(Date.now() + 60 * minute - 1_000).toISOString();
        const templates = times().map((settlesAt, at) =>
          template({ template: `web-${at}`, status: 'held', settlesAt }),
        );
        return Promise.resolve(
          pass({ trigger, run, startedAt, durationMs: 1_000, wasRead: true, templates, ...more() }),
        );
      },
      askNameServers: () => Promise.resolve(new Map()),
      suspending: never,
      look: () => Promise.resolve({ change: null, directories: new Map() }),
      files: () => Promise.resolve(null),
      token: () => '',
      listTemplateIds: never,
      savedAt: { file: '', stateDir: '', scope: '', isSandbox: false },
      close: () => Promise.resolve(),
    },
    fleet,
    onChange: () => undefined,
    onEntry: () => undefined,
    limit: (_, task) => task(),
    metrics: createMetrics('0'),
    onPass: () => Promise.resolve(),
    log: listeningLogger().log,
  });
  onTestFinished(() => controller.close());
  await fleet.start({ onReport: never, onChange: never });
  return { controller, passes };
};

test('a pass comes when the first of earlier writes may have settled', async () => {
  const times = ['2026-11-22T13:30:00.000Z', '2026-11-20T15:30:00.000Z', '2026-11-20T12:30:00.000Z'];
  const { controller, passes } = await controlled(() =>
    times.filter((one) => Date.parse(one) > Date.now() + 60 * minute),
  );
  controller.trigger('startup');
  await vi.advanceTimersByTimeAsync(150 * minute - 1);
  expect(passes).toEqual(['startup 20T12:00']);
  await vi.advanceTimersByTimeAsync(1);
  expect(passes).toEqual(['startup 20T12:00', 'schedule 20T14:30']);
  await vi.advanceTimersByTimeAsync(2 * 24 * 60 * minute);
  expect(passes).toEqual(['startup 20T12:00', 'schedule 20T14:30', 'schedule 22T12:30']);
});

test('what may have settled before a pass asks for no other one', async () => {
  const { controller, passes } = await controlled(() => ['2026-11-20T12:59:59.000Z']);
  controller.trigger('startup');
  await vi.advanceTimersByTimeAsync(24 * 60 * minute);
  expect(passes).toEqual(['startup 20T12:00']);
});

test('the clock is set past the time at which a write may have settled', async () => {
  const { controller, passes } = await controlled(() => ['2026-11-20T15:00:00.000Z']);
  controller.trigger('startup');
  await vi.advanceTimersByTimeAsync(minute);
  vi.setSystemTime(Date.parse('2026-11-20T14:30:00Z'));
  await vi.advanceTimersByTimeAsync(minute);
  expect(passes).toHaveLength(2);
});

const denied = { isDenied: true, areTokensRejected: true, holdReason: 'the service answered 401' };
const unreachable = { wasRead: false, holdReason: 'connection refused' };

test('a client whose tokens are rejected in every pass since the start is not ready, even if it can read', async () => {
  let outcome: Partial<PassResult> = denied;
  const { controller } = await controlled(
    () => [],
    () => outcome,
  );
  controller.trigger('startup');
  await vi.advanceTimersByTimeAsync(1);
  expect(controller.state).toMatchObject({ isReady: false, why: 'the service answered 401' });
  outcome = {};
  controller.trigger('request');
  await vi.advanceTimersByTimeAsync(1);
  expect(controller.state).toMatchObject({ isReady: true, why: null });
});

test('a client that had a good pass is not ready once its tokens were rejected for ten minutes', async () => {
  let outcome: Partial<PassResult> = {};
  const { controller } = await controlled(
    () => [],
    () => outcome,
  );
  const next = async (result: Partial<PassResult>, after: number) => {
    outcome = result;
    await vi.advanceTimersByTimeAsync(after);
    controller.trigger('request');
    await vi.advanceTimersByTimeAsync(0);
    return controller.state.isReady;
  };
  expect(await next({}, 0)).toBe(true);
  expect(await next(denied, 0)).toBe(true);
  // A service that does not answer takes nothing back, and neither does a clock that is set.
  expect(await next(unreachable, 5 * minute)).toBe(true);
  vi.setSystemTime(Date.now() - 60 * minute);
  expect(await next(denied, 5 * minute - 1)).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(controller.state.isReady).toBe(false);
  expect(await next({}, 0)).toBe(true);
  expect(await next(denied, 0)).toBe(true);
});
