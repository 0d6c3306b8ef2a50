import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/daemon/metrics/metrics.ts';
import { PassHistory } from '../../../src/daemon/passes/pass-history.ts';
import { recordPass } from '../../../src/daemon/passes/record-pass.ts';
import { listeningLogger } from '../listening-logger.ts';

test('the log says that a pass has ended once its news are saved', async () => {
  const { log, lines } = listeningLogger();
  let save = (): void => undefined;
  const saved = new Promise<void>((resolve) => (save = resolve));
  const id = { client: 'acme', run: 'run', trigger: 'request' } as const;
  const sinks = { log, metrics: createMetrics('0'), passHistory: new PassHistory(), onPass: () => saved };
  const event = { ...id, at: '', result: null, failure: 'Why.', removed: [], isEnding: false };
  const recorded = recordPass(event, { result: null, latest: null, durationMs: 1 }, sinks);
  expect(lines).toEqual([]);
  save();
  await recorded;
  expect(lines).toMatchObject([{ event: 'pass.finished', run: 'run' }]);
});
