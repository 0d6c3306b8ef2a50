import { inAppContext, type AppContext } from '../app/app-context.ts';
import { readOnly, refuseSeveral, resolveNames } from '../app/names.ts';
import type { Options } from '../app/options.ts';
import { passClients, reportOn } from '../app/passes.ts';
import { readPlan } from '../app/plan-file.ts';
import { canAsk, confirm, printLine, whileShown } from '../app/progress.ts';
import { refuseDryRun, rehearse } from '../app/rehearse.ts';
import { checkOut, showReport } from '../app/report-output.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseDuration } from '../model/duration.ts';
import { exitCodeOf } from '../report/assemble.ts';
import type { Report } from '../result.ts';
import type { Run } from './table.ts';

/** One pass, then exit. Shows the plan and asks on a terminal. */
export const apply: Run = async (patterns, options, io) => {
  const given = readFlags(patterns, options);
  const asks = options['yes'] !== true;
  if (asks && !canAsk(io))
    throw new UserError('apply asks before it writes, and this is not a terminal: give --yes');
  await checkOut(options, io);
  const task = async (context: AppContext): Promise<number> => {
    refuseDryRun(context);
    const templates = await whileShown(io, 'reading template files', () =>
      resolveNames(context.clients, patterns),
    );
    if (given.force || given.retry || given.acceptLoss)
      await refuseSeveral(templates, context.clients, options);
    const how = { ...given, only: await readOnly(io, options['only'], context.clients, templates) };
    const file = typeof options['plan'] === 'string' ? options['plan'] : null;
    const approved = file === null ? null : { report: await readPlan(file, io), name: `the plan in ${file}` };
    const isRehearsed = asks || approved !== null;
    const rehearsed = isRehearsed
      ? await rehearse(context, how, approved, (request) => passClients(io, context, request, templates))
      : null;
    if (rehearsed?.approve === null) {
      await showReport(rehearsed.report, options, io);
      return 1;
    }
    if (rehearsed !== null && asks && willWrite(rehearsed.report)) {
      await showReport(rehearsed.report, { format: 'text' }, io);
      if (!(await confirm(io, 'Write this to the service?'))) {
        io.stderr.write('nothing was written\n');
        return 1;
      }
    }
    const signal = stopSignal(io, context);
    const approve = rehearsed && { approve: rehearsed.approve };
    const passes = await passClients(io, context, { dryRun: false, ...how, signal, ...approve }, templates);
    const report = reportOn(passes, context);
    await showReport(report, { ...options, withoutApplied: asks }, io);
    return exitCodeOf(report, {
      detailed: options['detailedExitcode'] === true,
      isIncomplete: signal.aborted,
      named: templates,
    });
  };
  return inAppContext(options, io, task, { mayLeaveOut: true });
};

const readFlags = (templates: readonly string[], options: Options) => {
  const { force = false, retry = false, acceptLoss = false, ignoreSubdomains = false } = options;
  for (const [flag, isSet] of Object.entries({ force, retry, 'accept-loss': acceptLoss }))
    if (isSet !== false && templates.length === 0)
      throw new UserError(`--${flag} needs template names, as in apply --${flag} TEMPLATE`);
  const lockTimeout = parseDuration(String(options['lockTimeout'] ?? '60s'));
  if (lockTimeout === null) throw new UserError('--lock-timeout: expected a duration such as 60s');
  return {
    force: force === true,
    retry: retry === true,
    acceptLoss: acceptLoss === true,
    ignoreSubdomains: ignoreSubdomains === true,
    lockTimeout,
  };
};

const willWrite = ({ templates }: Report): boolean =>
  templates.some(({ differences }) =>
    differences.some(
      ({ action, outcome }) => action !== 'surplus' && action !== 'blocked' && outcome !== 'skipped',
    ),
  );

/** Aborted by a signal: reads end at once, and a write in flight is the last one. */
const stopSignal = (io: Io, { clients }: AppContext): AbortSignal => {
  const stopping = new AbortController();
  const stop = async (): Promise<void> => {
    await io.signals.untilStop();
    const isWriting = clients.some(({ service }) => service.isWriting());
    printLine(io, isWriting ? 'shutting down after the write in flight' : 'shutting down');
    stopping.abort();
    await Promise.all(clients.map(({ service }) => service.close()));
  };
  void stop();
  return stopping.signal;
};
