import { sameData } from '../../model/canonical.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import { dataOf } from '../../model/record.ts';
import {
  desiredKeysOf,
  entryOf,
  recordKey,
  type Pair,
  type ActualEntry,
  type DesiredEntry,
} from '../../plan/entry.ts';
import { groupBy } from '../../plan/group.ts';
import { hasLostMany } from '../../plan/guard.ts';
import { isLike, isPerhaps } from '../../plan/like.ts';
import { parkedKey } from '../../plan/memory.ts';
import type { TemplatePlan } from '../../plan/plan.ts';
import { isPark } from '../../plan/step.ts';
import { edit, isKnownId, isRemembered, type MemoryDraft } from '../../memory/memory.ts';
import { bind, change, unbind, unknownAddCount } from '../../memory/remembering.ts';
import { planOf } from './plan-of.ts';
import { withBasis, type TemplateState } from './state.ts';
import type { PlanBasis } from './basis.ts';

/**
 * The check for records that may be the desired ones, of every id that the saved state does not know, for whichever
 * reason: somebody else made them, or the state is new, lost, or an older copy. Beside such a record nothing is added.
 * `warning`: what people should know of a state that is partly not trusted.
 */
export const suspectMemory = (
  state: TemplateState,
): { readonly state: TemplateState; readonly warning: string | null } => {
  const { basis } = state;
  const plan = planOf(basis);
  const { memory } = basis;
  const isFirst = !memory.view.hasBeenRead && memory.view.byKey.size === 0;
  // A reading that showed nothing of the file does not show how the service spells names.
  const isSpellingOpen = memory.view.byId.size === 0;
  const unseen = isFirst ? [] : foreignIds(basis, plan);
  const beside = perhapsAdded(basis, plan, isSpellingOpen);
  if (unseen.length + beside.length === 0) return { state: decided(state, plan), warning: null };
  const ids = [...unseen, ...beside.map(({ actual }) => actual.record.id)].filter(
    (id) => !isRemembered(memory, id),
  );
  const next = edit(memory, (draft) => {
    // Causes are unknown then, and missing records may have been added before.
    if (!isFirst && ids.length > 0) distrust(draft, basis, plan);
    if (isSpellingOpen && beside.length > 0) draft.setRow({ isSpellingDoubtful: true });
    const unknown = { recordId: null, seen: null, cause: 'unknown', adds: unknownAddCount } as const;
    for (const { desired } of beside) change(draft, recordKey(desired), dataOf(desired.record), unknown);
  });
  const warning =
    isFirst || ids.length === 0 ? null : describeUnseen(basis.desired.template, [...new Set(ids)]);
  return { state: withBasis(state, { memory: next }), warning };
};

/** The doubt about spelling ends once nothing waits for a decision any more. */
const decided = (state: TemplateState, { waiting }: TemplatePlan): TemplateState => {
  const { memory } = state.basis;
  const isOpen = ({ desired }: { desired: DesiredEntry }): boolean =>
    (memory.records.get(recordKey(desired))?.adds ?? 0) >= unknownAddCount;
  const isStill = waiting.some((step) => !isPark(step) && isOpen(step));
  if (!memory.row.isSpellingDoubtful || isStill) return state;
  return withBasis(state, { memory: edit(memory, (draft) => draft.setRow({ isSpellingDoubtful: false })) });
};

/** Desired records that are in sync under unknown ids. */
const foreignIds = ({ desired, view, memory, pending }: PlanBasis, { pairs }: TemplatePlan): number[] => {
  if (pending.length > 0) return [];
  const unseen = pairs
    .filter((pair) => pair.fields.length === 0 && !isExpected(pair, memory.records))
    .map((pair) => pair.actual.record.id)
    .filter((id) => !isRemembered(memory, id))
    .sort((a, b) => a - b);
  // A reading that lost many known records is inconclusive, and losing their bindings would hide that.
  const { suspectIds } = memory.row;
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
    ? ({ adds: unknownAddCount } as const)
    : ({ recordId: null, seen: null, cause: 'unknown' } as const);
  change(draft, key, dataOf(desired.record), changes);
};

/**
 * Missing records, each beside a record of unknown id that may be it, in the service's spelling: it may have been
 * added any number of times. Another content at a respelled name shows that at first contact, and a placeholder there shows
 * it of every record that is not the file's, however long it has been known.
 */
const perhapsAdded = (
  { view, memory }: PlanBasis,
  plan: TemplatePlan,
  isSpellingOpen: boolean,
): Omit<Pair, 'fields'>[] => {
  const missing = missingIn(plan);
  if (missing.length === 0) return [];
  const paired = new Set(plan.pairs.map(({ actual }) => actual.record.id));
  const free: ActualEntry[] = view.records
    .filter(({ id, name }) => {
      if (paired.has(id) || isKnownId(memory, id)) return false;
      return !isRemembered(memory, id) || (name !== null && hasPlaceholder(name));
    })
    .map(entryOf);
  const byType = groupBy(free, ({ type }) => type);
  const isOne = (desired: DesiredEntry, actual: ActualEntry): boolean =>
    isSpellingOpen || hasPlaceholder(actual.name) ? isPerhaps(desired, actual) : isLike(desired, actual);
  return missing.flatMap((desired) => {
    const actual = byType.get(desired.type)?.find((one) => isOne(desired, one));
    return actual ? [{ desired, actual }] : [];
  });
};

const missingIn = ({ steps, waiting }: TemplatePlan): DesiredEntry[] =>
  [...steps, ...waiting].flatMap((step) => ('actual' in step ? [] : [step.desired]));

const describeUnseen = (template: string, ids: readonly number[]): string => {
  const shown = ids.slice(0, 5).map((id) => `#${id}`);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  return `${template}: records of the file have ids that the saved state does not know (${shown.join(', ')}${more}): somebody else made them, or an older copy of the state directory was restored; causes are unknown, and missing records that were there before wait for apply --retry ${template}`;
};
