import type { EndedIntent } from '../core/state.ts';
import type { ClientRun, UnsavedByTemplate, UnsavedOutcomes } from './client-run.ts';
import { finishInOrder } from './save.ts';

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
