import type { Place } from '../model/record.ts';
import { suspensionOf, suspensionText, type Suspension } from '../model/suspension.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { writeIdOf } from '../state/memory.ts';
import type { Difference, Outcome } from '../plan/difference.ts';
import { isPolicy, type Hold } from '../plan/hold.ts';
import { stepKey, type Step } from '../plan/step.ts';
import { worstOf, type Status, type SubdomainResult, type TemplateResult } from '../result.ts';
import { describeHold, reportedHold } from './client-holds.ts';
import { firstPolicy, unsettledText, waitsToSettle, type Skip, type SkipReason } from './permit.ts';
import type { Ports, Request } from './ports.ts';
import { isStopped, planOf, type Attempt, type TemplateState } from './state.ts';
import { isoOf } from './times.ts';

/**
 * The result of a template without its subdomains: writes with their outcome first, then what still differs. `clientHolds`: why
 * the client's writes ended early in this pass.
 */
export const templateResult = (
  state: TemplateState,
  skipReason: SkipReason,
  { client, revisionOf }: Pick<Ports & Request, 'client' | 'revisionOf'>,
  clientHolds: readonly Hold[] = [],
): TemplateResult => {
  const { desired, view } = state;
  const plan = planOf(state);
  const differences = differencesAfter(state, skipReason, clientHolds);
  const outcomes = new Set(differences.map(({ outcome }) => outcome));
  const wasUndone = plan.steps.some((step) => state.attempts.get(stepKey(step))?.outcome === 'applied');
  const remains = wasUndone || differences.some(({ outcome }) => outcome !== 'applied');
  const isUndone = plan.steps.length > 0 || outcomes.has('failed') || outcomes.has('unknown');
  const isUnsaved = clientHolds.some(({ cause }) => cause === 'unsaved');
  const cutShort = isUndone || isUnsaved ? reportedHold(clientHolds) : null;
  const isDoubtful =
    state.isUnproven || (isStopped(state) && (state.attempts.size === 0 || plan.steps.length > 0));
  const hasFailed = outcomes.has('failed') || outcomes.has('unknown') || cutShort !== null || isDoubtful;
  return {
    client,
    template: desired.template,
    id: view.id,
    file: desired.source.file,
    revision: revisionOf(desired.source.file),
    status: statusOf(hasFailed, state, remains),
    message: messageOf(state, cutShort, wasUndone),
    ...suspendedBy(state.suspension),
    ...retryOf(state),
    inSync: plan.inSync,
    parked: plan.parked,
    ignored: plan.ignored,
    differences,
    subdomains: [],
  };
};

/** Adds the subdomains to a result without them. */
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

/** A pending subdomain is not a difference. */
const statusBySubdomain: Readonly<Record<SubdomainResult['status'], Status>> = {
  'in-sync': 'in-sync',
  pending: 'in-sync',
  drifted: 'drifted',
  failed: 'failed',
};

const unreadable = ([first, ...others]: readonly string[]): string =>
  `subdomain ${first}${others.length > 0 ? ` and ${others.length} more` : ''} cannot be read`;

const statusOf = (hasFailed: boolean, state: TemplateState, remains: boolean): Status => {
  if (hasFailed) return 'failed';
  if (state.suspension !== null) return 'suspended';
  if (state.holds.some(isPolicy) || waitsToSettle(state)) return 'held';
  return remains ? 'drifted' : 'in-sync';
};

/** Suspensions and guards first, then what has not settled, what stopped the template, and the client. */
const messageOf = (state: TemplateState, cutShort: Hold | null, wasUndone: boolean): string | null => {
  const { holds, notes, open } = state;
  const reasons = [
    firstPolicy(holds)?.reason,
    waitsToSettle(state) ? unsettledText(open) : undefined,
    holds.find((hold) => !isPolicy(hold) && hold.scope === 'template')?.reason,
    cutShort ? describeHold(cutShort) : undefined,
    state.isUnproven ? unproven : undefined,
    wasUndone ? undone : undefined,
    ...notes,
  ];
  return reasons.filter((text) => text !== undefined).join('; ') || null;
};

/** Who suspends it. */
const suspendedBy = (suspension: Suspension | null): Pick<TemplateResult, 'suspension'> => {
  if (suspension === null) return {};
  const { by, reason, since, until } = suspension;
  return {
    suspension: { by, reason, since: isoOf(since), until: until === null ? null : isoOf(until) },
  };
};

