import { dataOf } from '../model/record.ts';
import { entryOf, recordKey, type Pair } from '../plan/entry.ts';
import { hasLostMany } from '../plan/guard.ts';
import { parkedKey } from '../plan/memory.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { Clock, TemplateWork } from './context.ts';
import { uncountedAdds, type Ledger } from './ledger.ts';
import { planWork } from './template.ts';
import { wantedKeys } from './work.ts';

interface OlderMemoryContext {
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/**
 * Where wanted records stand in sync under ids that memory never saw, somebody else made them, or what is remembered
 * is an older copy of itself. Nobody can tell then who changed what since, so all of it is met anew: causes are
 * unknown, and what is missing may have been added before.
 */
export const noticeOlderMemory = (
  works: readonly TemplateWork[],
  { clock, warn }: OlderMemoryContext,
): void => {
  for (const work of works) {
    const plan = planWork(work, clock.now());
    const unseen = unseenIds(work, plan);
    if (unseen.length === 0) continue;
    meetAnew(work, plan);
    warn(noticeOf(work.desired.template, unseen));
  }
};

const unseenIds = (
  { desired, present, ledger, pending }: TemplateWork,
  { pairs }: TemplatePlan,
): number[] => {
  const { highestId, suspectIds } = ledger.facts;
  if (highestId === undefined || !ledger.view.familiar || pending.length > 0) return [];
  const unseen = pairs
    .filter((pair) => pair.fields.length === 0 && !isExpected(pair, ledger))
    .map((pair) => pair.present.record.id)
    .filter((id) => id > highestId && !ledger.isKnown(id))
    .sort((a, b) => a - b);
  // A reading that has lost much tells nothing, and what memory knows is what tells that it has.
  const isDoubtful = unseen.length > 0 && hasLostMany({ desired, present, memory: ledger.view, suspectIds });
  return isDoubtful ? [] : unseen;
};

/** An add that was given up may land late, also of what had been there before. */
const isExpected = ({ wanted }: Pair, ledger: Ledger): boolean => {
  const known = ledger.get(recordKey(wanted));
  if (!known || known.adds === 0) return false;
  return known.recordId === null || known.failure?.kind === 'unknown';
};

const meetAnew = (work: TemplateWork, { pairs }: TemplatePlan): void => {
  const { ledger, desired, present } = work;
  for (const pair of pairs) if (pair.fields.length > 0) meetChanged(ledger, pair);
  const paired = new Set(pairs.map((pair) => pair.present.record.id));
  const unpaired = new Map(
    present.records.filter(({ id }) => !paired.has(id)).map((record) => [record.id, record]),
  );
  const found = new Set(pairs.map(({ wanted }) => recordKey(wanted)));
  for (const wanted of desired.records.map(entryOf)) {
    const key = recordKey(wanted);
    if (found.has(key)) continue;
    // What stood for it and is there, as something that no record of the file may take, is not missing.
    const stray = unpaired.get(ledger.view.byKey.get(key)?.id ?? -1);
    if (stray) meetChanged(ledger, { wanted, present: entryOf(stray) });
    else meetMissing(ledger, key, dataOf(wanted.record));
  }
  for (const id of unpaired.keys()) {
    const known = ledger.ofId(id);
    const isForgotten = known && known.key !== parkedKey(id) && !wantedKeys(work).has(known.key);
    if (isForgotten) ledger.disown(id);
  }
};

/** As if file and service had come to differ at once. */
const meetChanged = (ledger: Ledger, { wanted, present }: Pick<Pair, 'wanted' | 'present'>): void => {
  if (ledger.ofId(present.record.id)) ledger.bind(wanted, present);
  else meetMissing(ledger, recordKey(wanted), dataOf(wanted.record));
};

const meetMissing = (ledger: Ledger, key: string, wanted: ReturnType<typeof dataOf>): void => {
  const counted = ledger.view.byKey.has(key) ? { adds: uncountedAdds } : {};
  ledger.change(key, wanted, { recordId: null, seen: null, cause: 'unknown', ...counted });
};

const noticeOf = (template: string, ids: readonly number[]): string => {
  const shown = ids.slice(0, 5).map((id) => `#${id}`);
  const more = ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '';
  return `${template}: records of the file are there under ids that were never seen (${shown.join(', ')}${more}): somebody else made them, or an older copy of the state directory was restored; causes are unknown, and what is missing and was there before waits for apply --retry ${template}`;
};
