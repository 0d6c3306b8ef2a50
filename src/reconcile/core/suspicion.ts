import { sameData } from '../../model/canonical.ts';
import { dataOf } from '../../model/record.ts';
import { entryOf, recordKey, type Pair, type ActualEntry, type DesiredEntry } from '../../plan/entry.ts';
import { groupBy } from '../../plan/group.ts';
import { hasLostMany } from '../../plan/guard.ts';
import { isLike } from '../../plan/like.ts';
import { parkedKey } from '../../plan/memory.ts';
import type { TemplatePlan } from '../../plan/plan.ts';
import { isPark } from '../../plan/step.ts';
import { edit, isKnownId, type MemoryDraft } from './memory.ts';
import { bind, change, unbind, uncountedAdds } from './remembering.ts';
import { planOf, desiredKeysOf, type PlanBasis } from './basis.ts';
import { withBasis, type TemplateState } from './state.ts';

/** A template whose saved state is partly not trusted, and notes about that for people. */
export interface Suspicion {
  readonly state: TemplateState;
  readonly warning: string | null;
}

export const suspectMemory = (state: TemplateState): Suspicion => {
  const plan = planOf(state.basis);
  const unseen = foreignIds(state.basis, plan);
  if (unseen.length > 0) {
    const memory = edit(state.basis.memory, (draft) => distrust(draft, state.basis, plan));
    return {
      state: withBasis(state, { memory }),
      warning: describeUnseen(state.basis.desired.template, unseen),
    };
  }
  const lost = perhapsAdded(state.basis, plan);
  if (lost.length === 0) return { state, warning: null };
  const memory = edit(state.basis.memory, (draft) => {
    const unknown = { recordId: null, seen: null, cause: 'unknown', adds: uncountedAdds } as const;
    for (const desired of lost) change(draft, recordKey(desired), dataOf(desired.record), unknown);
  });
  return { state: withBasis(state, { memory }), warning: null };
};

/**
 * If desired records are in sync under unknown ids, somebody else made them, or the saved state is an older
 * copy. Then causes are unknown, and missing records may have been added before.
 */
const foreignIds = ({ desired, view, memory, pending }: PlanBasis, { pairs }: TemplatePlan): number[] => {
  const { highestId, suspectIds } = memory.row;
  if (highestId === undefined || !memory.view.hasBeenRead || pending.length > 0) return [];
  const unseen = pairs
    .filter((pair) => pair.fields.length === 0 && !isExpected(pair, memory.records))
    .map((pair) => pair.actual.record.id)
    .filter((id) => id > highestId && !isKnownId(memory, id))
    .sort((a, b) => a - b);
  // A reading that lost many known records is inconclusive, and losing their bindings would hide that.
  const isDoubtful =
    unseen.length > 0 && hasLostMany({ desired, actual: view, memory: memory.view, suspectIds });
  return isDoubtful ? [] : unseen;
};

/** An abandoned add may take effect late. */
const isExpected = ({ desired }: Pair, records: PlanBasis['memory']['records']): boolean => {
  const known = records.get(recordKey(desired));
  if (!known || known.adds === 0) return false;
  return known.recordId === null || known.failure?.kind === 'unknown';
};

const distrust = (draft: MemoryDraft, { desired, view }: PlanBasis, { pairs }: TemplatePlan): void => {
  for (const pair of pairs) if (pair.fields.length > 0) distrustChanged(draft, pair);
  const found = new Set(pairs.map((pair) => recordKey(pair.desired)));
  for (const entry of desired.records.map(entryOf))
    if (!found.has(recordKey(entry))) distrustMissing(draft, entry);
  const paired = new Set(pairs.map(({ actual }) => actual.record.id));
  const desiredKeys = desiredKeysOf(desired);
  for (const record of view.records) {
    const { id } = record;
    const known = paired.has(id) ? undefined : draft.ofId(id);
    const isForgotten = known && known.key !== parkedKey(id) && !desiredKeys.has(known.key);
    if (isForgotten && !sameData(known.seen ?? known.wanted, record)) unbind(draft, id);
  }
};

/** As if both sides had changed. */
const distrustChanged = (draft: MemoryDraft, { desired, actual }: Pair): void => {
  if (draft.ofId(actual.record.id)) bind(draft, desired, actual);
  else distrustMissing(draft, desired);
};

/** Its record may be missing only in this reading, or have another type now: its binding stays. */
const distrustMissing = (draft: MemoryDraft, desired: DesiredEntry): void => {
  const key = recordKey(desired);
  const isKnown = draft.now.view.byKey.has(key);
  const changes = isKnown
    ? ({ adds: uncountedAdds } as const)
    : ({ recordId: null, seen: null, cause: 'unknown' } as const);
  change(draft, key, dataOf(desired.record), changes);
};

/**
 * Without saved state, a template may have records that were added before the state was lost, in the
 * service's spelling. A missing record with a similar one may have been added any number of times.
 */
const perhapsAdded = ({ desired, view, memory }: PlanBasis, plan: TemplatePlan): DesiredEntry[] => {
  if (memory.view.hasBeenRead || memory.view.byKey.size > 0 || desired.adopt) return [];
  const missing = missingIn(plan);
  if (missing.length === 0) return [];
  const paired = new Set(plan.pairs.map(({ actual }) => actual.record.id));
  const unpaired: ActualEntry[] = view.records.filter(({ id }) => !paired.has(id)).map(entryOf);
  const byType = groupBy(unpaired, ({ type }) => type);
  return missing.filter((one) => byType.get(one.type)?.some((actual) => isLike(one, actual)));
};

const missingIn = ({ steps, waiting }: TemplatePlan): DesiredEntry[] =>
  [...steps, ...waiting].flatMap((step) =>
    !isPark(step) && step.difference.action === 'add' ? [step.desired] : [],
  );

const describeUnseen = (template: string, ids: readonly number[]): string => {
  const shown = ids.slice(0, 5).map((id) => `#${id}`);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  return `${template}: records of the file have ids that the saved state does not know (${shown.join(', ')}${more}): somebody else made them, or an older copy of the state directory was restored; causes are unknown, and missing records that were there before wait for apply --retry ${template}`;
};
