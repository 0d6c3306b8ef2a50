import { ArgumentError } from '../errors.ts';
import type { PassResult } from '../result.ts';
import type { Report } from '../report/report.ts';
import type { AppContext } from './app-context.ts';
import type { PassRequest } from './pass-request.ts';
import { reportOn } from './passes.ts';
import { planChanges, PlanChangedError, serviceOf } from './plan-file.ts';

/** Throws if what a pass is about to write is not what was approved. */
export type Approve = (planned: Report['templates']) => void;

export interface Rehearsal {
  readonly templates: readonly string[];
  readonly how: Required<Pick<PassRequest, 'force' | 'retry' | 'acceptLoss'>> &
    Pick<PassRequest, 'lockTimeout'> &
    Partial<PassRequest>;
  /** A plan that was made before; null: the rehearsal is the plan. */
  readonly approved: ApprovedPlan | null;
  readonly pass: (
    context: AppContext,
    how: Pick<PassRequest, 'dryRun' | 'lockTimeout'> & Partial<PassRequest>,
    templates: readonly string[],
  ) => Promise<PassResult[]>;
}

export interface ApprovedPlan {
  readonly report: Report;
  /** Where it is from, as in `the plan in plan.json`. */
  readonly name: string;
  /** How its templates are named again. */
  readonly again: (templates: readonly string[]) => string;
}

/**
 * Plans as a pass would that may write. Returns that plan and what approves only it; or the passes, if they could
 * not start. Throws a UserError if an approved plan is no longer this one.
 */
export const rehearse = async (
  context: AppContext,
  { templates, how, approved, pass }: Rehearsal,
): Promise<readonly PassResult[] | { readonly report: Report; readonly approve: Approve }> => {
  if (approved) refuseOtherService(approved, context);
  if (approved && templates.length === 0) await refusePart(approved, context);
  const which = approved ? approved.name.replace(/^the plan/, 'the one') : 'the one that was shown';
  const passes = await pass(context, { ...how, dryRun: false, isRehearsal: true }, templates);
  if (passes.some(({ isNotStarted }) => isNotStarted)) return passes;
  const report = reportOn(passes, context);
  const lifted = how.force || how.retry || how.acceptLoss;
  if (approved) refuseUnlessSame(approved.report.templates, report.templates, which, lifted);
  const approve: Approve = (found) => {
    const planned = context.redact(found);
    const clients = new Set(planned.map(({ client }) => client));
    const own = report.templates.filter(({ client }) => clients.has(client));
    refuseUnlessSame(own, planned, which, false);
  };
  return { report, approve };
};

/** Another one may have templates and records of the same ids. If clients are missing, so are their templates, which says more. */
const refuseOtherService = (
  { report, name }: ApprovedPlan,
  { clients }: Pick<AppContext, 'clients'>,
): void => {
  const names = new Set(clients.map(({ settings }) => settings.name));
  const isOfFewer = report.templates.some(({ client }) => !names.has(client));
  if (isOfFewer || report.service === serviceOf(clients)) return;
  throw new ArgumentError(
    `${name} is of another service, or of fewer clients: nothing was written; use the settings and --client that it was made with, or plan anew`,
  );
};

/** A plan for some templates approves only these, so they have to be named again. */
const refusePart = async (
  { report, name, again }: ApprovedPlan,
  { clients }: Pick<AppContext, 'clients'>,
): Promise<void> => {
  const planned = new Set(report.templates.map(({ template }) => template));
  const states = await Promise.all(clients.map((client) => client.load()));
  const others = states.flatMap((state) => state.templates.filter(({ template }) => !planned.has(template)));
  if (others.length === 0 || planned.size === 0) return;
  throw new ArgumentError(
    `${name} is not about ${others[0]!.template}${others.length === 1 ? '' : ` and ${others.length - 1} more`}: name its templates again, as in ${again([...planned])}, or plan anew`,
  );
};

const refuseUnlessSame = (
  plan: Report['templates'],
  now: Report['templates'],
  which: string,
  lifted: boolean,
): void => {
  const changes = planChanges(plan, now, lifted);
  if (changes.length > 0) throw new PlanChangedError(which, changes);
};
