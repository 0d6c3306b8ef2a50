import { dataOf, type RecordData } from '../model/record.ts';
import { sameData } from '../model/canonical.ts';
import { entryOf, recordKey, setKey, type Present, type Wanted } from '../plan/entry.ts';
import { parkedKey } from '../plan/memory.ts';
import type { Obstruction } from '../plan/plan-input.ts';
import { parkedForm } from '../plan/parked.ts';
import type { RecordMemory } from '../state/memory.ts';
import { isActive, type Ledger } from './ledger.ts';

export interface GateInput {
  readonly ledger: Ledger;
  /** Record sets, as `entryOf` names them, of the pending adds. */
  readonly pendingSets: ReadonlySet<string>;
  readonly now: number;
}

/** Adds of one wanted record that may land before a person has to say so again. */
export const mostAdds = 2;
/** Stands for adds that nobody has counted. */
export const uncountedAdds = 1_000;
const mostStores = 3;
const day = 86_400_000;

/** Why a wanted record may not be written now, going by what was remembered of earlier writes; null if it may. */
export const gate =
  (input: GateInput) =>
  (wanted: Wanted, present: Present | null): Obstruction | null => {
    const record = input.ledger.get(recordKey(wanted)) ?? (present && input.ledger.ofId(present.record.id));
    if (present === null && input.pendingSets.has(setKey(wanted))) return pendingAdd;
    if (!record) return null;
    return (
      failing(record, wanted, input.now) ??
      (present
        ? notConverging(record, wanted, present, input.now)
        : (tooManyAdds(record) ?? becomingAnother(record, wanted)))
    );
  };

/** Why a record may not be parked now. */
export const parkGate =
  ({ ledger, now }: Pick<GateInput, 'ledger' | 'now'>) =>
  (present: Present): { error: string; retryAt?: string } | null => {
    const { record, type } = present;
    const known = ledger.ofId(record.id) ?? ledger.get(parkedKey(record.id));
    const sent = parkedForm(record, type);
    const failure = known?.failure ?? null;
    if (isActive(failure, sent, now))
      return { error: failure.message, retryAt: new Date(failure.retryAt).toISOString() };
    return known && isRewritten(known.rewritten, sent, record)
      ? { error: describeRewritten(known.rewritten) }
      : null;
  };

const pendingAdd: Obstruction = {
  reason: 'pending-write',
  message: 'an add to this record set was sent and its outcome is not known yet',
};

const failing = ({ failure }: RecordMemory, wanted: Wanted, now: number): Obstruction | null => {
  if (!isActive(failure, dataOf(wanted.record), now)) return null;
  const retryAt = new Date(failure.retryAt).toISOString();
  return failure.kind === 'refused'
    ? { reason: 'refused', message: failure.message, retryAt }
    : { reason: 'pending-write', message: `${failure.message}; not tried again before ${retryAt}`, retryAt };
};

const tooManyAdds = ({ adds, failure }: RecordMemory): Obstruction | null => {
  if (adds >= uncountedAdds)
    return {
      reason: 'vanished',
      message:
        'it was there and is gone, and an older copy of the state does not tell how often it was added; look at the service, then apply --retry',
    };
  if (adds < mostAdds) return null;
  return failure?.kind === 'unknown'
    ? {
        reason: 'pending-write',
        message: `${adds} adds were sent and none was seen to arrive; look at the service, then apply --retry`,
      }
    : {
        reason: 'vanished',
        message: `added ${adds} times and gone again each time; find out why, then apply --retry`,
      };
};

/** What an add of it made stands for another wanted record, as the service stored it: the next would be a copy. */
const becomingAnother = ({ recordId, rewritten }: RecordMemory, wanted: Wanted): Obstruction | null => {
  if (recordId !== null || rewritten === null || !sameData(rewritten.sent, dataOf(wanted.record)))
    return null;
  const isAnother = recordKey(entryOf(rewritten.stored)) !== recordKey(wanted);
  return isAnother ? { reason: 'not-converging', message: describeRewritten(rewritten) } : null;
};

const notConverging = (
  { rewritten, stored }: RecordMemory,
  wanted: Wanted,
  present: Present,
  now: number,
): Obstruction | null => {
  const sent = dataOf(wanted.record);
  if (isRewritten(rewritten, sent, present.record))
    return { reason: 'not-converging', message: describeRewritten(rewritten) };
  const recent =
    stored && sameData(stored.sent, sent) ? stored.at.filter((at) => Math.abs(now - at) < day) : [];
  if (recent.length < mostStores) return null;
  return {
    reason: 'not-converging',
    message: `stored ${recent.length} times within a day without staying; something else keeps changing it`,
  };
};

const isRewritten = (
  rewritten: RecordMemory['rewritten'],
  sent: RecordData,
  stored: RecordData,
): rewritten is NonNullable<RecordMemory['rewritten']> =>
  rewritten !== null && sameData(rewritten.sent, sent) && sameData(rewritten.stored, stored);

const describeRewritten = ({ sent, stored }: NonNullable<RecordMemory['rewritten']>): string =>
  `sent ${describe(sent)}, and the service stored ${describe(stored)}`;

const describe = ({ type, name, content, priority, ttl }: RecordData): string =>
  [name ?? '@', type, priority, content, ttl === null ? null : `(ttl ${ttl})`]
    .filter((part) => part !== null)
    .join(' ');
