import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import { LockedError, messageOf, UserError } from '../../errors.ts';
import { withoutApplied, type PassResult, type Trigger } from '../../result.ts';
import type { PassEvent } from '../../notify/news.ts';
import type { PassEntry } from '../../status-page/facts.ts';
import { AnswersRounds } from '../passes/answers-rounds.ts';
import { clientState, Results, type ClientState } from './client-state.ts';
import type { DaemonClient } from '../context.ts';
import type { Fleet, Membership, PassReport } from '../fleet.ts';
import { noPass, timesAfter, type Metrics, type PassTimes } from '../metrics.ts';
import { PassLoop, type PassCause, type PassOutcome } from '../passes/loop.ts';
import { passRecord } from '../passes/pass-record.ts';
import { startSchedule } from '../passes/schedule.ts';
import { watchFiles } from '../../source/watch.ts';

interface ClientControllerOptions {
  readonly client: DaemonClient;
  /** Those that share the clients. */
  readonly fleet: Fleet;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called when something is new for the status page. */
  readonly onChange: () => void;
  /** Called after each pass with its result, or with why there was none. Resolves once what is new in it is saved. */
  readonly onPass: (event: PassEvent) => Promise<void>;
  /** Called for each pass that has ended, also of another process. */
  readonly onEntry: (entry: PassEntry) => void;
  /** Limits how many clients' passes run at the same time: of all, and of those of one hosting server. */
  readonly limit: <T>(client: DaemonClient, task: () => Promise<T>) => Promise<T>;
}

/** One client in the daemon: what starts its passes, and what they found. */
export class ClientController {
  readonly #options: ClientControllerOptions;
  /** For log lines that belong to no pass. */
  readonly #log: Logger;
  readonly #membership: Membership;
  readonly #answers: AnswersRounds;
  readonly results = new Results();
  lastPass: PassEntry | null = null;
  times: PassTimes = noPass;
  #client: DaemonClient;
  /** Replaces the client before the next pass. */
  #successor: DaemonClient | null = null;
  /** What makes passes, and what starts them; null where another process makes them. */
  #loop: PassLoop | null = null;
  #triggers: Triggers | null = null;
  #isBusy = false;
  #lastError: string | null = null;
  /** Whether templates and service have been read at least once, and passes can begin. */
  #wasRead = false;
  #canBegin = true;
  /** Since when the service has rejected the tokens in each pass that it answered, by the monotonic clock. */
  #deniedSince: number | null = null;
  /** Whether it has accepted them in any. */
  #wasAccepted = false;
  /** When another pass may write changes that wait, in ms since the epoch; null if none do. */
  #dueAt: number | null = null;
  #hasAsked = false;

