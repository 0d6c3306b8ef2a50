import type { Place } from '../model/record.ts';
import type { Difference, Outcome } from '../plan/difference.ts';
import type { Hold } from '../plan/guard.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { Step } from '../plan/step.ts';
import { worstOf, type Status, type SubdomainResult, type TemplateResult } from '../result.ts';
import type { Fate, Halt, TemplateWork } from './context.ts';
import { stepKey } from './write.ts';

export interface ResultInput {
  readonly client: string;
  readonly work: TemplateWork;
  /** What still differs at the end. */
  readonly plan: TemplatePlan;
  readonly hold: Hold | null;
  readonly revision: string | null;
  readonly subdomains: readonly SubdomainResult[];
  /** Why a step was not written; null where it simply was not this program's turn to write. */
  readonly heldBack: (step: Step) => string | null;
  /** Why the writes of the client ended early in this pass. */
  readonly halt: Pick<Halt, 'reason' | 'isForgetful'>;
}

/** What a pass found in a template and what it left: writes with their outcome first, then what remains. */
export const templateResult = (input: ResultInput): TemplateResult => {
  const { work, plan, hold, subdomains } = input;
  const differences = differencesAfter(input);
  const outcomes = new Set(differences.map(({ outcome }) => outcome));
  const hasSlipped = plan.steps.some((step) => work.fates.get(stepKey(step))?.outcome === 'applied');
  const remains = hasSlipped || differences.some(({ outcome }) => outcome !== 'applied');
  const { reason, isForgetful = false } = input.halt;
  const isUndone = plan.steps.length > 0 || outcomes.has('failed') || outcomes.has('unknown');
  const isCutShort = reason !== null && (isUndone || isForgetful);
  const isDoubtful = work.stopped !== null && (work.fates.size === 0 || plan.steps.length > 0);
  const hasFailed = outcomes.has('failed') || outcomes.has('unknown') || isCutShort || isDoubtful;
  const result: TemplateResult = {
    client: input.client,
    template: work.desired.template,
    id: work.present.id,
    file: work.desired.source.file,
    revision: input.revision,
    status: statusOf(hasFailed, hold, remains),
    message: messageOf(work, hold, isCutShort ? reason : null, hasSlipped),
    inSync: plan.inSync,
    parked: plan.parked,
    ignored: plan.ignored,
    differences,
    subdomains: [],
  };
  return withSubdomains(result, subdomains);
};

/** A result that says nothing of subdomains yet, with what was found of them now. */
export const withSubdomains = (
  result: TemplateResult,
  subdomains: readonly SubdomainResult[],
): TemplateResult => {
  const unread = subdomains.filter(({ status }) => status === 'failed').map(({ subdomain }) => subdomain);
  return {
    ...result,
    status: worstOf([result.status, ...subdomains.map(({ status }) => statusBySubdomain[status])]),
    message:
      [result.message, unread.length > 0 ? unreadable(unread) : null].filter(Boolean).join('; ') || null,
    subdomains,
  };
};

/** One that may still follow is no difference. */
const statusBySubdomain: Readonly<Record<SubdomainResult['status'], Status>> = {
  'in-sync': 'in-sync',
  pending: 'in-sync',
  drifted: 'drifted',
  failed: 'failed',
};

const unreadable = ([first, ...others]: readonly string[]): string =>
  `subdomain ${first}${others.length > 0 ? ` and ${others.length} more` : ''} cannot be read`;

const statusOf = (hasFailed: boolean, hold: Hold | null, remains: boolean): Status => {
  if (hasFailed) return 'failed';
  if (hold) return 'held';
  return remains ? 'drifted' : 'in-sync';
};

const messageOf = (
  work: TemplateWork,
  hold: Hold | null,
  halted: string | null,
  hasSlipped: boolean,
): string | null =>
  [hold?.reason, work.stopped, work.addsStopped, halted, hasSlipped ? slipped : null, ...work.notes]
    .filter((text) => text != null)
    .join('; ') || null;

const slipped = 'not all that was written is there as it was written';

const differencesAfter = ({ work, plan, heldBack }: ResultInput): Difference[] => {
  const fates = [...work.fates.values()];
  const unfinished = fates.filter(({ outcome }) => outcome !== 'applied').map(({ step }) => step.difference);
  const sources = new Set(unfinished.map(sourceOf));
  const parks = new Set(unfinished.map((difference) => difference.action === 'park' && difference.recordId));
  // What is in sync after all, by another record or a late answer, is not tried again.
  const open = new Set([...plan.steps.map(({ difference }) => difference), ...plan.blocked].map(sourceOf));
  const isOpen = (difference: Difference): boolean =>
    difference.action === 'park' || open.has(sourceOf(difference));
  return [
    ...fates.map(({ step: { difference }, ...fate }) =>
      withFate(difference, isOpen(difference) ? fate : { ...fate, retryAt: null }),
    ),
    ...plan.steps
      .filter((step) => !work.fates.has(stepKey(step)))
      .map((step) => waiting(step, heldBack(step))),
    // A write that failed in this pass stands in the report once, as that.
    ...plan.blocked.filter(({ source }) => !sources.has(source)),
    ...plan.surplus.filter(({ recordId }) => !parks.has(recordId)),
  ];
};

const sourceOf = (difference: Difference): Place | null =>
  'source' in difference ? difference.source : null;

const withFate = (difference: Difference, { outcome, error, retryAt }: Omit<Fate, 'step'>): Difference => ({
  ...difference,
  outcome,
  ...(error === null ? {} : { error }),
  ...(retryAt === null ? {} : { retryAt: new Date(retryAt).toISOString() }),
});

const waiting = (step: Step, reason: string | null): Difference =>
  reason === null
    ? step.difference
    : { ...step.difference, outcome: 'skipped' satisfies Outcome, error: reason };

/** A template that could not be looked at, or whose description cannot be used. */
export const unseenResult = (
  {
    client,
    template,
    id,
    file,
    revision,
  }: Pick<TemplateResult, 'client' | 'template' | 'id' | 'file' | 'revision'>,
  status: 'failed' | 'held',
  message: string,
): TemplateResult => ({
  client,
  template,
  id,
  file,
  revision,
  status,
  message,
  inSync: 0,
  parked: 0,
  ignored: 0,
  differences: [],
  subdomains: [],
});
