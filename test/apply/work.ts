import type { ApplyContext, TemplateWork } from '../../src/apply/context.ts';
import { openWork } from '../../src/apply/work.ts';
import type { Memory } from '../../src/state/memory.ts';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { newFile, opened } from '../state/samples.ts';

/** At which no time goes by. */
export const clock = { now: () => 0, uptime: () => ({ boot: 'b', at: 0 }), sleep: () => Promise.resolve() };

/** A template that is met for the first time. */
export const newWork = async (
  wanted: readonly string[],
  present: readonly string[],
): Promise<{ work: TemplateWork; memory: Memory }> => {
  const memory = await opened(newFile());
  const bound = { desired: desiredTemplate(wanted), present: presentTemplate(present), notes: [] };
  const options = { memory, clock };
  return { work: await openWork(bound, options), memory };
};

/** A pass that is told nothing by anybody, and to which the service answers nothing. */
export const contextWith = (given: Pick<ApplyContext, 'memory'> & Partial<ApplyContext>): ApplyContext => {
  const nothing = () => Promise.reject(new Error('nobody answers'));
  return {
    service: { listDnsTemplates: nothing, addDnsTemplateRecord: nothing, updateDnsTemplateRecord: nothing },
    clock,
    signal: new AbortController().signal,
    run: 'run-1',
    settle: 0,
    unknownPause: 0,
    retry: false,
    acceptLoss: false,
    onChange: () => undefined,
    halt: { reason: null, retryAt: null },
    latest: { listing: null },
    ...given,
  };
};
