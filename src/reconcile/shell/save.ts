import type { Intent, IntentResult } from '../../state/memory.ts';
import { asSaved, changesOf, isUnsaved } from '../../memory/memory.ts';
import { withBasis, type EndedIntent, type TemplateState } from '../core/state.ts';
import type { ClientRun, UnsavedByTemplate, UnsavedOutcomes } from './client-run.ts';

/*
 * The outcome of a write and the state after it are saved together; where that fails, the next attempt saves both. If
 * the state knew the result of an intent that is still open, the next pass would look for a second result of it, and
 * might take somebody else's record.
 */

/** Saves the outcome of a write with the state after it. */
export const saveEnd = (
  state: TemplateState,
  intent: Intent,
  result: IntentResult,
  run: ClientRun,
): Promise<TemplateState> => {
  const ended = { intent, result, memory: state.basis.memory };
  return saveMemory({ ...state, unfinished: [...state.unfinished, ended] }, run);
};

/** Saves all changes of a template's state, or none after an outcome that cannot be saved. */
export const saveMemory = async (state: TemplateState, run: ClientRun): Promise<TemplateState> => {
  const { unfinished, basis } = state;
  const { memory } = basis;
  if (unfinished.length === 0 && !isUnsaved(memory)) return state;
  // The last one takes everything since along.
  const ended = [...unfinished.slice(0, -1), ...unfinished.slice(-1).map((one) => ({ ...one, memory }))];
  const finished = await finishInOrder(ended, run);
  if (finished < ended.length) return { ...state, unfinished: unfinished.slice(finished) };
  const save = (): Promise<true> => run.writer.save(changesOf(memory)).then(() => true);
  if (ended.length === 0 && (await run.save(save())) === null) return state;
  return withBasis({ ...state, unfinished: [] }, { memory: asSaved(memory) });
};

/** How many of them could be saved, each with the state after it, up to the first that could not. */
export const finishInOrder = async (ended: readonly EndedIntent[], run: ClientRun): Promise<number> => {
  let count = 0;
  for (const { intent, result, memory } of ended) {
    const task = run.writer.finish(intent, result, changesOf(memory));
    if ((await run.save(task.then(() => true))) === null) return count;
    count += 1;
  }
  return count;
};

/**
 * The outcomes of writes that a pass knows and could not save, for the next pass of the same process. To any other
 * process these writes are open: if one has resolved them, or changed the state beside them, they are dropped.
 */
export class KeptOutcomes implements UnsavedOutcomes {
  #kept = new Map<number, { readonly ended: readonly EndedIntent[]; readonly stored: string }>();

  async saveAgain(run: ClientRun): Promise<UnsavedByTemplate> {
    if (this.#kept.size === 0) return new Map();
    const open = new Set((await run.pass.memory.openIntents()).map(({ id }) => id));
    const left = new Map<number, readonly EndedIntent[]>();
    for (const [templateId, { ended, stored }] of this.#kept) {
      const isUnchanged = stored === (await storedText(templateId, run));
      if (!isUnchanged || !ended.every(({ intent }) => open.has(intent.id))) continue;
      const rest = ended.slice(await finishInOrder(ended, run));
      if (rest.length > 0) left.set(templateId, rest);
    }
    await this.keep(left, run);
    return left;
  }

  async keep(unfinished: UnsavedByTemplate, run: ClientRun): Promise<void> {
    this.#kept = new Map();
    for (const [templateId, ended] of unfinished)
      this.#kept.set(templateId, { ended, stored: await storedText(templateId, run) });
  }
}

const storedText = async (templateId: number, { pass }: ClientRun): Promise<string> =>
  JSON.stringify(await pass.memory.template(templateId));