/** The same where the service cannot be read, and that this is its status apart from that. Only its file names it then. */
export const suspendedUnread = (
  { template, id }: DesiredTemplate,
  suspensions: readonly Suspension[],
): Pick<TemplateResult, 'suspension' | 'was'> => {
  const suspension = suspensionOf(suspensions, { templateId: id ?? NaN, names: [template] });
  if (suspension === null) return {};
  return { ...suspendedBy(suspension), was: { status: 'suspended', message: suspensionText(suspension) } };
};

/** Until when earlier writes may not have settled, and when another pass may find that they have. */
const retryOf = (state: TemplateState): Pick<TemplateResult, 'retryAt' | 'settlesAt'> => {
  if (!waitsToSettle(state)) return {};
  const { open, circumstances } = state;
  const until = Math.max(...open.map((one) => one.until));
  const isBehind = open.every((one) => one.isBehind);
  const settlesAt = isBehind ? Math.min(until, circumstances.began.now + betweenListings) : until;
  return { retryAt: isoOf(until), settlesAt: isoOf(settlesAt) };
};

/** Milliseconds after which a listing that was behind may not be any more. */
const betweenListings = 30_000;

const unproven = 'an answer lacked records, and no listing has shown the template since';

const undone = 'some records are no longer as this pass wrote them';

const differencesAfter = (
  state: TemplateState,
  skipReason: SkipReason,
  clientHolds: readonly Hold[],
): Difference[] => {
  const plan = planOf(state);
  const attempts = [...state.attempts.values()];
  const unfinished = attempts.filter((one) => one.outcome !== 'applied').map(({ step }) => step.difference);
  const sources = new Set(unfinished.map(sourceOf));
  const parks = new Set(unfinished.map((difference) => difference.action === 'park' && difference.recordId));
  // A record that is in sync by now, through another record or a late answer, is not retried.
  const open = new Set([...plan.steps.map(({ difference }) => difference), ...plan.blocked].map(sourceOf));
  const isOpen = (difference: Difference): boolean =>
    difference.action === 'park' || open.has(sourceOf(difference));
  const waitsUntil = reportedHold(clientHolds)?.retryAt ?? null;
  const retryAt = (attempt: Attempt): number | null =>
    isOpen(attempt.step.difference) ? (retryAtOf(attempt, state) ?? waitsUntil) : null;
  return [
    ...attempts.map((attempt) => afterAttempt(attempt, retryAt(attempt))),
    ...plan.steps
      .filter((step) => !state.attempts.has(stepKey(step)))
      .map((step) => afterSkip(step, skipReason(step), firstPolicy(state.holds)?.retryAt ?? null)),
    // A write that failed in this pass is in the report only once.
    ...plan.blocked.filter(({ source }) => !sources.has(source)),
    ...plan.surplus.filter(({ recordId }) => !parks.has(recordId)),
  ];
};

const sourceOf = (difference: Difference): Place | null =>
  'source' in difference ? difference.source : null;

const afterAttempt = ({ step, entry, error, outcome }: Attempt, retryAt: number | null): Difference => {
  return {
    ...step.difference,
    write: writeIdOf(entry),
    outcome,
    ...(error === null ? {} : { error }),
    ...(retryAt === null || outcome !== 'failed' ? {} : { retryAt: isoOf(retryAt) }),
  };
};

/** When a refused write is sent again, in ms since the epoch. */
const retryAtOf = ({ entry }: Attempt, { memory: { records, byId } }: TemplateState): number | null => {
  const known = records.get(entry.key) ?? (entry.recordId === null ? undefined : byId.get(entry.recordId));
  const failure = known?.failure;
  return failure && failure.pause > 0 ? failure.since.now + failure.pause : null;
};

/** `waitsUntil`: of what holds the template. */
const afterSkip = ({ difference }: Step, skip: Skip | null, waitsUntil: number | null): Difference =>
  skip === null
    ? difference
    : {
        ...difference,
        outcome: 'skipped' satisfies Outcome,
        skippedBy: skip.cause,
        error: skip.text,
        ...(waitsUntil === null ? {} : { retryAt: isoOf(waitsUntil) }),
      };
