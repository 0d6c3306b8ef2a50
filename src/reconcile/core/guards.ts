import { applying, countAdds, guardTemplate, type GuardInput } from '../../plan/guard.ts';
import { isPolicy, type Hold } from '../../plan/hold.ts';
import { chosenPart } from './permit.ts';
import { isPaused, withHold, type TemplateState } from './state.ts';

export interface GuardPolicy extends Pick<GuardInput, 'force' | 'acceptLoss' | 'retry'> {
  readonly maxAddsPerPass: number;
}

/** Applies the guards; the limit of adds per pass holds the adds of all templates. */
export const guardAll = (states: readonly TemplateState[], policy: GuardPolicy): TemplateState[] => {
  const guarded = states.map((state) => {
    const hold = isPaused(state) ? null : guardOf(state, policy);
    return hold ? withHold(state, hold) : state;
  });
  const addsOf = (state: TemplateState): number =>
    state.holds.some(isPolicy) || isReported(state) ? 0 : countAdds(chosenPart(state));
  const adds = guarded.reduce((sum, state) => sum + addsOf(state), 0);
  if (policy.force || adds <= policy.maxAddsPerPass) return guarded;
  return guarded.map((state) => (addsOf(state) > 0 ? withHold(state, manyAdds(state, adds, policy)) : state));
};

const guardOf = (state: TemplateState, policy: GuardPolicy): Hold | null => {
  const { desired, view: actual, memory } = state.basis;
  if (isReported(state)) return null;
  const { suspectIds, answeredIds = [], isSpellingDoubtful = false } = memory.row;
  const known = { memory: memory.view, suspectIds, answeredIds, isSpellingDoubtful };
  return guardTemplate({ ...policy, ...known, desired, actual, plan: chosenPart(state) });
};

const isReported = ({ basis }: TemplateState): boolean => basis.desired.mode === 'report';

const manyAdds = ({ basis }: TemplateState, adds: number, { maxAddsPerPass }: GuardPolicy): Hold => ({
  scope: 'adds',
  cause: 'adds',
  reason: `${adds} records to add in this pass, more than limits.maxAddsPerPass (${maxAddsPerPass}): raise it, or run ${applying('--force', basis.desired)}`,
  retryAt: null,
});
