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
import type { EventStream } from './event-stream.ts';
import type {
  Applied,
  ApplyOptions,
  ConnectOptions,
  Failed,
  Planned,
  PlanOptions,
  Settings,
  SyncError,
  SyncEvent,
  Validated,
  ValidateOptions,
} from './face.ts';

/** What `connect` gives, once it is used. */
export class OpenConnection {
  readonly #settings: Settings;
  readonly #options: ConnectOptions;
  readonly #events: EventStream<SyncEvent>;
  readonly #io = processIo(false);
  #context: AppContext | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(settings: Settings, options: ConnectOptions, events: EventStream<SyncEvent>) {
    this.#settings = settings;
    this.#options = options;
    this.#events = events;
  }

  validate({ files = [], signal }: ValidateOptions): Promise<Validated | Failed> {
    return this.#inTurn(signal, true, async () => {
      const settings = inSettings(() => this.#read({ baseUrl: false, tokens: false }));
      const { strict = false, allowEmpty = false } = this.#options;
      const { cwd } = this.#io;
      const paths = files.map((file) => path.resolve(this.#folder, file));
      const { problems, states } = await validateClients(settings, paths, { strict, allowEmpty, cwd });
      return { ok: true, problems, files: states.reduce((sum, state) => sum + state.files, 0) };
    });
  }

  plan({
    templates = [],
    ignoreSubdomains = false,
    answers = false,
    signal = never(),
  }: PlanOptions): Promise<Planned | Failed> {
    return this.#inTurn(signal, true, async () => {
      if (answers && ignoreSubdomains)
        throw new ArgumentError('answers is about subdomains: leave out ignoreSubdomains');
      const context = await this.#open();
      const { clients } = context;
      const names = await resolveNames(clients, templates);
      const how = { dryRun: true, lockTimeout: 0, ignoreSubdomains, signal };
      const passes = await runPasses(context, how, names, this.#passEvents);
      const found = answers ? await addAnswers(clients, passes, names, signal) : passes;
      return { ok: true, report: reportOn(found, context) };
    });
  }

  apply({ templates = [], plan, lockTimeout = '60s', ...rest }: ApplyOptions): Promise<Applied | Failed> {
    const { force = false, retry = false, acceptLoss = false } = rest;
    const { ignoreSubdomains = false, signal = never() } = rest;
    return this.#inTurn(signal, false, async () => {
      const milliseconds = parseDuration(lockTimeout);
      if (milliseconds === null) throw new ArgumentError('lockTimeout: expected a duration such as 60s');
      for (const [key, isSet] of Object.entries({ force, retry, acceptLoss }))
        if (isSet && templates.length === 0) throw new ArgumentError(`${key} needs the names of templates`);
      const approved = plan === undefined ? null : await approvedBy(plan);
      const context = await this.#open();
      refuseDryRun(context);
      const names = await resolveNames(context.clients, templates);
      const how = { force, retry, acceptLoss, ignoreSubdomains, signal, lockTimeout: milliseconds };
      const pass = (_: AppContext, request: Parameters<typeof runPasses>[1]) =>
        runPasses(context, request, names, this.#passEvents);
      const rehearsed = approved
        ? await rehearse(context, { templates: names, how, approved, pass })
        : undefined;
      if (signal.aborted) return aborted;
      if (rehearsed && !('approve' in rehearsed))
        return { ok: true, report: reportOn(rehearsed, context), isComplete: false };
      const approve = rehearsed ? { approve: rehearsed.approve } : {};
      const passes = await pass(context, { ...how, ...approve, dryRun: false });
      const report = reportOn(passes, context);
      const isIncomplete = signal.aborted || passes.some((one) => one.isIncomplete === true);
      return { ok: true, report, isComplete: exitCodeOf(report, { detailed: false, isIncomplete }) === 0 };
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#context?.close();
    this.#context = null;
  }

  /** Passes of one client must not overlap. What only reads is left behind when it is aborted. */
  async #inTurn<T>(
    signal: AbortSignal | undefined,
    mayLeave: boolean,
    task: () => Promise<T | Failed>,
  ): Promise<T | Failed> {
    if (this.#isClosed) return failed('closed', 'the connection is closed');
    let hasBegun = false;
    const begin = (): Promise<T | Failed> => {
      hasBegun = true;
      return task().catch((error: unknown) => this.#asFailed(error));
    };
    const done = this.#last.then(() => (signal?.aborted ? aborted : begin()));
    this.#last = done.catch(() => undefined);
    return signal ? untilAborted(done, signal, () => mayLeave || !hasBegun) : done;
  }

  #read(needs: Needs): ReadSettings {
    const { env, cwd } = this.#io;
    return readSettings({
      flags: { sandbox: this.#options.sandbox },
      object: this.#settings,
      folder: this.#folder,
      needs,
      mayLeaveOut: true,
      env,
      cwd,
    });
  }

  /** What relative paths start from. */
  get #folder(): string {
    return path.resolve(this.#io.cwd, this.#options.cwd ?? '');
  }

  async #open(): Promise<AppContext> {
    const { strict = false, allowEmpty = false } = this.#options;
    const notice = (message: string, client: string | null = null): void =>
      this.#events.push({ event: 'notice', client, message });
    this.#context ??= await openContext({
      clock: this.#io.clock,
      read: () => inSettings(() => this.#read({ baseUrl: true, tokens: true, stateDir: true })),
      isDaemon: false,
      strict,
      allowEmpty,
      reset: false,
      outlet: (_, secrets) => ({
        log: createLogger({ level: 'silent', out: nowhere, secrets, now: this.#io.clock.now }),
        warnings: { warn: notice, close: () => undefined },
      }),
    });
    return this.#context;
  }

  #asFailed(error: unknown): Failed {
    if (!(error instanceof UserError)) throw error;
    const { message } = error;
    return failed(kindOf(error), this.#context?.redact(message) ?? message);
  }

  readonly #passEvents: PassEvents = {
    onChange: (client, change) => this.#events.push({ event: 'change', client, ...change }),
    onWait: (client, holder) => this.#events.push({ event: 'waiting', client, holder }),
    onPause: (client, milliseconds, why) => this.#events.push({ event: 'pause', client, milliseconds, why }),
  };
}

const nowhere = { write: () => true };

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

const inSettings = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw error instanceof UserError ? new SettingsError(error.message, { cause: error }) : error;
  }
};

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

const never = (): AbortSignal => new AbortController().signal;

const untilAborted = async <T>(
  task: Promise<T>,
  signal: AbortSignal,
  mayLeave: () => boolean,
): Promise<T | Failed> => {
  let stop: () => void = () => undefined;
  const end = new Promise<Failed>((resolve) => {
    stop = () => {
      if (mayLeave()) resolve(aborted);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([task, end]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
