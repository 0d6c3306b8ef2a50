import type { TemplateState } from '../core/state.ts';
import {
  awaitsReading,
  confirmAll,
  confirmBy,
  isConfirming,
  isSettled,
  recallReading,
} from '../core/two-readings.ts';
import type { ClientRun } from './client-run.ts';

/**
 * Reads all templates a second time where a step waits for that, and confirms what both readings ask for. What was
 * confirmed before waits for nothing, and takes the newer reading where that is as good.
 */
export const confirmTemplates = async (
  given: readonly TemplateState[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  const { clock, settle, signal, force } = run.pass;
  const at = run.moment;
  const waiting = new Set<TemplateState>();
  const settled = new Set<TemplateState>();
  const states = given.map((state) => {
    if (!awaitsReading(state, run.view, force, at.now)) return state;
    const recalled = recallReading(state);
    const isReady = isSettled(recalled, settle);
    const next = isReady ? confirmAll(recalled, at.now) : recalled;
    (isReady ? settled : waiting).add(next);
    return next;
  });
  if (waiting.size === 0) return states;
  await clock.sleep(settle, signal);
  if (signal.aborted) return states;
  const listing = await run.readTemplates();
  if (listing === null) return states;
  const moment = run.moment;
  return states.map((state) => {
    const reading = listing.get(state.basis.view.id);
    const isTaken = waiting.has(state) || (settled.has(state) && isConfirming(state, reading));
    return isTaken ? confirmBy(state, reading, moment) : state;
  });
};
