import { expect, test } from 'vitest';
import type { TemplateService } from '../../src/apply/context.ts';
import { readTemplates } from '../../src/apply/listing.ts';
import { applyTemplate } from '../../src/apply/template.ts';
import type { Memory } from '../../src/state/memory.ts';
import { presentTemplate } from '../plan/records.ts';
import { contextWith, newWork } from './work.ts';

test('an add is not sent where a reading shows more while its intent goes to disk', async () => {
  const { work, memory } = await newWork(['@ A 192.0.2.1', 'www A 192.0.2.2'], ['#1 @ A 192.0.2.1']);
  const sent: unknown[] = [];
  const service: TemplateService = {
    listDnsTemplates: () => Promise.resolve([presentTemplate(['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'])]),
    addDnsTemplateRecord: (...what) => {
      sent.push(what);
      return Promise.resolve(work.present);
    },
    updateDnsTemplateRecord: () => Promise.resolve(work.present),
  };
  // As for another template's sake.
  const begin: Memory['begin'] = async (intent) => {
    const begun = await memory.begin(intent);
    await readTemplates(context);
    return begun;
  };
  const context = contextWith({ service, memory: { ...memory, begin } });
  await applyTemplate(work, { review: () => undefined, skipReason: () => null }, context);
  expect(sent).toEqual([]);
  expect(work.addsStopped).toMatch(/another reading shows 1 records/);
  expect(await memory.openIntents()).toEqual([]);
});
