import { dataOf, type ActualRecord } from '../../model/record.ts';
import { canonicalType } from '../../model/canonical.ts';
import { recordKey } from '../../plan/entry.ts';
import { parkedKey } from '../../plan/memory.ts';
import { isPark, isRestore, isUpdate, actualOf, resultOf, type Step } from '../../plan/step.ts';
import type { Change } from '../../result.ts';
import { writeIdOf, type Intent, type IntentResult } from '../../state/memory.ts';
import type { Instant } from '../../memory/backoff.ts';
import type { PlanBasis } from './basis.ts';

/** The state of one step of this pass. */
export type Attempt = { readonly step: Step; readonly intent: Intent } & (
  | { readonly state: 'intended' }
  /**
   * The answer is rejected, shows the record as it was, or may hide it: another reading decides. `changed`: the
   * changed record, if the rejected answer shows it.
   */
  | {
      readonly state: 'awaiting-read';
      readonly by: 'doubt' | 'stale' | 'refusal';
      readonly error: string;
      readonly changed?: ActualRecord | null;
    }
  | { readonly state: 'applied'; readonly recordId: number }
  /** `retryAt`: ms since the epoch. */
  | { readonly state: 'failed'; readonly error: string; readonly retryAt: number | null }
  | { readonly state: 'unknown'; readonly error: string }
  /** A park that was reverted, since the write that needed its name was not accepted. */
  | { readonly state: 'reverted'; readonly error: string; readonly retryAt: number | null }
);

/** Identifies a step over all plans of a pass. */
export const stepKey = (step: Step): string => {
  if (!isPark(step)) return recordKey(step.desired);
  const key = parkedKey(step.actual.record.id);
  return isRestore(step) ? `${key} back` : key;
};

/** Identifies a write by its result and its record. Which surplus record is reused does not matter. */
export const writeKey = (step: Step): string => {
  const isMoved = isUpdate(step) && step.difference.fields.includes('name');
  return `${isMoved ? 'moved' : (actualOf(step)?.record.id ?? 'new')} ${stepKey(step)}`;
};

/** The outcome for the store; null while the attempt is open, as an add of unknown outcome is. */
export const intentResultOf = (attempt: Attempt): IntentResult | null => {
  const outcome = outcomeOf(attempt);
  const isUnknownAdd = attempt.state === 'unknown' && attempt.intent.action === 'add';
  return outcome === null || isUnknownAdd ? null : { ...outcome, recordId: recordIdOf(attempt) };
};

const recordIdOf = (attempt: Attempt): number | null =>
  attempt.state === 'applied' ? attempt.recordId : attempt.intent.recordId;

/** The outcome for report and log; null while it is in flight. */
export const outcomeOf = (attempt: Attempt): Pick<Change, 'outcome' | 'error'> | null => {
  switch (attempt.state) {
    case 'applied':
      return { outcome: 'applied', error: null };
    case 'failed':
    case 'reverted':
      return { outcome: 'failed', error: attempt.error };
    case 'unknown':
      return { outcome: 'unknown', error: attempt.error };
    case 'intended':
    case 'awaiting-read':
      return null;
  }
};

/** Ms since the epoch: when it may be retried, if known. */
export const retryAtOf = (attempt: Attempt): number | null => ('retryAt' in attempt ? attempt.retryAt : null);

export const changeOfAttempt = (attempt: Attempt, { view }: PlanBasis): Change | null => {
  const outcome = outcomeOf(attempt);
  if (outcome === null) return null;
  const change = changeOf(attempt.intent, { ...outcome, recordId: recordIdOf(attempt) });
  return { ...change, template: view.name };
};

/** One of an earlier version does not say why it was sent. */
export const changeOf = (intent: Intent, result: Pick<Change, 'outcome' | 'recordId' | 'error'>): Change => {
  const { template, templateId, action, before, after, cause } = intent;
  const { trigger = null, source = null, revision = null } = intent;
  const what = { write: writeIdOf(intent), template, templateId, action, before, after };
  return { ...what, cause, trigger, source, revision, ...result };
};

/** The intent, which is on disk before a step is sent. */
export const intentOf = (
  step: Step,
  basis: PlanBasis,
  {
    moment: { now, uptime },
    ...sending
  }: Required<Pick<Intent, 'run' | 'trigger' | 'revision' | 'makesWayFor'>> & { readonly moment: Instant },
): Omit<Intent, 'id'> => {
  const own = actualOf(step);
  return {
    ...sending,
    at: now,
    uptime,
    templateId: basis.view.id,
    template: basis.desired.template,
    file: basis.desired.source.file,
    action: step.difference.action,
    key: stepKey(step),
    recordId: own?.record.id ?? null,
    before: own ? dataOf(own.record) : null,
    after: resultOf(step),
    cause: step.difference.cause,
    source: 'source' in step.difference ? step.difference.source : null,
    idsBefore: own ? [] : idsOfType(basis, canonicalType(resultOf(step).type)),
  };
};

/** Includes known ids that no reading shows now, and those that the last pass saw. */
const idsOfType = ({ view, memory }: PlanBasis, type: string): number[] => {
  const shown = view.records.filter((record) => canonicalType(record.type) === type);
  const known = [...memory.view.byId.values()].filter(({ seen }) => canonicalType(seen.type) === type);
  const others = [...memory.view.preexistingIds, ...(memory.row.others ?? [])];
  return [...new Set([...[...shown, ...known].map(({ id }) => id), ...others])];
};
