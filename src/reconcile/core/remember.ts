import type { PresentTemplate } from '../../model/template.ts';
import { dataOf } from '../../model/record.ts';
import { recordKey } from '../../plan/entry.ts';
import { hasLostMany, manyLost } from '../../plan/guard.ts';
import { isPark, resultOf } from '../../plan/step.ts';
import { stepKey } from './attempt.ts';
import { edit } from './memory.ts';
import { observe } from './observe.ts';
import { withAllOf } from './reading.ts';
import { change } from './remembering.ts';
import { planOf, wantedKeysOf } from './basis.ts';
import { isStopped, withBasis, type TemplateState } from './state.ts';
import { rememberReading } from './two-readings.ts';

export interface RememberInput {
  /** All that the readings since the first one showed, for whichever template they were made. */
  readonly listing: ReadonlyMap<number, PresentTemplate> | null;
  /** A person said that what is missing is truly gone. */
  readonly acceptLoss: boolean;
  /** Milliseconds. */
  readonly settle: number;
  readonly now: number;
}

/** Takes what a pass saw into memory, as far as it can be trusted. */
export const remember = (state: TemplateState, input: RememberInput): TemplateState =>
  rememberReading(rememberSeen(rememberUndone(state), input), input.now);

/** What was stored in this pass and did not stay, because a later write undid it, is not sent again by itself. */
const rememberUndone = (state: TemplateState): TemplateState => {
  // A view that is in doubt does not tell what stayed.
  if (isStopped(state)) return state;
  const memory = edit(state.basis.memory, (draft) => {
    for (const step of planOf(state.basis).steps) {
      if (isPark(step) || !('present' in step)) continue;
      if (state.attempts.get(stepKey(step))?.state !== 'applied') continue;
      const rewritten = { sent: resultOf(step), stored: dataOf(step.present.record) };
      change(draft, recordKey(step.wanted), dataOf(step.wanted.record), { rewritten });
    }
  });
  return memory === state.basis.memory ? state : withBasis(state, { memory });
};

/** A reading that lost too much makes nobody forget anything, until a second pass agrees. */
const rememberSeen = (
  state: TemplateState,
  { listing, acceptLoss, settle, now }: RememberInput,
): TemplateState => {
  const { desired, view, memory } = state.basis;
  // What a reading for another template's sake showed is not missed.
  const present = withAllOf(listing?.get(view.id), view);
  const { suspectIds } = memory.facts;
  const isTrusted =
    !state.holds.some(({ cause }) => cause === 'loss') &&
    (acceptLoss || !hasLostMany({ desired, present, memory: memory.view, suspectIds }));
  const hasDisagreement = state.holds.some(({ cause }) => cause === 'disagreement');
  const lost = hasDisagreement ? null : manyLost({ desired, present, memory: memory.view });
  const plan = planOf(state.basis);
  const next = edit(memory, (draft) => {
    if (suspectIds?.join() !== lost?.join()) draft.setFacts({ suspectIds: lost });
    const wanted = wantedKeysOf(desired);
    if (isTrusted) observe(draft, plan, { present, wanted, from: state.basis.now, to: now, settle });
  });
  return next === memory ? state : withBasis(state, { memory: next });
};
