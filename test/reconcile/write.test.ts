import { expect, test } from 'vitest';
import { confirmAll } from '../../src/reconcile/core/two-readings.ts';
import type { TemplateService } from '../../src/reconcile/ports.ts';
import { writeTemplate } from '../../src/reconcile/shell/write.ts';
import type { Memory } from '../../src/state/memory.ts';
import { actual, actualTemplate } from '../plan/records.ts';
import { newFile, opened } from '../state/samples.ts';
import { newState, runWith } from './state.ts';

const shown = actualTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2']);

test('an add is not sent if another step comes first by then', async () => {
  const memory = await opened(newFile());
  const alias = '#3 alias CNAME a.example.net';
  const state = newState(
    ['@ A 192.0.2.1', 'www A 192.0.2.2', 'alias CNAME b.example.net'],
    ['#1 @ A 192.0.2.1', alias],
  );
  const sent: string[] = [];
  const service: TemplateService = {
    listDnsTemplates: () => Promise.resolve([{ ...shown, records: [...shown.records, actual(alias)] }]),
    addDnsTemplateRecord: () => Promise.resolve((sent.push('add'), state.basis.view)),
    updateDnsTemplateRecord: () => Promise.resolve((sent.push('update'), state.basis.view)),
    listDnsRecords: () => Promise.resolve([]),
  };
  const begin: Memory['begin'] = async (intent) => {
    const begun = await memory.begin(intent);
    await run.readTemplates();
    return begun;
  };
  const run = runWith({ service, memory, writer: { ...memory, begin } });
  await writeTemplate(confirmAll(state), run);
  expect(sent).toEqual(['update']);
});

test.each([
  ['a change', '@ A 192.0.2.9', ['intent to update', 'update']],
  ['no change', '@ A 192.0.2.1', []],
])('nothing is added if another reading showed more, beside %s', async (_, apex, expected) => {
  const memory = await opened(newFile());
  const state = newState([apex, 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1']);
  const sent: string[] = [];
  const answer = actualTemplate(['#1 @ A 192.0.2.9']);
  const service: TemplateService = {
    listDnsTemplates: () => Promise.resolve([shown]),
    addDnsTemplateRecord: () => Promise.resolve((sent.push('add'), answer)),
    updateDnsTemplateRecord: () => Promise.resolve((sent.push('update'), answer)),
    listDnsRecords: () => Promise.resolve([]),
  };
  const begin: Memory['begin'] = (intent) => {
    sent.push(`intent to ${intent.action}`);
    return memory.begin(intent);
  };
  const run = runWith({ service, memory, writer: { ...memory, begin } });
  await run.readTemplates();
  await writeTemplate(confirmAll(state), run);
  expect(sent).toEqual(expected);
});

test('an add is not sent if a reading shows more records while its intent is saved', async () => {
  const memory = await opened(newFile());
  const state = newState(['@ A 192.0.2.1', 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1']);
  const sent: unknown[] = [];
  const service: TemplateService = {
    listDnsTemplates: () => Promise.resolve([shown]),
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
  const { holds } = await writeTemplate(confirmAll(state), run);
  expect(sent).toEqual([]);
  expect(holds).toMatchObject([{ scope: 'adds', cause: 'unexplained' }]);
  expect(await memory.openIntents()).toEqual([]);
});
