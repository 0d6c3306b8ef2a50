import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseDuration } from '../model/duration.ts';
import { shellWord } from '../model/shell-word.ts';
import { exitCodeOf } from '../report/exit-code.ts';
import type { Report } from '../report/report.ts';
import type { PassResult } from '../result.ts';
import { canAsk, confirm, printLine, whileShown } from '../app/progress.ts';
import { reportOn, resolveNames } from '../app/passes.ts';
import { readPlan } from '../app/plan-file.ts';
import { rehearse, type Approve, type Rehearsal } from '../app/rehearse.ts';
import { passClients } from '../app/shown-passes.ts';
import { readOnly } from '../app/only-records.ts';
import type { PassRequest } from '../app/pass-request.ts';
import { checkOut, showReport } from '../app/report-output.ts';
import { inAppContext, type AppContext } from '../app/app-context.ts';

/** One pass, then exit. Shows the plan and asks on a terminal. */
export const apply = async (patterns: readonly string[], options: Options, io: Io): Promise<number> => {
  const asked = readOptions(patterns, options, io);
  await checkOut(options, io);
  return inAppContext(
    options,
    io,
    async (context) => {
      refuseDryRun(context);
      const templates = await whileShown(io, 'reading template files', () =>
        resolveNames(context.clients, patterns),
      );
      const how = { ...asked, only: await readOnly(io, options, context.clients, templates) };
      const agreed = await agree(context, templates, how, options, io);
      if (agreed === 'declined') {
        io.stderr.write('nothing was written\n');
        return 1;
      }
      if (agreed !== undefined && typeof agreed !== 'function') {
        await showReport(reportOn(agreed, context), options, io);
        return 1;
      }
      const signal = stopSignal(io, context);
      const request = { dryRun: false, ...how, signal, ...(agreed ? { approve: agreed } : {}) };
      const passes = await passClients(io, context, request, templates);
      const report = reportOn(passes, context);
      await showReport(report, { ...options, withoutApplied: options['yes'] !== true }, io);
      const detailed = options['detailedExitcode'] === true;
      const isIncomplete = signal.aborted;
      return exitCodeOf(report, { detailed, isIncomplete, named: templates });
    },
    { mayLeaveOut: true },
  );
};

/** With `dryRun` in the settings, apply refuses rather than writes. */
const refuseDryRun = ({ clients }: AppContext): void => {
  const dry = clients.filter(({ settings }) => settings.dryRun).map(({ settings }) => settings.name);
  if (dry.length === 0) return;
  throw new UserError(
    `dryRun is set for client ${dry.join(', ')}, so apply writes nothing: unset it, or use plan`,
  );
};

interface ApplyFlags {
  readonly force: boolean;
  readonly retry: boolean;
  readonly acceptLoss: boolean;
  readonly lockTimeout: number;
  readonly ignoreSubdomains: boolean;
}

const readOptions = (templates: readonly string[], options: Options, io: Io): ApplyFlags => {
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
  if (options['yes'] !== true && !canAsk(io)) {
    throw new UserError('apply asks before it writes, and this is not a terminal: give --yes');
  }
  return {
    force: options['force'] === true,
    retry: options['retry'] === true,
    acceptLoss: options['acceptLoss'] === true,
    lockTimeout,
    ignoreSubdomains: options['ignoreSubdomains'] === true,
  };
};

/** The approved plan: undefined approves everything. Returns the passes instead if there could be no plan. */
const agree = async (
  context: AppContext,
  templates: readonly string[],
  how: ApplyFlags & Pick<PassRequest, 'only'>,
  options: Options,
  io: Io,
): Promise<Approve | undefined | 'declined' | readonly PassResult[]> => {
  const file = typeof options['plan'] === 'string' ? options['plan'] : null;
  const asks = options['yes'] !== true;
  if (file === null && !asks) return undefined;
  const approved =
    file === null
      ? null
      : {
          report: await readPlan(file, io),
          name: `the plan in ${file}`,
          again: (names: readonly string[]) => `\`apply --plan ${file} ${names.map(shellWord).join(' ')}\``,
        };
  const pass = (...request: Parameters<Rehearsal['pass']>): Promise<PassResult[]> =>
    passClients(io, ...request);
  const rehearsed = await rehearse(context, { templates, how, approved, pass });
  if (!('approve' in rehearsed)) return rehearsed;
  if (asks && willWrite(rehearsed.report)) {
    await showReport(rehearsed.report, { format: 'text' }, io);
    if (!(await confirm(io, 'Write this to the service?'))) return 'declined';
  }
  return rehearsed.approve;
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
    const isWriting = clients.some(({ service }) => service.isWriting);
    printLine(io, isWriting ? 'shutting down after the write in flight' : 'shutting down');
    stopping.abort();
    await Promise.all(clients.map(({ service }) => service.close()));
  };
  void stop();
  return stopping.signal;
};
