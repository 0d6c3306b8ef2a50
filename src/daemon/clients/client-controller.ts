import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import { LockedError, messageOf, UserError } from '../../errors.ts';
import { withoutApplied, type PassResult, type Trigger } from '../../result.ts';
import { AnswersRounds } from '../passes/answers-rounds.ts';
import type { ChangeFeed } from '../passes/change-feed.ts';
import { clientState, type ClientState } from './client-state.ts';
import type { DaemonClient } from '../context.ts';
import type { Fleet, FleetClient, Membership, PassReport } from '../fleet.ts';
import { LatestResults } from '../passes/latest-results.ts';
import { PassLoop, type PassCause, type PassLoopState, type PassOutcome } from '../passes/loop.ts';
import { OpenTroubles } from '../passes/open-troubles.ts';
import { passLog, type PassId } from '../passes/pass-log.ts';
import { recordPass, type PassSinks, type RecordedPass } from '../passes/record-pass.ts';
import { startSchedule, type Schedule } from '../passes/schedule.ts';
import { watchFiles } from '../../source/watch.ts';

export interface ClientControllerOptions extends PassSinks {
  readonly client: DaemonClient;
  /** Those that share the clients. */
  readonly fleet: Fleet;
  /** Notified of everything that is new for the status page. */
  readonly changeFeed: ChangeFeed;
  /** Limits how many clients' passes run at the same time: of all, and of those of one hosting server. */
  readonly limit: <T>(client: DaemonClient, task: () => Promise<T>) => Promise<T>;
}

/** One client in the daemon: its passes, their triggers and their results. */
export class ClientController {
  readonly #options: ClientControllerOptions;
  /** For log lines that belong to no pass. */
  readonly #log: Logger;
  readonly #membership: Membership;
  readonly #latest = new LatestResults();
  readonly #troubles = new OpenTroubles();
  #client: DaemonClient;
  /** Replaces the client before the next pass. */
  #successor: DaemonClient | null = null;
  /** What makes passes, and what starts them: the watcher and the schedules; null where another process makes them. */
  #loop: PassLoop | null = null;
  #triggers: (Pick<Schedule, 'next'> & { readonly close: () => Promise<void> }) | null = null;
  #isBusy = false;
  /** Whether templates and service have been read at least once. */
  #wasRead = false;
  /**
   * Whether the last pass could not begin, for example because the state cannot be opened. The service cannot
   * help that.
   */
  #couldNotBegin = false;
  /** Since when the service has rejected the tokens in each pass that it answered, by the monotonic clock. */
  #deniedSince: number | null = null;
  /** Whether it has accepted them in any. */
  #wasAccepted = false;
  #lastError: string | null = null;
  /** When another pass may write changes that wait, in ms since the epoch; null if none do. */
  #dueAt: number | null = null;
  readonly #answers: AnswersRounds;
  #hasAsked = false;

