import type { TemplateWork } from '../../src/apply/context.ts';
import { openWork } from '../../src/apply/work.ts';
import type { Memory } from '../../src/state/memory.ts';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { newFile, opened } from '../state/samples.ts';

/** At which no time goes by. */
export const clock = { now: () => 0, sleep: () => Promise.resolve() };

/** A template that is met for the first time. */
export const newWork = async (
  wanted: readonly string[],
  present: readonly string[],
): Promise<{ work: TemplateWork; memory: Memory }> => {
  const memory = opened(newFile());
  const bound = { desired: desiredTemplate(wanted), present: presentTemplate(present), notes: [] };
  const options = { memory, writer: memory, trigger: 'schedule', retry: false, clock } as const;
  return { work: await openWork(bound, options), memory };
};
