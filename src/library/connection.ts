import path from 'node:path';
import { openContext, type AppContext } from '../app/app-context.ts';
import { resolveNames } from '../app/names.ts';
import { addAnswers, reportOn, runPasses } from '../app/passes.ts';
import { planOf, PlanChangedError } from '../app/plan-file.ts';
import { refuseDryRun, rehearse } from '../app/rehearse.ts';
import { validateClients } from '../app/template-files.ts';
import { ArgumentError, UserError } from '../errors.ts';
import { createLogger } from '../log.ts';
import { parseDuration } from '../model/duration.ts';
import { processIo } from '../process-io.ts';
import { exitCodeOf } from '../report/assemble.ts';
import { readSettings } from '../settings.ts';
import { SettingsError } from '../settings/problems.ts';
import type {
  ApplyOptions,
  Connection,
  ConnectOptions,
  Failed,
  PlanOptions,
  Settings,
  SyncError,
  SyncEvent,
  ValidateOptions,
} from './types.ts';

/** What `connect` gives, once it is used. */
export const openConnection = (
  settings: Settings,
  connecting: ConnectOptions,
): Omit<Connection, typeof Symbol.asyncDispose> => {
  const { sandbox, strict = false, allowEmpty = false, onEvent, ...options } = connecting;
  const { clock, env, cwd } = processIo(false);
  const folder = path.resolve(cwd, options.cwd ?? '');
  let context: AppContext | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  /** Apart from the pass: an error in it is none of the pass. */
  const tell = (event: SyncEvent): void => queueMicrotask(() => onEvent?.(event));

  const read = (needsService: boolean) =>
    readSettings({ flags: { sandbox }, object: settings, folder, needsService, mayLeaveOut: true, env, cwd });

  const open = async (): Promise<AppContext> =>
    (context ??= await openContext({
      clock,
      read: () => read(true),
      isDaemon: false,
      strict,
      allowEmpty,
      reset: false,
      outlet: (_, secrets) => ({
        log: createLogger({ level: 'silent', out: { write: () => true }, secrets, now: clock.now }),
        warn: (message, client) => tell({ event: 'notice', client, message }),
      }),
    }));

  /** Passes of one client must not overlap. */
  const inTurn = async <T>(task: () => Promise<T>, signal: AbortSignal): Promise<T | Failed> => {
    if (isClosed) return failed('closed', 'the connection is closed');
    if (signal.aborted) return aborted;
    const turn = last.then(async () => {
      if (signal.aborted) return aborted;
      return task().catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
        return failed(kindOf(error), context?.redact(error.message) ?? error.message);
      });
    });
    last = turn.catch(() => undefined);
    return turn;
  };

  /** What only reads is left behind when it is aborted. */
  const untilAborted = async <T>(task: () => Promise<T>, signal: AbortSignal): Promise<T | Failed> => {
    let leave = (): void => undefined;
    const left = new Promise<Failed>((resolve) => (leave = () => resolve(aborted)));
    signal.addEventListener('abort', leave);
    return Promise.race([inTurn(task, signal), left]).finally(() =>
      signal.removeEventListener('abort', leave),
    );
  };

  /** A call that is not made if an option of it, or of the connection, cannot be meant. */
  const refusing =
    <Given, Result>(known: readonly OptionName[], make: (given?: Given) => Promise<Result | Failed>) =>
    async (given?: Given): Promise<Result | Failed> => {
      const mistake = mistakeIn(connecting, ofConnection) ?? mistakeIn(given ?? {}, known);
      return mistake === null ? make(given) : failed('arguments', mistake);
    };

  return {
    validate: refusing(['files', 'signal'], ({ files = [], signal = never() }: ValidateOptions = {}) =>
      untilAborted(async () => {
        const paths = files.map((file) => path.resolve(folder, file));
        const { problems, states } = await validateClients(read(false), paths, { strict, allowEmpty, cwd });
        return { ok: true, problems, files: states.reduce((sum, state) => sum + state.files, 0) };
      }, signal),
    ),
    plan: refusing(
      ['templates', 'ignoreSubdomains', 'answers', 'signal'],
      ({ templates = [], ignoreSubdomains = false, answers = false, signal = never() }: PlanOptions = {}) =>
        untilAborted(async () => {
          if (answers && ignoreSubdomains)
            throw new ArgumentError('answers is about subdomains: leave out ignoreSubdomains');
          const opened = await open();
          const names = await resolveNames(opened.clients, templates);
          const how = { dryRun: true, lockTimeout: 0, ignoreSubdomains, signal };
          const passes = await runPasses(opened, how, names, tell);
          const found = answers ? await addAnswers(opened.clients, passes, names, signal) : passes;
          return { ok: true, report: reportOn(found, opened) };
        }, signal),
    ),
    apply: refusing(
      ofApply,
      ({
        templates = [],
        plan,
        lockTimeout: patience = '60s',
        signal = never(),
        ...rest
      }: ApplyOptions = {}) =>
        inTurn(async () => {
          const { force = false, retry = false, acceptLoss = false, ignoreSubdomains = false } = rest;
          const lockTimeout = parseDuration(patience);
          if (lockTimeout === null) throw new ArgumentError('lockTimeout: expected a duration such as 60s');
          for (const [key, isSet] of Object.entries({ force, retry, acceptLoss }))
            if (isSet && templates.length === 0)
              throw new ArgumentError(`${key} needs the names of templates`);
          const report = plan === undefined ? null : await planOf(plan);
          if (plan !== undefined && report === null)
            throw new ArgumentError('plan: this is not a report of plan');
          const opened = await open();
          refuseDryRun(opened);
          const names = await resolveNames(opened.clients, templates);
          const how = { force, retry, acceptLoss, ignoreSubdomains, signal, lockTimeout };
          const approved = report && { report, name: 'the plan that was given' };
          const rehearsed =
            approved &&
            (await rehearse(opened, how, approved, (request) => runPasses(opened, request, names, tell)));
          if (signal.aborted) return aborted;
          if (rehearsed?.approve === null) return { ok: true, report: rehearsed.report, isComplete: false };
          const approve = rehearsed && { approve: rehearsed.approve };
          const passes = await runPasses(opened, { ...how, ...approve, dryRun: false }, names, tell);
          const made = reportOn(passes, opened);
          const exitCode = exitCodeOf(made, { detailed: false, isIncomplete: signal.aborted });
          return { ok: true, report: made, isComplete: exitCode === 0 };
        }, signal),
    ),
    close: async () => {
      isClosed = true;
      await last;
      await context?.close();
      context = null;
    },
  };
};