  constructor(options: ClientControllerOptions) {
    this.#options = options;
    this.#client = options.client;
    const { name } = options.client.settings;
    this.#log = options.log.child({ client: name });
    this.#membership = options.fleet.join({
      name,
      baseUrl: () => this.client.settings.baseUrl,
      scope: () => this.client.savedAt.scope,
      files: () => this.client.files(),
      token: () => this.client.token(),
      listTemplateIds: () => this.client.listTemplateIds(),
      own: (first) => this.#own(first),
      disown: () => this.#disown(),
      isBusy: () => this.#isBusy,
      request: (run) => this.#loop !== null && this.#loop.trigger('request', run) !== null,
    });
    this.#answers = new AnswersRounds({
      ask: (signal, previous) => this.#client.askNameServers({ signal, previous }),
      onEnd: () => this.#tellAnswers(),
      log: this.#log,
    });
  }

  get client(): DaemonClient {
    return this.#successor ?? this.#client;
  }

  get newest(): PassResult | null {
    const { latest } = this.results;
    return latest && this.#answers.addTo(latest);
  }

  get state(): ClientState {
    const known = {
      client: this.#client.settings.name,
      isReady: this.#isReady,
      lastError: this.#options.fleet.trouble ?? this.#membership.trouble ?? this.#lastError,
      nextScheduled: this.#triggers?.next() ?? null,
    };
    const loop = this.#loop?.state ?? { running: null, waiting: null, failures: 0, backoffUntil: null };
    return clientState(known, loop, this.results.latest);
  }

  /** Rejected tokens may be on their way to be replaced; but not if they never worked, or for long. */
  get #isReady(): boolean {
    const since = this.#deniedSince;
    const isDenied = since !== null && (!this.#wasAccepted || performance.now() - since >= deniedTooLong);
    return this.#membership.trouble === null && this.#wasRead && this.#canBegin && !isDenied;
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
  async request(): Promise<string | null> {
    return this.#loop === null ? this.#membership.request() : this.#loop.trigger('request');
  }

  /** Shows a pass that another process has made. */
  adopt({ latest, lastError, isReady, entry }: PassReport): void {
    if (latest !== null) {
      this.results.adopt(latest);
      this.#answers.adopt(latest);
    }
    this.#lastError = lastError;
    this.#wasRead = this.#canBegin = isReady;
    this.#note(entry);
    this.#options.onChange();
  }

  /** The same client with new settings. A running pass keeps the old ones; the next pass uses these. */
  async replace(client: DaemonClient): Promise<void> {
    const skipped = this.#successor;
    this.#successor = client;
    await skipped?.close();
    if (this.#loop === null) await this.#succeed();
  }

  /** Waits for the write in flight, but not for reads. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#membership.leave(), this.#answers.close()]);
    await this.#client.close();
    await ended;
    await this.#successor?.close();
  }

  #own(first: Trigger | null): void {
    this.#loop = new PassLoop({
      log: this.#log,
      onState: this.#options.onChange,
      dueAt: () => this.#dueAt,
      pass: (cause, signal) => this.#inTurn(cause, signal),
    });
    this.#hasAsked = false;
    this.#triggers = this.#startTriggers();
    if (first !== null) this.#loop.trigger(first);
  }

  async #disown(): Promise<void> {
    const [loop, triggers] = [this.#loop, this.#triggers];
    this.#loop = this.#triggers = null;
    const ended = loop?.close();
    // A pass that waits for its turn has not begun, and never will.
    if (this.#isBusy) await ended;
    await triggers?.close();
    this.#options.onChange();
  }

  async #succeed(): Promise<void> {
    if (this.#successor === null) return;
    const [previous, triggers] = [this.#client, this.#triggers];
    this.#client = this.#successor;
    this.#successor = this.#triggers = null;
    this.#hasAsked = false;
    await Promise.all([previous.close(), triggers?.close()]);
    // It may have become ours meanwhile.
    if (this.#loop !== null) this.#triggers ??= this.#startTriggers();
  }

  #startTriggers(): Triggers {
    const { templates, cwd, schedule, answersSchedule, timezone, name } = this.#client.settings;
    // There may be thousands of clients where processes share them.
    const spread = this.#options.fleet.isShared ? name : null;
    const start = (expression: string, onTime: () => void) =>
      startSchedule({ expression, timezone, spread, onTime });
    const passes = start(schedule, () => this.trigger('schedule'));
    const rounds = start(answersSchedule, () => this.#answers.start());
    const watcher = watchFiles({
      paths: templates.map((one) => path.resolve(cwd, one)),
      look: this.#client.look,
      onChange: () =>
        void this.#membership.mayPass().then((isAllowed) => isAllowed && this.trigger('file-change')),
      log: this.#log,
    });
    return {
      next: passes.next,
      close: () => {
        passes.close();
        rounds.close();
        return watcher.close();
      },
    };
  }

  #inTurn(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    const askedAt = performance.now();
    const { limit, fleet, metrics } = this.#options;
    return limit(this.client, async () => {
      if (signal.aborted) return 'failed';
      if (fleet.isShared) metrics.countLateness(performance.now() - askedAt);
      this.#isBusy = true;
      try {
        await this.#succeed();
        if (!(await this.#membership.mayPass())) return 'busy';
        return signal.aborted ? 'failed' : await this.#pass(cause, signal);
      } finally {
        this.#isBusy = false;
      }
    });
  }

  async #pass({ run, trigger }: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    const { log, metrics, onChange, onPass } = this.#options;
    const { name: client } = this.#client.settings;
    const record = passRecord({ client, run, trigger }, log);
    const started = performance.now();
    const end = async (outcome: Pick<PassEvent, 'at' | 'result' | 'failure' | 'removed'>) => {
      const event = { client, run, ...outcome, isEnding: signal.aborted };
      const durationMs = outcome.result?.durationMs ?? Math.round(performance.now() - started);
      const entry = await record.ended(event, durationMs, this.results.latest, onPass);
      metrics.countPass(entry);
      this.#note(entry);
      this.#askFirst(signal.aborted);
      this.#share(event, entry);
    };
    let result: PassResult;
    try {
      result = await this.#client.pass({
        run,
        trigger,
        signal,
        onStart: record.started,
        onDesired: (desired) => {
          record.invalid(desired);
          this.results.begin(desired);
        },
        onChange: (change) => {
          record.change(change);
          metrics.countChange(client, change);
          onChange();
        },
      });
    } catch (error) {
      const failure = messageOf(error);
      const isLocked = error instanceof LockedError;
      if (isLocked && this.#lastError !== failure) record.waiting(failure);
      this.#lastError = failure;
      if (isLocked) return 'busy';
      this.#canBegin = false;
      const at = new Date(Date.now() - (performance.now() - started)).toISOString();
      await end({ at, result: null, failure, removed: [] });
      if (error instanceof UserError) return 'failed';
      throw error;
    }
    const removed = this.results.add(result);
    this.#learn(result);
    await end({ at: result.startedAt, result: this.#answers.addTo(result), failure: null, removed });
    return outcomeOf(result);
  }

  #learn(result: PassResult): void {
    this.#lastError = result.holdReason;
    this.#canBegin = true;
    this.#wasRead ||= result.wasRead === true && isLoaded(result);
    if (result.areTokensRejected === true) this.#deniedSince ??= performance.now();
    else if (result.wasRead === true) [this.#deniedSince, this.#wasAccepted] = [null, true];
    this.#dueAt = dueAfter(this.results.latest ?? result);
  }

  #note(entry: PassEntry): void {
    this.lastPass = entry;
    this.times = timesAfter(this.times, entry);
    this.#options.onEntry(entry);
  }

  #share({ result, ...event }: PassEvent, entry: PassEntry): void {
    const latest = result === null ? null : this.newest;
    this.#membership.passed({ event, entry, latest, lastError: this.#lastError, isReady: this.#isReady });
  }

  /** After a start and after new settings, name servers are asked at once rather than on schedule. */
  #askFirst(isEnding: boolean): void {
    if (this.#hasAsked || isEnding || this.results.latest === null) return;
    this.#hasAsked = true;
    this.#answers.start();
  }

  #tellAnswers(): void {
    const { newest } = this;
    this.#options.onChange();
    if (newest === null) return;
    // The event of the pass itself has reported what it wrote.
    const result = { ...newest, templates: newest.templates.map(withoutApplied) };
    const at = new Date().toISOString();
    const { name: client } = this.#client.settings;
    const event = { client, run: randomUUID(), at, result, failure: null, removed: [], isEnding: false };
    void this.#options.onPass(event);
  }
}

/** The watcher and the schedules. */
interface Triggers {
  /** When the next pass is scheduled. */
  readonly next: () => Date;
  readonly close: () => Promise<void>;
}

/** Milliseconds. */
const deniedTooLong = 10 * 60_000;

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

/**
 * The first time after this pass at which earlier writes may have settled: another pass writes what waits. Ms since the
 * epoch by our own clock: the times of a pass that has just ended may be by another one.
 */
const dueAfter = ({ templates, startedAt, durationMs }: PassResult): number | null => {
  const times = templates.flatMap(({ settlesAt }) => settlesAt ?? []).filter((time) => time > startedAt);
  const waits = times.map((time) => Date.parse(time) - Date.parse(startedAt) - durationMs);
  return waits.length === 0 ? null : Date.now() + Math.min(...waits);
};
