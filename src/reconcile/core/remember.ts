import type { ActualTemplate } from '../../model/template.ts';
import { dataOf } from '../../model/record.ts';
import { desiredKeysOf, recordKey } from '../../plan/entry.ts';
import { hasLostMany, manyLost } from '../../plan/guard.ts';
import { isPark, resultOf } from '../../plan/step.ts';
import { stepKey } from './attempt.ts';
import { edit } from '../../memory/memory.ts';
import { observe } from '../../memory/observe.ts';
import { unionOf } from './reading.ts';
import { change } from '../../memory/remembering.ts';
import { planOf } from './plan-of.ts';
import { isStopped, withBasis, type TemplateState } from './state.ts';
import { rememberReading } from './two-readings.ts';

export interface RememberInput {
  /** The union of all readings of this pass after the first, made for any template. */
  readonly listing: ReadonlyMap<number, ActualTemplate> | null;
  /** A person confirmed that missing records are gone. */
  readonly acceptLoss: boolean;
  readonly now: number;
}

/** Notes what a pass observed, as far as it can be trusted. */
export const remember = (state: TemplateState, input: RememberInput): TemplateState =>
  rememberReading(rememberSeen(rememberUndone(state), input));

/** A value that a later write of this pass undid is not sent again by itself. */
const rememberUndone = (state: TemplateState): TemplateState => {
  // An uncertain view does not show whether a value stayed.
  if (isStopped(state)) return state;
  const memory = edit(state.basis.memory, (draft) => {
    for (const step of planOf(state.basis).steps) {
      if (isPark(step) || !('actual' in step)) continue;
      if (state.attempts.get(stepKey(step))?.state !== 'applied') continue;
      const rewritten = { sent: resultOf(step), stored: dataOf(step.actual.record) };
      change(draft, recordKey(step.desired), dataOf(step.desired.record), { rewritten });
    }
  });
  return memory === state.basis.memory ? state : withBasis(state, { memory });
};

/** After a reading that lost many records nothing is forgotten until a second pass agrees. */
const rememberSeen = (state: TemplateState, { listing, acceptLoss, now }: RememberInput): TemplateState => {
  const { desired, view, memory, settle, now: from } = state.basis;
  // A record that any reading of the pass showed is not missing.
  const actual = unionOf(listing?.get(view.id), view);
  const { suspectIds } = memory.row;
  const isTrusted =
    !state.holds.some(({ cause }) => cause === 'loss') &&
    (acceptLoss || !hasLostMany({ desired, actual, memory: memory.view, suspectIds }));
  const hasDisagreement = state.holds.some(({ cause }) => cause === 'disagreement');
  const lost = hasDisagreement ? null : manyLost({ desired, actual, memory: memory.view });
  const plan = planOf(state.basis);
  const next = edit(memory, (draft) => {
    if (suspectIds?.join() !== lost?.join()) draft.setRow({ suspectIds: lost });
    const desiredKeys = desiredKeysOf(desired);
    if (isTrusted) observe(draft, plan, { actual, desiredKeys, from, to: now, settle });
  });
  return next === memory ? state : withBasis(state, { memory: next });
};
