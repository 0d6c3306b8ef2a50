import { expect, test } from 'vitest';
import { confirmAll } from '../../src/reconcile/core/two-readings.ts';
import type { TemplateService } from '../../src/reconcile/ports.ts';
import { writeTemplate } from '../../src/reconcile/shell/write.ts';
import type { Memory } from '../../src/state/memory.ts';
import { presentTemplate } from '../plan/records.ts';
import { newFile, opened } from '../state/samples.ts';
import { newState, runWith } from './state.ts';

test('an add is not sent where a reading shows more while its intent goes to disk', async () => {
  const memory = await opened(newFile());
  const state = newState(['@ A 192.0.2.1', 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1']);
  const sent: unknown[] = [];
  const service: TemplateService = {
    listDnsTemplates: () => Promise.resolve([presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'])]),
    addDnsTemplateRecord: (...what) => {
      sent.push(what);
      return Promise.resolve(state.basis.view);
    },
    updateDnsTemplateRecord: () => Promise.resolve(state.basis.view),
    listDnsRecords: () => Promise.resolve([]),
  };
  // As for another template's sake.
  const begin: Memory['begin'] = async (intent) => {
    const begun = await memory.begin(intent);
    await run.readTemplates();
    return begun;
  };
  const run = runWith({ service, memory, writer: { ...memory, begin } });
  const { holds } = await writeTemplate(confirmAll(state, 0), run);
  expect(sent).toEqual([]);
  expect(holds).toMatchObject([
    { scope: 'adds', reason: expect.stringMatching(/another reading shows 1 record/) },
  ]);
  expect(await memory.openIntents()).toEqual([]);
});