  constructor(options: ClientControllerOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#log = options.log.child({ client: options.client.settings.name });
    this.#membership = options.fleet.join(this.#asMember());
    this.#answers = new AnswersRounds({
      ask: (signal, previous) =>
        this.#client.askNameServers({ templates: [], isCommand: false, signal, previous }),
      onEnd: () => this.#takeAnswers(),
      log: this.#log,
    });
  }

  get client(): DaemonClient {
    return this.#successor ?? this.#client;
  }

  get newest(): PassResult | null {
    const { result } = this.#latest;
    return result && this.#answers.addTo(result);
  }

  /** The templates as the files describe them, for a page. */
  get templates(): Pick<LatestResults, 'described'> {
    return this.#latest;
  }

  get state(): ClientState {
    return clientState({
      client: this.#client.settings.name,
      loop: this.#loop?.state ?? idle,
      isReady: this.#isReady,
      lastError: this.#trouble,
      latest: this.#latest.result,
      nextScheduled: this.#triggers?.next() ?? null,
    });
  }

  get #trouble(): string | null {
    return this.#options.fleet.trouble ?? this.#membership.trouble ?? this.#lastError;
  }

  /** Takes part, where the others do so already. */
  start(): Promise<void> {
    return this.#membership.start();
  }

  /** Does nothing where another process makes the passes. */
  trigger(trigger: Trigger): void {
    this.#loop?.trigger(trigger);
  }

  /** Null unless the pass that is asked for certainly comes. */
  request(): Promise<string | null> {
    return this.#loop?.request() ?? this.#membership.request();
  }

  /** Shows a pass that another process has made. */
  adopt(report: PassReport): void {
    const { latest, lastError, isReady } = report;
    if (latest !== null) {
      this.#latest.adopt(latest);
      this.#answers.adopt(latest);
      this.#troubles.take(latest.templates, latest.startedAt);
    }
    this.#lastError = lastError;
    this.#wasRead = isReady;
    this.#couldNotBegin = !isReady;
    this.#options.passHistory.add(report.entry);
    this.#options.changeFeed.changed();
  }

  /** The same client with new settings. A running pass keeps the old ones; the next pass uses these. */
  async replace(client: DaemonClient): Promise<void> {
    const skipped = this.#successor;
    this.#successor = client;
    await skipped?.close();
    if (this.#loop === null) await this.#reload(client);
  }

  /** Waits for the write in flight, but not for reads. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#membership.leave(), this.#answers.close()]);
    await this.#client.close();
    await ended;
    await this.#successor?.close();
  }

  #asMember(): FleetClient {
    return {
      name: this.#options.client.settings.name,
      baseUrl: () => this.client.settings.baseUrl,
      scope: () => this.client.savedAt.scope,
      files: () => this.client.files(),
      token: () => this.client.token(),
      listTemplateIds: () => this.client.listTemplateIds(),
      own: (first) => this.#own(first),
      disown: () => this.#disown(),
      isBusy: () => this.#isBusy,
      request: (run) => void this.#loop?.request(run),
    };
  }

  #own(first: Trigger | null): void {
    const loop = new PassLoop({
      log: this.#log,
      onState: this.#options.changeFeed.changed,
      dueAt: () => this.#dueAt,
      pass: (cause, signal) => this.#inTurn(cause, signal),
    });
    this.#loop = loop;
    this.#hasAsked = false;
    this.#startTriggers();
    if (first !== null) loop.trigger(first);
  }

  async #disown(): Promise<void> {
    const [loop, triggers] = [this.#loop, this.#triggers];
    this.#loop = null;
    this.#triggers = null;
    await loop?.close();
    await triggers?.close();
    this.#options.changeFeed.changed();
  }

  #startTriggers(): void {
    const { templates, cwd, schedule, answersSchedule, timezone, name } = this.#client.settings;
    // There may be thousands of clients where processes share them.
    const spread = this.#options.fleet.isShared ? name : null;
    const passes = startSchedule({
      expression: schedule,
      timezone,
      spread,
      onTime: () => this.trigger('schedule'),
    });
    const rounds = startSchedule({
      expression: answersSchedule,
      timezone,
      spread,
      onTime: () => this.#answers.start(),
    });
    const watcher = watchFiles({
      paths: templates.map((one) => path.resolve(cwd, one)),
      look: this.#client.look,
      onChange: () => void this.#filesChanged(),
      log: this.#log,
    });
    this.#triggers = {
      next: passes.next,
      close: async () => {
        passes.close();
        rounds.close();
        await watcher.close();
      },
    };
  }

  async #filesChanged(): Promise<void> {
    if (await this.#membership.mayPass()) this.trigger('file-change');
  }

  /** A pass that waits for its turn has not begun, and ends at once. */
  async #inTurn(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    const askedAt = performance.now();
    let onAbort = (): void => undefined;
    const cut = new Promise<PassOutcome>((resolve) => {
      onAbort = () => {
        if (!this.#isBusy) resolve('failed');
      };
      signal.addEventListener('abort', onAbort);
    });
    try {
      const made = this.#options.limit(this.client, () => {
        if (this.#options.fleet.isShared) this.#options.metrics.countLateness(performance.now() - askedAt);
        return this.#passHere(cause, signal);
      });
      return await Promise.race([made, cut]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #passHere(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    if (signal.aborted) return 'failed';
    this.#isBusy = true;
    try {
      if (this.#successor) await this.#reload(this.#successor);
      if (!(await this.#membership.mayPass())) return 'busy';
      return await this.#pass(cause, signal);
    } finally {
      this.#isBusy = false;
    }
  }

  async #pass(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    if (signal.aborted) return 'failed';
    const id = { client: this.#client.settings.name, run: cause.run, trigger: cause.trigger };
    const started = performance.now();
    try {
      const result = await this.#compare(id, signal);
      return await this.#accept(result, id, signal.aborted);
    } catch (error) {
      const message = messageOf(error);
      if (error instanceof LockedError && this.#lastError !== message) {
        this.#log.warn(
          { event: 'pass.waiting', trigger: id.trigger, reason: message },
          'the pass has to wait',
        );
      }
      this.#lastError = message;
      if (error instanceof LockedError) return 'busy';
      this.#couldNotBegin = true;
      const durationMs = Math.round(performance.now() - started);
      const at = new Date(Date.now() - durationMs).toISOString();
      const event = { ...id, at, result: null, failure: message, removed: [], isEnding: signal.aborted };
      this.#share(await recordPass(event, { result: null, latest: null, durationMs }, this.#options));
      if (error instanceof UserError) return 'failed';
      throw error;
    }
  }

  async #reload(successor: DaemonClient): Promise<void> {
    const [previous, triggers] = [this.#client, this.#triggers];
    this.#client = successor;
    this.#successor = null;
    this.#hasAsked = false;
    this.#triggers = null;
    await Promise.all([previous.close(), triggers?.close()]);
    if (this.#loop !== null) this.#startTriggers();
  }

  #compare(id: PassId, signal: AbortSignal): Promise<PassResult> {
    const { log, metrics } = this.#options;
    const lines = passLog(id, log);
    return this.#client.pass({
      run: id.run,
      trigger: id.trigger,
      templates: [],
      signal,
      dryRun: this.#client.settings.dryRun,
      lockTimeout: 0,
      onStart: lines.started,
      onDesired: (desired) => {
        lines.invalid(desired);
        this.#latest.begin(desired);
      },
      onChange: (change) => {
        lines.change(change);
        metrics.countChange(id.client, change);
        this.#options.changeFeed.changed();
      },
    });
  }

  async #accept(result: PassResult, id: PassId, isEnding: boolean): Promise<PassOutcome> {
    const lines = passLog(id, this.#options.log);
    lines.unmanaged(this.#latest.result?.unmanaged, result.unmanaged);
    const removed = this.#latest.add(result);
    lines.removed(removed);
    this.#troubles.forget(removed);
    lines.ended(this.#troubles.take(result.templates, result.startedAt));
    this.#lastError = result.holdReason;
    this.#wasRead ||= result.wasRead === true && isLoaded(result);
    this.#couldNotBegin = false;
    if (result.areTokensRejected === true) this.#deniedSince ??= performance.now();
    else if (result.wasRead === true) [this.#deniedSince, this.#wasAccepted] = [null, true];
    const latest = this.#latest.result;
    this.#dueAt = latest && dueAfter(latest);
    const shown = this.#answers.addTo(result);
    const event = { ...id, at: result.startedAt, result: shown, failure: null, removed, isEnding };
    const { durationMs } = result;
    const recorded = await recordPass(event, { result, latest, durationMs }, this.#options);
    this.#askFirst(isEnding);
    this.#share(recorded);
    return outcomeOf(result);
  }

  get #isReady(): boolean {
    return this.#membership.trouble === null && this.#wasRead && !this.#couldNotBegin && !this.#isDenied;
  }

  /** Rejected tokens may be on their way to be replaced; but not if they never worked, or for long. */
  get #isDenied(): boolean {
    if (this.#deniedSince === null) return false;
    return !this.#wasAccepted || performance.now() - this.#deniedSince >= deniedTooLong;
  }

  #share({ event, entry }: RecordedPass): void {
    const { client, run, at, result, failure, removed, isEnding } = event;
    const shared = { client, run, at, failure, removed, isEnding };
    const latest = result === null ? null : this.newest;
    const report = { event: shared, entry, latest, lastError: this.#lastError, isReady: this.#isReady };
    this.#membership.passed(report);
  }

  /** After a start and after new settings, name servers are asked at once rather than on schedule. */
  #askFirst(isEnding: boolean): void {
    if (this.#hasAsked || isEnding) return;
    this.#hasAsked = true;
    this.#answers.start();
  }

  #takeAnswers(): void {
    const { changeFeed, onPass } = this.#options;
    const client = this.#client.settings.name;
    changeFeed.changed();
    const { newest } = this;
    if (newest === null) return;
    // The event of the pass itself has reported what it wrote.
    const result = { ...newest, templates: newest.templates.map(withoutApplied) };
    const run = randomUUID();
    const at = new Date().toISOString();
    void onPass({ client, run, at, result, failure: null, removed: [], isEnding: false });
  }
}

/** Milliseconds. */
const deniedTooLong = 10 * 60_000;
/** Of a client whose passes another process makes. */
const idle: PassLoopState = { running: null, waiting: null, failures: 0, backoffUntil: null };

/** Whether templates were loaded, or there are none and that is no error. */
const isLoaded = ({ templates, problems }: PassResult): boolean => {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (templates.length === 0) return errors.length === 0;
  return errors.every(({ check }) => check !== 'no-templates');
};

/** A failed template is no reason to back off; an unusable service is. */
const outcomeOf = ({ holdReason, retryAfter, isRateLimited = false }: PassResult): PassOutcome => {
  if (holdReason === null) return 'ok';
  return retryAfter === null ? 'failed' : { failedFor: retryAfter, isRateLimited };
};

/** The first time after this pass at which earlier writes may have settled: another pass writes what waits. */
const dueAfter = (result: PassResult): number | null => {
  const times = result.templates
    .flatMap(({ settlesAt }) => settlesAt ?? [])
    .filter((time) => time > result.startedAt);
  return times.length === 0 ? null : Math.min(...times.map((one) => byOwnClock(one, result)));
};

/** The times of a pass that has just ended may be by another clock. Ms since the epoch. */
const byOwnClock = (
  time: string,
  { startedAt, durationMs }: Pick<PassResult, 'startedAt' | 'durationMs'>,
): number => Date.now() + Date.parse(time) - Date.parse(startedAt) - durationMs;
