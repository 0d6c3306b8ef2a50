import path from 'node:path';
import { processIo } from '../process-io.ts';
import { openContext, type AppContext } from '../app/app-context.ts';
import { addAnswers, reportOn, resolveNames, runPasses, type PassEvents } from '../app/passes.ts';
import { planOf, PlanChangedError } from '../app/plan-file.ts';
import { rehearse, type ApprovedPlan } from '../app/rehearse.ts';
import { validateClients } from '../app/validate-clients.ts';
import { ArgumentError, UserError } from '../errors.ts';
import { createLogger } from '../log.ts';
import { parseDuration } from '../model/duration.ts';
import { exitCodeOf } from '../report/exit-code.ts';
import { readSettings, type Settings as ReadSettings } from '../settings.ts';
import type { Needs } from '../settings/client.ts';
import type { Connection, ConnectOptions, Failed, Settings, SyncError, SyncEvent } from './face.ts';

/** What `connect` gives, once it is used. */
export const openConnection = (
  settings: Settings,
  { sandbox, strict = false, allowEmpty = false, onEvent, ...options }: ConnectOptions,
): Omit<Connection, typeof Symbol.asyncDispose> => {
  const io = processIo(false);
  /** What relative paths start from. */
  const folder = path.resolve(io.cwd, options.cwd ?? '');
  let context: AppContext | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  /** Apart from the pass: an error in it is none of the pass. */
  const tell = (event: SyncEvent): void => queueMicrotask(() => onEvent?.(event));
  const passEvents: PassEvents = {
    onChange: (client, change) => tell({ event: 'change', client, ...change }),
    onWait: (client, holder) => tell({ event: 'waiting', client, holder }),
    onPause: (client, milliseconds, why) => tell({ event: 'pause', client, milliseconds, why }),
  };

  const read = (needs: Needs): ReadSettings => {
    const { env, cwd } = io;
    try {
      return readSettings({
        flags: { sandbox },
        object: settings,
        folder,
        needs,
        mayLeaveOut: true,
        env,
        cwd,
      });
    } catch (error) {
      throw error instanceof UserError ? new SettingsError(error.message, { cause: error }) : error;
    }
  };

  const open = async (): Promise<AppContext> =>
    (context ??= await openContext({
      clock: io.clock,
      read: () => read({ baseUrl: true, tokens: true, stateDir: true }),
      isDaemon: false,
      strict,
      allowEmpty,
      reset: false,
      outlet: (_, secrets) => ({
        log: createLogger({ level: 'silent', out: nowhere, secrets, now: io.clock.now }),
        warnings: {
          warn: (message: string, client: string | null = null) => tell({ event: 'notice', client, message }),
          close: () => undefined,
        },
      }),
    }));

  /** Passes of one client must not overlap. What only reads is left behind when it is aborted. */
  const inTurn = async <T>(
    signal: AbortSignal,
    mayLeave: boolean,
    task: () => Promise<T>,
  ): Promise<T | Failed> => {
    if (isClosed) return failed('closed', 'the connection is closed');
    if (signal.aborted) return aborted;
    let hasBegun = false;
    const begin = async (): Promise<T | Failed> => {
      if (signal.aborted) return aborted;
      hasBegun = true;
      try {
        return await task();
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return failed(kindOf(error), context?.redact(error.message) ?? error.message);
      }
    };
    const done = last.then(begin);
    last = done.catch(() => undefined);
    let onAbort = (): void => undefined;
    const left = new Promise<Failed>((resolve) => {
      onAbort = () => {
        if (mayLeave || !hasBegun) resolve(aborted);
      };
    });
    signal.addEventListener('abort', onAbort);
    try {
      return await Promise.race([done, left]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };

  return {
    validate: ({ files = [], signal = never() } = {}) =>
      inTurn(signal, true, async () => {
        const found = read({ baseUrl: false, tokens: false });
        const paths = files.map((file) => path.resolve(folder, file));
        const how = { strict, allowEmpty, cwd: io.cwd };
        const { problems, states } = await validateClients(found, paths, how);
        return { ok: true, problems, files: states.reduce((sum, state) => sum + state.files, 0) };
      }),
    plan: ({ templates = [], ignoreSubdomains = false, answers = false, signal = never() } = {}) =>
      inTurn(signal, true, async () => {
        if (answers && ignoreSubdomains)
          throw new ArgumentError('answers is about subdomains: leave out ignoreSubdomains');
        const opened = await open();
        const names = await resolveNames(opened.clients, templates);
        const how = { dryRun: true, lockTimeout: 0, ignoreSubdomains, signal };
        const passes = await runPasses(opened, how, names, passEvents);
        const found = answers ? await addAnswers(opened.clients, passes, names, signal) : passes;
        return { ok: true, report: reportOn(found, opened) };
      }),
    apply: ({ templates = [], plan, lockTimeout: patience = '60s', ...rest } = {}) => {
      const { force = false, retry = false, acceptLoss = false, ignoreSubdomains = false } = rest;
      const { signal = never() } = rest;
      return inTurn(signal, false, async () => {
        const lockTimeout = parseDuration(patience);
        if (lockTimeout === null) throw new ArgumentError('lockTimeout: expected a duration such as 60s');
        for (const [key, isSet] of Object.entries({ force, retry, acceptLoss }))
          if (isSet && templates.length === 0) throw new ArgumentError(`${key} needs the names of templates`);
        const approved = plan === undefined ? null : await approvedBy(plan);
        const opened = await open();
        refuseDryRun(opened);
        const names = await resolveNames(opened.clients, templates);
        const how = { force, retry, acceptLoss, ignoreSubdomains, signal, lockTimeout };
        const pass = (_: AppContext, request: Parameters<typeof runPasses>[1]) =>
          runPasses(opened, request, names, passEvents);
        const rehearsed = approved && (await rehearse(opened, { templates: names, how, approved, pass }));
        if (signal.aborted) return aborted;
        if (rehearsed && !('approve' in rehearsed))
          return { ok: true, report: reportOn(rehearsed, opened), isComplete: false };
        const passes = await pass(opened, { ...how, ...rehearsed, dryRun: false });
        const report = reportOn(passes, opened);
        const isIncomplete = signal.aborted;
        return { ok: true, report, isComplete: exitCodeOf(report, { detailed: false, isIncomplete }) === 0 };
      });
    },
    close: async () => {
      isClosed = true;
      await last;
      await context?.close();
      context = null;
    },
  };
};

const nowhere = { write: () => true };

const never = (): AbortSignal => new AbortController().signal;

/** With `dryRun` in the settings, apply refuses rather than writes. */
const refuseDryRun = ({ clients }: AppContext): void => {
  const dry = clients.filter(({ settings }) => settings.dryRun).map(({ settings }) => settings.name);
  if (dry.length > 0)
    throw new SettingsError(`dryRun is set for client ${dry.join(', ')}: unset it, or use plan`);
};

const approvedBy = async (plan: unknown): Promise<ApprovedPlan> => {
  const report = await planOf(plan);
  if (typeof report === 'string') throw new ArgumentError(`plan: this is ${report}`);
  return { report, name: 'the plan that was given', again: (names) => `templates: ${JSON.stringify(names)}` };
};

/** Errors of the settings, apart from those of what they lead to. */
class SettingsError extends UserError {}

const failed = (kind: SyncError['kind'], message: string): Failed => ({
  ok: false,
  error: { kind, message },
});

const aborted = failed('aborted', 'aborted before anything was written');

const kindOf = (error: UserError): SyncError['kind'] => {
  if (error instanceof SettingsError) return 'settings';
  if (error instanceof ArgumentError) return 'arguments';
  return error instanceof PlanChangedError ? 'plan-changed' : 'environment';
};
