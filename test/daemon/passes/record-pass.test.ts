import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/daemon/metrics/metrics.ts';
import { passLog } from '../../../src/daemon/passes/pass-log.ts';
import { recordPass } from '../../../src/daemon/passes/record-pass.ts';
import { listeningLogger } from '../listening-logger.ts';

test('the log says that a pass has ended once its news are saved', async () => {
  const { log, lines } = listeningLogger();
  let save = (): void => undefined;
  const saved = new Promise<void>((resolve) => (save = resolve));
  const id = { client: 'acme', run: 'run', trigger: 'request' } as const;
  const event = { ...id, at: '', result: null, failure: 'Why.', removed: [], isEnding: false };
  const recorded = recordPass(event, {
    trigger: 'request',
    durationMs: 1,
    lines: passLog(id, log),
    metrics: createMetrics('0'),
    latest: null,
    onPass: () => saved,
  });
  expect(lines).toEqual([]);
  save();
  await recorded;
  expect(lines).toMatchObject([{ event: 'pass.finished', run: 'run' }]);
});
