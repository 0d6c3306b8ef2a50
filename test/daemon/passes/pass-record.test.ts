import { expect, test } from 'vitest';
import { passRecord } from '../../../src/daemon/passes/pass-record.ts';
import { listeningLogger } from '../listening-logger.ts';

test('the log says that a pass has ended once its news are saved', async () => {
  const { log, lines } = listeningLogger();
  let save = (): void => undefined;
  const saved = new Promise<void>((resolve) => (save = resolve));
  const id = { client: 'acme', run: 'run', trigger: 'request' } as const;
  const event = { ...id, at: '', result: null, failure: 'Why.', removed: [], isEnding: false };
  const recorded = passRecord(id, log).ended(event, 1, null, () => saved);
  expect(lines).toEqual([]);
  save();
  await recorded;
  expect(lines).toMatchObject([{ event: 'pass.finished', run: 'run' }]);
});
