import type { TemplateState } from '../core/state.ts';
import { awaitsReading, confirmAll, confirmBy, isSettled, recallReading } from '../core/two-readings.ts';
import type { ClientRun } from './client-run.ts';

/** Reads all templates a second time where a step waits for that, and confirms what both readings ask for. */
export const confirmTemplates = async (
  given: readonly TemplateState[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  const { clock, settle, signal, force } = run.pass;
  const at = run.moment;
  const isAwaited = (state: TemplateState): boolean => awaitsReading(state, run.view, force, at.now);
  const waiting = new Set<TemplateState>();
  const states = given.map((state) => {
    if (!isAwaited(state)) return state;
    const recalled = recallReading(state);
    if (isSettled(recalled, settle)) return confirmAll(recalled, at.now);
    waiting.add(recalled);
    return recalled;
  });
  if (waiting.size === 0) return states;
  await clock.sleep(settle, signal);
  if (signal.aborted) return states;
  const listing = await run.readTemplates();
  if (listing === null) return states;
  const moment = run.moment;
  return states.map((state) =>
    waiting.has(state) ? confirmBy(state, listing.get(state.basis.view.id), moment) : state,
  );
};
