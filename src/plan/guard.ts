import { shellWord } from '../model/shell-word.ts';
import { isDescribable } from '../model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../model/template.ts';
import { entryOf, setKey } from './entry.ts';
import type { GuardCause, Hold } from './hold.ts';
import type { PlanMemory } from './memory.ts';
import type { TemplatePlan } from './plan.ts';
import { isUpdate, actualOf, type Step } from './step.ts';

export interface GuardInput {
  readonly desired: DesiredTemplate;
  readonly actual: ActualTemplate;
  readonly memory: PlanMemory;
  readonly plan: TemplatePlan;
  /** Whether what the reading lacks is believed to be missing. */
  readonly isWhole: boolean;
  /** Ids that answers have shown, and no listing. */
  readonly unlistedIds: readonly number[];
  /** Whether no earlier write may still appear. */
  readonly isSettled: boolean;
  readonly force: boolean;
  readonly retry: boolean;
}

/** The first guard that applies, the widest first; null if the plan may be written. */
export const guardTemplate = (input: GuardInput): Hold | null => {
  for (const guard of [firstContact, tooManyChanges, lostRecords, tooManyAdds, notListed]) {
    const hold = guard(input);
    if (hold) return hold;
  }
  return null;
};

/** Known ids that the service no longer shows, in ascending order. */
export const lostIds = ({ actual, memory }: Pick<GuardInput, 'actual' | 'memory'>): number[] => {
  if (memory.byId.size === 0) return [];
  const ids = new Set(actual.records.map((record) => record.id));
  return [...memory.byId.keys()].filter((id) => !ids.has(id)).sort((a, b) => a - b);
};

/**
 * The missing ids, if they are suspiciously many; else null. `isWhole`: whether the reading is believed all the same, since an
 * earlier pass found the same ones to be lost (`suspectIds`).
 */
export const lossIn = (
  input: Pick<GuardInput, 'desired' | 'actual' | 'memory'>,
  suspectIds: readonly number[] | null,
): { readonly lost: readonly number[] | null; readonly isWhole: boolean } => {
  const ids = lostIds(input);
  const { size } = input.memory.byId;
  if (ids.length < 2 || ids.length * 100 <= size * input.desired.limits.maxChangePercent)
    return { lost: null, isWhole: true };
  // A record that was lost and added again has another id now.
  const before = suspectIds?.filter((id) => input.memory.byId.has(id));
  return { lost: ids, isWhole: before?.join() === ids.join() };
};

const guardHold = (cause: GuardCause, reason: string, scope: Hold['scope'] = 'template'): Hold => ({
  scope,
  cause,
  reason,
  retryAt: null,
});

export const countAdds = ({ steps }: TemplatePlan): number =>
  steps.filter((step) => step.difference.action === 'add').length;

/** A record that was parked to make way may never have been one of the file. */
const knowsDesired = ({ byId }: PlanMemory): boolean =>
  [...byId.values()].some(({ displaced }) => displaced === null || displaced.cause === 'edited');

/** First contact lasts until a desired record was found or written; a pass that was held does not end it. */
const firstContact = ({ desired, actual, memory, plan, force, retry }: GuardInput): Hold | null => {
  if (desired.adopt || retry || knowsDesired(memory)) return null;
  if (plan.suspectIds.size > 0)
    return guardHold(
      'first-contact',
      `first contact: ${describeIds([...plan.suspectIds])} may be of the file in another spelling, and so may others: ` +
        `accept or import the template, or run ${applying('--retry', desired)}`,
    );
  if (force || countAdds(plan) === 0) return null;
  const sets = new Set(actual.records.map((record) => setKey(entryOf(record))));
  if (sets.size === 0 || desired.records.some((record) => sets.has(setKey(entryOf(record))))) return null;
  return guardHold(
    'first-contact',
    'first contact: no record of the file has the type and name of a record at the service: ' +
      `check how the service spells names, then import, set adopt: true, or run ${applying('--force', desired)}`,
  );
};

/**
 * A listing that lacks what answers show is not whole: what it lacks may be there. The other steps do not need it. While
 * listings may be behind, nobody is told to retry: that would add the record a second time.
 */
const notListed = ({ desired, plan, unlistedIds, isSettled }: GuardInput): Hold | null =>
  countAdds(plan) === 0 || unlistedIds.length === 0
    ? null
    : guardHold(
        'not-listed',
        `the listing does not show what its answers show (${describeIds(unlistedIds)}): adds wait until it does` +
          (isSettled ? `; check what the service lists, then run ${applying('--retry', desired)}` : ''),
        'adds',
      );

const describeIds = (ids: readonly number[]): string =>
  `${ids.length === 1 ? 'record' : 'records'} ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}`;

const tooManyChanges = (input: GuardInput): Hold | null => {
  const { desired, actual, memory, plan, force } = input;
  if (force) return null;
  const known = actual.records.filter(isDescribable).length;
  const isCounted = (step: Step): boolean => known >= desired.limits.minRecords || isForeign(step, memory);
  const changed = new Set(plan.steps.filter(isCounted).flatMap((step) => actualOf(step)?.record.id ?? []));
  const { maxChangePercent } = desired.limits;
  if (changed.size * 100 <= known * maxChangePercent) return null;
  return guardHold(
    'changes',
    `${changed.size} of ${known} records would change, more than limits.maxChangePercent (${maxChangePercent} %): raise it, or run ${applying('--force', desired)}`,
  );
};

/** Whether a step reuses or parks a record that the file never listed. */
const isForeign = (step: Step, memory: PlanMemory): boolean => {
  const actual = actualOf(step);
  if (actual === null || memory.byId.has(actual.record.id)) return false;
  return !isUpdate(step) || step.difference.fields.includes('name');
};

const lostRecords = (input: GuardInput): Hold | null => {
  const { memory, plan, isWhole } = input;
  if (isWhole || plan.steps.length === 0) return null;
  return guardHold(
    'loss',
    `${lostIds(input).length} of ${memory.byId.size} known records are missing at the service: nothing is written until a second pass sees the same, or run ${applying('--accept-loss', input.desired)}`,
  );
};

const tooManyAdds = ({ desired, plan, force }: GuardInput): Hold | null => {
  const adds = countAdds(plan);
  if (force || adds <= desired.limits.maxAdds) return null;
  return guardHold(
    'adds',
    `${adds} records to add, more than limits.maxAdds (${desired.limits.maxAdds}): raise it, or run ${applying('--force', desired)}`,
  );
};

/** The command that lifts a guard. */
export const applying = (
  flag: '--force' | '--accept-loss' | '--retry',
  { template }: Pick<DesiredTemplate, 'template'>,
): string => `\`dns-template-sync apply ${flag} ${shellWord(template)}\``;
