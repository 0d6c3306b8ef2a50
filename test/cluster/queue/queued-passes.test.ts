import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { WaitingPass } from '../../../src/cluster/pass-queue.ts';
import { QueuedPasses } from '../../../src/cluster/queued-passes.ts';

test('what is asked for while a client is closed here is made by another process', async () => {
  const asked: WaitingPass[] = [];
  const settings = {
    name: 'acme',
    baseUrl: 'https://panel.example.net/api',
    schedule: '@daily',
    timezone: 'UTC',
  };
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
