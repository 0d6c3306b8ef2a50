import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { WaitingPass } from '../../../src/cluster/pass-queue.ts';
import { QueuedPasses } from '../../../src/cluster/queued-passes.ts';

const settings = {
  name: 'acme',
  baseUrl: 'https://panel.example.net/api',
  schedule: '0 3 * * *',
  timezone: 'UTC',
};

test('the next pass comes when a window opens, if that is before the schedule', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-20T12:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const delayWith = (opening: string | null): number => {
    const passes = new QueuedPasses({
      client: {
        pass: () => Promise.resolve('ok'),
        log: pino({ enabled: false }),
        settings: () => settings,
        dueAt: () => (opening === null ? null : Date.parse(opening)),
      },
      ask: () => Promise.resolve(null),
      onClose: () => undefined,
    });
    return passes.next({ ...passes.first, id: '1', retryCount: 0, lateness: 0 }, 'ok').delay / 3_600_000;
  };
  expect(delayWith('2026-11-20T14:00:00Z')).toBe(2);
  expect(delayWith('2026-11-20T11:00:00Z')).toBe(0);
  for (const opening of [null, '2026-11-22T12:00:00Z']) expect(Math.floor(delayWith(opening))).toBe(15);
});

test('what is asked for while a client is closed here is made by another process', async () => {
  const asked: WaitingPass[] = [];
  const passes = new QueuedPasses({
    client: { pass: () => Promise.resolve('ok'), log: pino({ enabled: false }), settings: () => settings },
    ask: (pass) => Promise.resolve(String(asked.push(pass))),
    onClose: () => undefined,
  });
  const closed = passes.close();
  // Its files are published at this moment.
  passes.trigger('file-change');
  await closed;
  expect(asked).toEqual([
    { client: 'acme', server: 'panel.example.net', trigger: 'file-change', failures: 0 },
  ]);
  expect(await passes.run({ ...asked[0]!, id: '1', retryCount: 0, lateness: 0 })).toBe('handed-over');
});
