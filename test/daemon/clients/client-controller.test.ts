import { expect, onTestFinished, test, vi } from 'vitest';
import { alone } from '../../../src/cluster/membership.ts';
import { ClientController } from '../../../src/daemon/clients/client-controller.ts';
import type { DaemonClient } from '../../../src/daemon/context.ts';
import { ChangeFeed } from '../../../src/daemon/http/events.ts';
import { createMetrics } from '../../../src/daemon/metrics.ts';
import { Day } from '../../../src/daemon/passes/day.ts';
import { answersKey } from '../../../src/report/answers.ts';
import { notAsked, type SubdomainAnswers } from '../../../src/result.ts';
import { readSettings } from '../../../src/settings.ts';
import { storeLocation } from '../../../src/state/store-location.ts';
import { pass, template } from '../../report/every-kind.ts';
import { listeningLogger } from '../listening-logger.ts';

const minute = 60_000;
const never = () => expect.fail('nobody asked for that');
const [settings] = readSettings({
  flags: {},
  needsService: false,
  env: { HOME: '/nowhere', DNS_SYNC_SCHEDULE: '0 0 29 2 *', DNS_SYNC_ANSWERS_SCHEDULE: '0 0 29 2 *' },
  cwd: '/nowhere',
}).clients;

interface Given {
  /** When what waits may have settled. */
  readonly settlesAt?: () => readonly string[];
  readonly askNameServers?: DaemonClient['askNameServers'];
  readonly publish?: () => Promise<void>;
}

/** A client whose passes began a second ago, by a clock that is an hour ahead. */
const controlled = async (given: Given = {}) => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T12:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const { settlesAt = () => [], publish = () => Promise.resolve() } = given;
  const { log, lines } = listeningLogger();
  const passes: string[] = [];
  const closed: string[] = [];
  const client = (name: string, more: Partial<DaemonClient> = {}): DaemonClient => ({
    settings: settings!,
    pass: ({ trigger, run }) => {
      passes.push(`${trigger} ${new Date().toISOString().slice(8, 16)}`);
      const startedAt = new Date(Date.now() + 60 * minute - 1_000).toISOString();
      const subdomain = { subdomain: 'a', status: 'in-sync', message: null, differences: [] } as const;
      const templates = [...settlesAt(), undefined].map((time, at) =>
        template({
          template: `web-${at}`,
          subdomains: [{ ...subdomain, answers: notAsked }],
          ...(time === undefined ? {} : { settlesAt: time }),
        }),
      );
      return Promise.resolve(pass({ trigger, run, startedAt, durationMs: 1_000, wasRead: true, templates }));
    },
    askNameServers: given.askNameServers ?? (() => Promise.resolve(new Map())),
    suspending: never,
    saved: never,
    look: () => Promise.resolve({ change: null, directories: new Map() }),
    files: () => Promise.resolve(null),
    token: () => '',
    listTemplateIds: never,
    savedAt: storeLocation({ stateDir: '', baseUrl: '', name: 'acme' }, '', false),
    close: () => Promise.resolve(void closed.push(name)),
    ...more,
  });
  const fleet = alone();
  const controller = new ClientController({
    client: client('first'),
    fleet,
    log,
    listeners: {
      metrics: createMetrics('0'),
      notifier: { publish, configure: never },
      day: new Day(),
      changeFeed: new ChangeFeed(),
    },
    inTurn: (task) => task(),
  });
  onTestFinished(() => controller.close());
  await fleet.start({ onReport: never, onChange: never });
  const wait = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
  return { controller, passes, lines, client, closed, wait };
};

test('a pass comes when the first of earlier writes may have settled', async () => {
  const times = ['2026-11-20T13:50:00.000Z', '2026-11-20T13:20:00.000Z'];
  // What may have settled before a pass asks for no other one.
  const before = '2026-11-20T12:59:59.000Z';
  const settlesAt = () => [before, ...times.filter((one) => Date.parse(one) > Date.now() + 60 * minute)];
  const { controller, passes, wait } = await controlled({ settlesAt });
  controller.trigger('startup');
  await wait(20 * minute - 1);
  expect(passes).toEqual(['startup 20T12:00']);
  await wait(60 * minute);
  expect(passes).toEqual(['startup 20T12:00', 'schedule 20T12:20', 'schedule 20T12:50']);
});

test('the clock is set past the time at which a write may have settled', async () => {
  const { controller, passes, wait } = await controlled({ settlesAt: () => ['2026-11-20T15:00:00.000Z'] });
  controller.trigger('startup');
  await wait(minute);
  vi.setSystemTime(Date.parse('2026-11-20T14:30:00Z'));
  await wait(minute);
  expect(passes).toHaveLength(2);
});

test('new settings are those of the next pass; a running one keeps its client until it has ended', async () => {
  const { controller, client, closed, wait } = await controlled();
  let end = (): void => undefined;
  const running = new Promise<never>((_, reject) => (end = () => reject(new Error('away'))));
  await controller.replace(client('second', { pass: () => running }));
  expect(closed).toEqual(['first']);
  controller.trigger('request');
  await wait(0);
  await controller.replace(client('third'));
  expect(closed).toEqual(['first']);
  end();
  await wait(0);
  expect(closed).toEqual(['first', 'second']);
});

test('the log says that a pass has ended once its news are saved', async () => {
  let save = (): void => undefined;
  const saved = new Promise<void>((resolve) => (save = resolve));
  const { controller, lines, wait } = await controlled({ publish: () => saved });
  controller.trigger('request');
  await wait(0);
  expect(lines.map(({ event }) => event)).not.toContain('pass.finished');
  save();
  await wait(0);
  expect(lines.map(({ event }) => event)).toContain('pass.finished');
});

const drifted: SubdomainAnswers = { status: 'drifted', servers: [], differences: [] };

test('name servers are asked after the first pass; a round that does not end is ended after half an hour', async () => {
  const begun: AbortSignal[] = [];
  const askNameServers: DaemonClient['askNameServers'] = ({ signal }) => {
    begun.push(signal);
    const heard = new Map([[answersKey('web-0', 'a'), drifted]]);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(heard)));
  };
  const { controller, client, wait } = await controlled({ askNameServers });
  controller.trigger('request');
  await wait(0);
  controller.trigger('request');
  await wait(30 * minute - 1);
  expect([begun.length, begun[0]?.aborted]).toEqual([1, false]);
  await wait(1);
  expect(controller.known.newest).toMatchObject({ templates: [{ status: 'drifted' }] });
  controller.trigger('request');
  await wait(0);
  expect(begun).toHaveLength(1);
  // As after a start.
  await controller.replace(client('second'));
  controller.trigger('request');
  await wait(0);
  expect(begun).toHaveLength(2);
});
