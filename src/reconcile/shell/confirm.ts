import type { TemplateState } from '../core/state.ts';
import {
  awaitsReading,
  confirmAll,
  confirmBy,
  hasUnshown,
  isConfirming,
  isSettled,
  recallReading,
} from '../core/two-readings.ts';
import type { ClientRun } from './client-run.ts';

/** Lists the templates a second time if a step waits for that, and confirms what both readings require. */
export const confirmTemplates = async (
  given: readonly TemplateState[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  const { clock, settle, signal } = run.pass;
  const waiting = new Set<TemplateState>();
  const settled = new Set<TemplateState>();
  const states = given.map((state) => {
    if (!awaitsReading(state, run.view)) return state;
    const recalled = recallReading(state);
    (isSettled(recalled) && !hasUnshown(recalled) ? settled : waiting).add(recalled);
    return recalled;
  });
  if (waiting.size > 0) await clock.sleep(settle, signal);
  const listing = waiting.size > 0 && !signal.aborted ? await run.readTemplates() : null;
  const moment = run.moment;
  return states.map((state) => {
    const { id } = state.basis.view;
    if (listing && waiting.has(state)) return confirmBy(state, listing.get(id), moment);
    if (!settled.has(state)) return state;
    // There may be a newer reading, made for another template.
    const newest = run.listing?.get(id);
    return isConfirming(state, newest) ? confirmBy(state, newest, moment) : confirmAll(state);
  });
};
