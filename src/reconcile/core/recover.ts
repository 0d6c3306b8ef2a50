import { canonicalType } from '../../model/canonical.ts';
import type { ActualRecord } from '../../model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../../model/template.ts';
import { desiredKeysOf, entryOf, recordKey, setKey } from '../../plan/entry.ts';
import { hasLostMany } from '../../plan/guard.ts';
import type { Intent, IntentResult, Uptime } from '../../state/memory.ts';
import { failureAfter, type Instant } from '../../memory/backoff.ts';
import { maxAbandonedAdds } from './gate.ts';
import { matchAdd, type Match, type MatchRule } from '../../plan/match-add.ts';
import { edit, isKnownId, abandonedAdds, type TemplateMemory } from '../../memory/memory.ts';
import { answeredRecord, earlierMatch, noteMatched } from './arrivals.ts';
import { assumeParked } from './commit.ts';
import { compare } from './reading.ts';
import { bindAdded, bindTentatively, change, recognizeRestored, targetOf } from '../../memory/remembering.ts';
import type { EndedIntent } from './state.ts';
import type { CorrectedView, PlanBasis } from './basis.ts';
import { asAccepted } from './waits.ts';

/** A template with writes of unknown outcome that have to be resolved. */
export interface Recovery extends Pick<PlanBasis, 'now' | 'settle' | 'unknownPause'> {
  readonly templateId: number;
  /** Null if this pass is not about it. */
  readonly desired: DesiredTemplate | null;
  /** Whether any file describes it, also one that this pass is not about or that has errors. */
  readonly isDescribed: boolean;
  /** The last trusted reading; null if the service does not show the template. */
  readonly view: CorrectedView | null;
  readonly memory: TemplateMemory;
  /** Writes of unknown outcome. */
  readonly open: readonly Intent[];
  /** In order. */
  readonly resolved: readonly ResolvedIntent[];
  /** How many of those have been told. */
  readonly told: number;
  /** In order: those whose outcome is not on disk yet. */
  readonly unfinished: readonly ResolvedIntent[];
  /** Whether the last reading was conclusive, and whether all were. */
  readonly isConclusive: boolean;
  readonly wasConclusive: boolean;
}

export interface ResolvedIntent extends EndedIntent {
  /** Ms since the epoch: when a missing add may be retried. */
  readonly retryAt: number | null;
}

/** A saved reading from before a write that may have taken effect is out of date. */
export const openRecovery = (
  given: Omit<Recovery, 'resolved' | 'told' | 'unfinished' | 'isConclusive' | 'wasConclusive'>,
): Recovery => ({
  ...given,
  memory: edit(given.memory, (draft) => draft.setRow({ lastReading: null })),
  resolved: [],
  told: 0,
  unfinished: [],
  isConclusive: true,
  wasConclusive: true,
});

/** A process died before it knew the outcome of these updates: they are planned again if needed. */
export const endUpdates = (recovery: Recovery, uptime: Uptime): Recovery =>
  recovery.open
    .filter(({ action }) => action !== 'add')
    .reduce((next, intent) => {
      const error =
        'its outcome was not saved: the program ended before that, or the state could not be written';
      const memory = edit(next.memory, (draft) => {
        const target = targetOf(intent);
        const unseen = { kind: 'unseen', message: error, sent: intent.after } as const;
        const known = draft.get(intent.key)?.failure ?? null;
        if (target)
          bindTentatively(draft, target, { failure: failureAfter(known, unseen, { now: next.now, uptime }) });
        else if (assumeParked(draft, intent, null) && next.view) recognizeRestored(draft, next.view);
      });
      return end(next, intent, { outcome: 'unknown', recordId: intent.recordId, error }, memory);
    }, recovery);

/**
 * Matches open adds with the new records of the last reading: exact matches first, then a lone add with a
 * lone new record of its type. A reading that lost many records is inconclusive.
 */
export const matchOpen = (recovery: Recovery): Recovery => {
  const { view } = recovery;
  if (view === null || !recovery.isConclusive || !isWhole(view, recovery)) return recovery;
  let next = recovery;
  for (const rule of ['exact', 'alike'] as const)
    for (const intent of next.open) {
      if (intent.action !== 'add' || (rule === 'alike' && !isAlone(intent, next))) continue;
      const match = matchOf(intent, view, next, rule);
      if (match.kind === 'matched') next = accept(next, intent, [match.record], view);
      else if (match.kind === 'duplicate') next = accept(next, intent, match.records, view);
    }
  return next;
};

/** Adds a reading. It is conclusive unless it lacks records of the previous one; one that lost many proves no absence. */
export const withReading = (recovery: Recovery, listed: ActualTemplate | undefined): Recovery => {
  const { view } = recovery;
  const reading = listed && asAccepted(listed, recovery.memory, recovery);
  const isTaken = view && reading && compare(view, reading, 'settling').verdict === 'take';
  if (!isTaken) return { ...recovery, isConclusive: false, wasConclusive: false };
  const next = { ...recovery, view: reading, isConclusive: true };
  return isWhole(reading, recovery) ? next : { ...next, wasConclusive: false };
};

