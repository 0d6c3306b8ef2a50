import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import { parseDuration } from '../model/duration.ts';
import { shellWord } from '../model/shell-word.ts';
import { exitCodeOf } from '../report/exit-code.ts';
import type { Report } from '../report/report.ts';
import type { PassResult } from '../result.ts';
import { confirm, printLine, whileShown } from '../app/progress.ts';
import { reportOn, resolveNames } from '../app/passes.ts';
import { readPlan } from '../app/plan-file.ts';
import { rehearse, type Approve } from '../app/rehearse.ts';
import { passClients } from '../app/shown-passes.ts';
import { readOnly } from '../app/only-records.ts';
import type { PassRequest } from '../app/pass-request.ts';
import { checkOut, showReport } from '../app/report-output.ts';
import { inAppContext, type AppContext } from '../app/app-context.ts';
import { untilSignal } from '../app/signals.ts';

/** One pass, then exit. Shows the plan and asks on a terminal. */
export const apply = async (patterns: readonly string[], options: Options): Promise<number> => {
  const asked = readOptions(patterns, options);
  await checkOut(options);
  return inAppContext(
    options,
    async (context) => {
      refuseDryRun(context);
      const templates = await whileShown('reading template files', () =>
        resolveNames(context.clients, patterns),
      );
      const how = { ...asked, only: await readOnly(options, context.clients, templates) };
      const agreed = await agree(context, templates, how, options);
      if (agreed === 'declined') {
        process.stderr.write('nothing was written\n');
        return 1;
      }
      if (agreed !== undefined && typeof agreed !== 'function') {
        await showReport(reportOn(agreed, context), options);
        return 1;
      }
      const signal = stopSignal();
      const request = { dryRun: false, ...how, signal, ...(agreed ? { approve: agreed } : {}) };
      const passes = await passClients(context, request, templates);
      const report = reportOn(passes, context);
      await showReport(report, { ...options, withoutApplied: options['yes'] !== true });
      const detailed = options['detailedExitcode'] === true;
      const isIncomplete = signal.aborted || passes.some((pass) => pass.isIncomplete === true);
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

const readOptions = (templates: readonly string[], options: Options): ApplyFlags => {
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
    ignoreSubdomains: options['ignoreSubdomains'] === true,
  };
};

/** The approved plan: undefined approves everything. Returns the passes instead if there could be no plan. */
const agree = async (
  context: AppContext,
  templates: readonly string[],
  how: ApplyFlags & Pick<PassRequest, 'only'>,
  options: Options,
): Promise<Approve | undefined | 'declined' | readonly PassResult[]> => {
  const file = typeof options['plan'] === 'string' ? options['plan'] : null;
  const asks = options['yes'] !== true;
  if (file === null && !asks) return undefined;
  const approved =
    file === null
      ? null
      : {
          report: await readPlan(file),
          name: `the plan in ${file}`,
          again: (names: readonly string[]) => `\`apply --plan ${file} ${names.map(shellWord).join(' ')}\``,
        };
  const rehearsed = await rehearse(context, { templates, how, approved, pass: passClients });
  if (!('approve' in rehearsed)) return rehearsed;
  if (asks && willWrite(rehearsed.report)) {
    await showReport(rehearsed.report, { format: 'text' });
    if (!(await confirm('Write this to the service?'))) return 'declined';
  }
  return rehearsed.approve;
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