type OptionName = keyof (ConnectOptions & ValidateOptions & PlanOptions & ApplyOptions);

const ofConnection = ['cwd', 'sandbox', 'strict', 'allowEmpty', 'onEvent'] as const;
const ofApply = [
  'templates',
  'plan',
  'force',
  'retry',
  'acceptLoss',
  'ignoreSubdomains',
  'lockTimeout',
  'signal',
] as const;

/**
 * What cannot be meant, in a program without types: a misspelled `templates` would write all, as an empty list would,
 * `force: 'false'` would force, and an AbortController in the place of its signal would end nothing.
 */
const mistakeIn = (given: object, known: readonly OptionName[]): string | null => {
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const name = known.find((one) => one === key);
    if (name === undefined) return `${key}: unknown option; there are: ${known.join(', ')}`;
    if (name === 'templates' || name === 'files') {
      const isList =
        Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
      if (!isList) return `${name}: expected a list of at least one text; all are meant where it is left out`;
    } else if (name === 'signal') {
      if (typeof value !== 'object' || value === null || !('aborted' in value))
        return 'signal: expected an AbortSignal, such as the `signal` of an AbortController';
    } else if (name === 'onEvent') {
      if (typeof value !== 'function') return 'onEvent: expected a function';
    } else if (!otherwise.has(name) && typeof value !== 'boolean') return `${name}: expected true or false`;
  }
  return null;
};

/** They are looked at where they are used. */
const otherwise: ReadonlySet<OptionName> = new Set(['cwd', 'plan', 'lockTimeout']);

const never = (): AbortSignal => new AbortController().signal;

const failed = (kind: SyncError['kind'], message: string): Failed => ({
  ok: false,
  error: { kind, message },
});

const aborted = failed('aborted', 'aborted before anything was written');

/** What the settings lead to, such as the file of a token, is apart from the settings. */
const kindOf = (error: UserError): SyncError['kind'] => {
  if (error instanceof SettingsError) return 'settings';
  if (error instanceof ArgumentError) return 'arguments';
  return error instanceof PlanChangedError ? 'plan-changed' : 'environment';
};
