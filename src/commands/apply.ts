import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import { parseDuration } from '../model/duration.ts';
import { shellWord } from '../model/shell-word.ts';
import { exitCodeOf } from '../report/exit-code.ts';
import type { Report } from '../report/report.ts';
import type { PassResult } from '../result.ts';
import { confirm } from '../app/confirm.ts';
import { passClients, reportOn, resolveNames } from '../app/passes.ts';
import { printLine } from '../app/progress.ts';
import { planChanges, PlanChangedError, readPlan } from '../app/plan-file.ts';
import { checkOut, showReport } from '../app/report-output.ts';
import { openAppContext, type AppContext } from '../app/app-context.ts';
import { untilSignal } from '../app/signals.ts';

/** One pass, then exit. Shows the plan and asks on a terminal. */
export const apply = async (patterns: readonly string[], options: Options): Promise<number> => {
  const how = readOptions(patterns, options);
  await checkOut(options);
  const context = await openAppContext(options, 2, { mayLeaveOut: true });
  try {
    refuseDryRun(context);
    const templates = await resolveNames(context.clients, patterns);
    const agreed = await agree(context, templates, how, options);
    if (agreed === 'declined') {
      process.stderr.write('nothing was written\n');
      return 1;
    }
    if (Array.isArray(agreed)) {
      await showReport(reportOn(agreed, context), options);
      return 1;
    }
    const signal = stopSignal();
    const request = { dryRun: false, ...how, signal, ...(agreed ? { approve: agreed } : {}) };
    const passes = await passClients(context, request, templates, options);
    const report = reportOn(passes, context);
    await showReport(report, { ...options, withoutApplied: options['yes'] !== true });
    const detailed = options['detailedExitcode'] === true;
    const isIncomplete = signal.aborted || passes.some((pass) => pass.isIncomplete === true);
    return exitCodeOf(report, { detailed, isIncomplete });
  } finally {
    await context.close();
  }
};

/** With `dryRun` in the settings, apply refuses rather than writes. */
const refuseDryRun = ({ clients }: AppContext): void => {
  const dry = clients.filter(({ settings }) => settings.dryRun).map(({ settings }) => settings.name);
  if (dry.length === 0) return;
  throw new UserError(
    `dryRun is set for client ${dry.join(', ')}, so apply writes nothing: unset it, or use plan`,
  );
};

interface ApplyOptions {
  readonly force: boolean;
  readonly retry: boolean;
  readonly acceptLoss: boolean;
  readonly lockTimeout: number;
}

const readOptions = (templates: readonly string[], options: Options): ApplyOptions => {
  for (const [key, flag] of [
    ['force', '--force'],
    ['retry', '--retry'],
    ['acceptLoss', '--accept-loss'],
  ] as const) {
    if (options[key] === true && templates.length === 0) {
      throw new UserError(`${flag} needs template names, as in apply ${flag} TEMPLATE`);
    }
  }
  const lockTimeout = parseDuration(String(options['lockTimeout'] ?? '60s'));
  if (lockTimeout === null) throw new UserError('--lock-timeout: expected a duration such as 60s');
  if (options['yes'] !== true && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw new UserError('apply asks before it writes, and this is not a terminal: give --yes');
  }
  return {
    force: options['force'] === true,
    retry: options['retry'] === true,
    acceptLoss: options['acceptLoss'] === true,
    lockTimeout,
  };
};

type Approve = (planned: Report['templates']) => void;

/** The approved plan: undefined approves everything. Returns the passes instead if there could be no plan. */
const agree = async (
  context: AppContext,
  templates: readonly string[],
  how: ApplyOptions,
  options: Options,
): Promise<Approve | undefined | 'declined' | PassResult[]> => {
  const file = typeof options['plan'] === 'string' ? options['plan'] : null;
  const asks = options['yes'] !== true;
  if (file === null && !asks) return undefined;
  const plan = file === null ? null : await readPlan(file);
  if (plan && file && templates.length === 0) await refusePart(plan.templates, file, context);
  const which = plan ? `the one in ${file}` : 'the one that was shown';
  const rehearsal = { ...how, dryRun: false, isRehearsal: true };
  const passes = await passClients(context, rehearsal, templates, options);
  if (passes.some(({ isNotStarted }) => isNotStarted)) return passes;
  const now = reportOn(passes, context);
  const lifted = how.force || how.retry || how.acceptLoss;
  if (plan) refuseUnlessSame(plan.templates, now.templates, which, lifted);
  if (asks && willWrite(now)) {
    await showReport(now, { format: 'text' });
    if (!(await confirm('Write this to the service?'))) return 'declined';
  }
  return (found) => {
    const planned = context.redact(found);
    const clients = new Set(planned.map(({ client }) => client));
    const own = now.templates.filter(({ client }) => clients.has(client));
    refuseUnlessSame(own, planned, which, false);
  };
};

/** A plan for some templates approves only these, so they have to be named again. */
const refusePart = async (
  plan: Report['templates'],
  file: string,
  { clients }: AppContext,
): Promise<void> => {
  const planned = new Set(plan.map(({ template }) => template));
  const states = await Promise.all(clients.map((client) => client.load()));
  const others = states.flatMap((state) => state.templates.filter(({ template }) => !planned.has(template)));
  if (others.length === 0 || planned.size === 0) return;
  const names = [...planned].map(shellWord).join(' ');
  throw new UserError(
    `the plan in ${file} is not about ${others[0]!.template}${others.length === 1 ? '' : ` and ${others.length - 1} more`}: name its templates again, as in \`apply --plan ${file} ${names}\`, or plan anew`,
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

const willWrite = ({ templates }: Report): boolean =>
  templates.some(({ differences }) =>
    differences.some(
      ({ action, outcome }) => action !== 'surplus' && action !== 'blocked' && outcome !== 'skipped',
    ),
  );

/** Aborted by a signal: the write in flight is the last one. */
const stopSignal = (): AbortSignal => {
  const stopping = new AbortController();
  const stop = async (): Promise<void> => {
    await untilSignal();
    printLine('shutting down after the write in flight');
    stopping.abort();
  };
  void stop();
  return stopping.signal;
};
