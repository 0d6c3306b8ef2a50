import { applying, countAdds, guardTemplate } from '../plan/guard.ts';
import { isPolicy } from '../plan/hold.ts';
import { chosenPart } from './permit.ts';
import { isSettled, isSuspended, stop, withHold, type TemplateState } from './state.ts';

/**
 * Applies the guards. The limit of adds per pass holds the templates with most adds, as few as bring the rest under it.
 */
export const guardAll = (states: readonly TemplateState[], maxAddsPerPass: number): TemplateState[] => {
  const guarded = states.map(guardOne);
  const addsOf = (state: TemplateState): number =>
    state.holds.some((hold) => isPolicy(hold) && hold.scope !== 'client') || isReported(state)
      ? 0
      : countAdds(chosenPart(state));
  const counts = guarded.map((state) => ({ state, adds: addsOf(state) }));
  const all = counts.reduce((sum, { adds }) => sum + adds, 0);
  const held = new Set<TemplateState>();
  let left = all;
  for (const { state, adds } of counts.toSorted((a, b) => b.adds - a.adds)) {
    if (left <= maxAddsPerPass || state.circumstances.force) break;
    held.add(state);
    left -= adds;
  }
  return guarded.map((state) =>
    held.has(state) ? stop(state, 'adds', manyAdds(state, all, maxAddsPerPass)) : state,
  );
};

const guardOne = (state: TemplateState): TemplateState => {
  if (isSuspended(state) || isReported(state)) return state;
  const { desired, view: actual, memory, isWhole, circumstances } = state;
  const { unlistedIds } = memory.row;
  const plan = chosenPart(state);
  const read = { desired, actual, memory, plan, isWhole, unlistedIds, isSettled: isSettled(state) };
  const hold = guardTemplate({ ...circumstances, ...read });
  return hold ? withHold(state, hold) : state;
};

const isReported = ({ desired }: TemplateState): boolean => desired.mode === 'report';

const manyAdds = ({ desired }: TemplateState, adds: number, maxAddsPerPass: number): string =>
  `${adds} records to add in this pass, more than limits.maxAddsPerPass (${maxAddsPerPass}): raise it, or run ${applying('--force', desired)}`;
