import type { MemoryChanges } from '../../state/memory.ts';
import { asSaved, changesOf, isUnsaved } from '../core/memory.ts';
import { withBasis, type TemplateState } from '../core/state.ts';
import type { ClientRun } from './client-run.ts';

/** Saves the changes of a template's state; if that fails, the next attempt saves all of them, never a part. */
export const saveWith = async (
  state: TemplateState,
  run: ClientRun,
  save: (changes: MemoryChanges) => Promise<void>,
): Promise<TemplateState> => {
  const { memory } = state.basis;
  const saved = await run.save(save(changesOf(memory)).then(() => true));
  return saved === null ? state : withBasis(state, { memory: asSaved(memory) });
};

export const saveMemory = (state: TemplateState, run: ClientRun): Promise<TemplateState> =>
  isUnsaved(state.basis.memory)
    ? saveWith(state, run, (changes) => run.writer.save(changes))
    : Promise.resolve(state);