/** An add that is absent in all readings counts as failed, and may be retried once after a backoff. */
export const concludeAbsent = (recovery: Recovery, isRetry: boolean, at: Instant): Recovery => {
  const { view, wasConclusive, desired, isDescribed } = recovery;
  // Only a pass about the template knows what its file lists.
  if (view === null || !wasConclusive || (desired === null && isDescribed)) return recovery;
  let next = recovery;
  for (const intent of recovery.open) {
    const isAbsent = matchOf(intent, view, next, 'alike').kind === 'absent';
    if (isAbsent || (isRetry && desired)) next = abandon(next, intent, 1, at);
    // No file lists it: if a file lists it again, a person has to allow it.
    else if (!keysOf(next).has(intent.key)) next = abandon(next, intent, maxAbandonedAdds, at);
  }
  return next;
};

/**
 * A known record is not a match unless it is exactly this one; and a record that equals another desired one
 * is not similar to this one.
 */
const matchOf = (
  intent: Intent,
  reading: ActualTemplate,
  { memory, desired }: Pick<Recovery, 'memory' | 'desired'>,
  rule: MatchRule,
): Match => {
  const desiredKeys = keysOf({ desired });
  const old = new Set(intent.idsBefore);
  const answered = answeredRecord(intent, memory, reading.records);
  if (answered) return { kind: 'matched', record: answered };
  const isTaken = (id: number): boolean => {
    const isOwn = memory.view.byId.get(id)?.key === intent.key;
    return isOwn ? rule !== 'exact' : isKnownId(memory, id);
  };
  const isAnothers = (record: ActualRecord): boolean => {
    const key = recordKey(entryOf(record));
    return key !== intent.key && desiredKeys.has(key);
  };
  if (rule !== 'exact') for (const record of reading.records) if (isAnothers(record)) old.add(record.id);
  return matchAdd(intent.after, (id) => old.has(id) || isTaken(id), reading, rule);
};

/** If several records match one add, the earlier match stays; else the first one is used. */
const accept = (
  recovery: Recovery,
  intent: Intent,
  candidates: readonly ActualRecord[],
  reading: ActualTemplate,
): Recovery => {
  const { key, after: sent, at, uptime: since } = intent;
  const known = recovery.memory.records.get(key);
  const before = earlierMatch(recovery.memory, key, reading.records);
  const [first] = candidates.toSorted((a, b) => a.id - b.id);
  const record = before?.isSame ? before.record : first!;
  const copies = [...candidates, ...(before ? [before.record] : [])]
    .map(({ id }) => id)
    .filter((id) => id !== record.id);
  const memory = edit(recovery.memory, (draft) => {
    bindAdded(draft, { key, sent, record, copies, adds: (known?.adds ?? 0) + 1, at, since });
    draft.setRow({ lastWriteAt: intent.at });
    if (!answeredRecord(intent, recovery.memory, reading.records))
      noteMatched(draft, { key, sent, idsBefore: intent.idsBefore, at, since });
  });
  const outcome = copies.length > 0 ? 'duplicate' : 'applied';
  return end(recovery, intent, { outcome, recordId: record.id, error: null }, memory);
};

/** `adds`: how many adds that may have taken effect it counts for. */
const abandon = (recovery: Recovery, intent: Intent, adds: number, at: Instant): Recovery => {
  const known = recovery.memory.records.get(intent.key);
  const message = 'the outcome of the add was unknown, and two readings did not show the record';
  const { after: sent, idsBefore } = intent;
  const failed = { kind: 'unknown', message, sent, idsBefore } as const;
  const failure = failureAfter(known?.failure ?? null, failed, at, recovery.unknownPause);
  const cause = known ? known.cause : intent.cause;
  const memory = edit(recovery.memory, (draft) =>
    change(draft, intent.key, intent.after, { adds: (known?.adds ?? 0) + adds, failure, cause }),
  );
  const set = setKey(entryOf(intent.after));
  const inSet = abandonedAdds(memory).filter(({ wanted }) => setKey(entryOf(wanted)) === set);
  // A second one waits for a person, not for a backoff.
  const mayRetry = inSet.reduce((sum, one) => sum + one.adds, 0) < maxAbandonedAdds;
  const result = { outcome: 'failed', recordId: null, error: failure.message } as const;
  return end(recovery, intent, result, memory, mayRetry ? failure.retryAt : null);
};

const end = (
  recovery: Recovery,
  intent: Intent,
  result: IntentResult,
  memory: TemplateMemory,
  retryAt: number | null = null,
): Recovery => {
  const resolved = { intent, result, memory, retryAt };
  return {
    ...recovery,
    memory,
    open: recovery.open.filter(({ id }) => id !== intent.id),
    resolved: [...recovery.resolved, resolved],
    unfinished: [...recovery.unfinished, resolved],
  };
};

const isWhole = (reading: ActualTemplate, { desired, memory }: Recovery): boolean =>
  !desired ||
  !hasLostMany({ desired, actual: reading, memory: memory.view, suspectIds: memory.row.suspectIds });

/** Of its type, in its template. */
const isAlone = (intent: Intent, { open }: Recovery): boolean => {
  const type = canonicalType(intent.after.type);
  return open.filter(({ after }) => canonicalType(after.type) === type).length === 1;
};

const keysOf = ({ desired }: Pick<Recovery, 'desired'>): ReadonlySet<string> =>
  desired ? desiredKeysOf(desired) : noKeys;

const noKeys: ReadonlySet<string> = new Set();
