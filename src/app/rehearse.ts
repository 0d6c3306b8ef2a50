import { ArgumentError } from '../errors.ts';
import type { PassResult, Report } from '../result.ts';
import { SettingsError } from '../settings/problems.ts';
import type { AppContext } from './app-context.ts';
import type { PassRequest } from './client.ts';
import { reportOn, type PassesRequest } from './passes.ts';
import { planChanges, PlanChangedError, serviceOf } from './plan-file.ts';

/** With `dryRun` in the settings, apply refuses rather than writes. */
export const refuseDryRun = ({ clients }: Pick<AppContext, 'clients'>): void => {
  const dry = clients.filter(({ settings }) => settings.dryRun).map(({ settings }) => settings.name);
  if (dry.length > 0)
    throw new SettingsError([
      `dryRun is set for client ${dry.join(', ')}, so apply writes nothing: unset it, or use plan`,
    ]);
};

/** A plan that was made before. `name`: where it is from, as in `the plan in plan.json`. */
export interface ApprovedPlan {
  readonly report: Report;
  readonly name: string;
}

/**
 * Plans as a pass would that may write; without an approved plan, this is the one. `approve` is for that pass, and refuses
 * any other plan; null: it could not even start. Throws a UserError if an approved plan is no longer this one.
 */
export const rehearse = async (
  context: AppContext,
  how: Omit<PassesRequest, 'dryRun'>,
  approved: ApprovedPlan | null,
  pass: (how: PassesRequest) => Promise<PassResult[]>,
): Promise<{ readonly report: Report; readonly approve: NonNullable<PassRequest['approve']> | null }> => {
  // Another one may have templates and records of the same ids.
  if (approved && approved.report.service !== serviceOf(context.clients))
    throw new ArgumentError(
      `${approved.name} is of another service, or of other clients: nothing was written; use the settings and --client that it was made with, or plan anew`,
    );
  const which = approved ? approved.name.replace(/^the plan/, 'the one') : 'the one that was shown';
  const passes = await pass({ ...how, dryRun: false, isRehearsal: true });
  const report = reportOn(passes, context);
  if (passes.some(({ isNotStarted }) => isNotStarted)) return { report, approve: null };
  const refuseUnlessSame = (then: Report['templates'], now: Report['templates'], lifted: boolean): void => {
    const changes = planChanges(then, now, lifted);
    if (changes.length > 0) throw new PlanChangedError(which, changes);
  };
  const isLifted = how.force === true || how.retry === true || how.acceptLoss === true;
  if (approved) refuseUnlessSame(approved.report.templates, report.templates, isLifted);
  const approve = (found: Report['templates']): void => {
    const planned = context.redact(found);
    const clients = new Set(planned.map(({ client }) => client));
    const own = report.templates.filter(({ client }) => clients.has(client));
    refuseUnlessSame(own, planned, false);
  };
  return { report, approve };
};
