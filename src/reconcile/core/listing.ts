import { plural } from '../../lib/plural.ts';
import type { ActualTemplate } from '../../model/template.ts';
import { compare } from './reading.ts';
import { withHold, type TemplateState } from './state.ts';

/** A listing for another template may show records that this plan did not know. */
export const compareListing = (
  state: TemplateState,
  listing: ReadonlyMap<number, ActualTemplate> | null,
): TemplateState => {
  if (listing === state.comparedListing) return state;
  const next = { ...state, comparedListing: listing };
  const { view } = state.basis;
  const reading = listing?.get(view.id);
  const { verdict, more } = reading ? compare(view, reading, 'for-another-template') : keep;
  if (verdict !== 'hold-adds' || state.holds.some(({ cause }) => cause === 'unexplained')) return next;
  const reason = `another listing shows ${plural(more, 'record')} that this one did not`;
  return withHold(next, { scope: 'adds', cause: 'unexplained', reason, retryAt: null });
};

const keep = { verdict: 'keep', more: 0 } as const;
