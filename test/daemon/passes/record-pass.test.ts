import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/daemon/metrics/metrics.ts';
import { PassHistory } from '../../../src/daemon/passes/pass-history.ts';
import { recordFailure } from '../../../src/daemon/passes/record-pass.ts';
import { listeningLogger } from '../listening-logger.ts';

test('the log says that a pass has ended once its news are saved', async () => {
  const { log, lines } = listeningLogger();
  let save = (): void => undefined;
  const saved = new Promise<void>((resolve) => (save = resolve));
  const id = { client: 'acme', run: 'run', trigger: 'request' } as const;
  const sinks = { log, metrics: createMetrics('0'), passHistory: new PassHistory(), onPass: () => saved };
  const recorded = recordFailure(id, 'Why.', { started: performance.now(), isEnding: false }, sinks);
  expect(lines).toEqual([]);
  save();
  await recorded;
  expect(lines).toMatchObject([{ event: 'pass.finished', run: 'run' }]);
});
