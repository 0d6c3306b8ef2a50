import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { LockedError, messageOf, UserError } from '../errors.ts';
import type { PassEvent } from '../notify/health.ts';
import { assembleReport } from '../report/assemble.ts';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { PassResult, TemplateResult, Trigger } from '../result.ts';
import { AnswersRounds } from './answers-rounds.ts';
import { clientState, type ClientState } from './client-state.ts';
import type { DaemonClient } from './context.ts';
import type { PassHistory } from './pass-history.ts';
import { PassLoop, type PassCause, type PassOutcome } from './loop.ts';
import type { Metrics } from './metrics.ts';
import { LatestResults } from './latest-results.ts';
import { passEntry } from './pass-entry.ts';
import { logChange, logFinished, logFound, logInvalid, logStarted, type PassId } from './pass-log.ts';
import { startSchedule } from './schedule.ts';
import type { ChangeFeed } from './change-feed.ts';
import { watchTemplates } from './watch.ts';

export interface ClientControllerOptions {
  readonly client: DaemonClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called after each pass with its result, or with why there was none. */
  readonly onPass: (event: PassEvent) => void;
  /** For the status page: what the passes did, and that there is something new. */
  readonly passHistory: PassHistory;
  readonly changeFeed: ChangeFeed;
  /** Limits how many clients' passes run at the same time. */
  readonly limit: <T>(task: () => Promise<T>) => Promise<T>;
}

/** The watcher and the schedules, which trigger passes. */
interface Triggers {
  /** The next time of the schedule. */
  readonly next: () => Date;
  readonly close: () => Promise<void>;
}

/** One client in the daemon: its passes, their triggers and their results. */
export class ClientController {
  readonly #options: ClientControllerOptions;
  /** For log lines that belong to no pass. */
  readonly #log: Logger;
  readonly #loop: PassLoop;
  readonly #latest = new LatestResults();
  #client: DaemonClient;
  /** Replaces the client before the next pass. */
  #successor: DaemonClient | null = null;
  #triggers: Triggers | null = null;
  /** Whether templates and service have been read at least once. */
  #wasRead = false;
  /**
   * Whether the last pass could not begin, for example because the state cannot be opened. The service cannot
   * help that.
   */
  #couldNotBegin = false;
  #lastError: string | null = null;
  readonly #answers: AnswersRounds;
  #hasAsked = false;

  constructor(options: ClientControllerOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#log = options.log.child({ client: options.client.settings.name });
    this.#loop = new PassLoop({
      log: this.#log,
      onState: options.changeFeed.changed,
      pass: (cause, signal) => options.limit(() => this.#pass(cause, signal)),
    });
    this.#answers = new AnswersRounds({
      ask: (signal, previous) =>
        this.#client.askNameServers({ templates: [], isCommand: false, signal, previous }),
      onEnd: (known) => this.#takeAnswers(known),
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
      loop: this.#loop.state,
      isReady: this.#wasRead && !this.#couldNotBegin,
      lastError: this.#lastError,
      newest: this.#latest.result,
      nextScheduled: this.#triggers?.next() ?? null,
    });
  }

  /** Starts the watcher and the schedules. */
  async start(): Promise<void> {
    const { scan, settings } = this.#client;
    const { templates: paths, schedule: expression, answersSchedule, timezone } = settings;
    const watcher = await watchTemplates({
      paths,
      scan,
      onChange: () => this.trigger('file-change'),
      log: this.#log,
    });
    const schedule = startSchedule({ expression, timezone, onTime: () => this.trigger('schedule') });
    const rounds = startSchedule({
      expression: answersSchedule,
      timezone,
      onTime: () => this.#answers.start(),
    });
    this.#triggers = {
      next: schedule.next,
      close: () => {
        schedule.close();
        rounds.close();
        return watcher.close();
      },
    };
  }

  trigger(trigger: Trigger): void {
    this.#loop.trigger(trigger);
  }

  /** The same client with new settings. A running pass keeps the old ones; the next pass uses these. */
  async replace(client: DaemonClient): Promise<void> {
    const skipped = this.#successor;
    this.#successor = client;
    await skipped?.close();
  }

  /** Waits for the write in flight, but not for reads. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#loop.close(), this.#answers.close()]);
    await this.#client.close();
    await ended;
    await this.#triggers?.close();
    await this.#successor?.close();
  }

  async #pass(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    if (this.#successor) await this.#reload(this.#successor);
    if (signal.aborted) return 'failed';

    const id = { client: this.#client.settings.name, run: randomUUID(), trigger: cause.trigger };
    const started = performance.now();
    const { log, metrics } = this.#options;
    try {
      const result = await this.#compare(cause, id, signal);
      return this.#accept(result, id, signal.aborted);
    } catch (error) {
      const message = messageOf(error);
      if (error instanceof LockedError && this.#lastError !== message) {
        this.#log.info(
          { event: 'pass.waiting', trigger: id.trigger, reason: message },
          'the pass has to wait',
        );
      }
      this.#lastError = message;
      if (error instanceof LockedError) return 'busy';
      this.#couldNotBegin = true;
      const durationMs = Math.round(performance.now() - started);
      const report = { ...assembleReport([]), status: 'failed', durationMs } as const;
      logFinished(report, message, id, signal.aborted, log);
      metrics.countPass({ ...id, ...report }, null);
      this.#options.passHistory.add(passEntry(id, report, null, message));
      const at = new Date(Date.now() - durationMs).toISOString();
      this.#options.onPass({
        ...id,
        at,
        result: null,
        failure: message,
        removed: [],
        isEnding: signal.aborted,
      });
      if (error instanceof UserError) return 'failed';
      throw error;
    }
  }

  async #reload(successor: DaemonClient): Promise<void> {
    const [previous, triggers] = [this.#client, this.#triggers];
    this.#client = successor;
    this.#successor = null;
    this.#hasAsked = false;
    await Promise.all([previous.close(), triggers?.close()]);
    await this.start();
  }

  #compare({ isFull }: PassCause, id: PassId, signal: AbortSignal): Promise<PassResult> {
    const { log, metrics } = this.#options;
    return this.#client.pass({
      run: id.run,
      trigger: id.trigger,
      templates: [],
      signal,
      dryRun: this.#client.settings.dryRun,
      lockTimeout: 0,
      onStart: () => logStarted(id, log),
      onDesired: (desired) => {
        logInvalid(desired, id, log);
        return this.#latest.begin(desired, isFull);
      },
      onChange: (change) => {
        logChange(change, id, log);
        metrics.countChange(id.client, change);
        this.#options.changeFeed.changed();
      },
    });
  }

  #accept(result: PassResult, id: PassId, isEnding: boolean): PassOutcome {
    const { log, metrics, passHistory } = this.#options;
    const removed = this.#latest.add(result);
    for (const template of removed) {
      this.#log.warn(
        { event: 'template.unmanaged', template },
        'no file describes this template any more; it is no longer managed',
      );
    }
    this.#lastError = result.halted;
    this.#wasRead ||= result.wasRead === true && isLoaded(result);
    this.#couldNotBegin = false;
    const report = assembleReport([result]);
    logFound(result, id, isEnding, log);
    logFinished(report, result.halted, id, isEnding, log);
    metrics.countPass({ ...id, ...report }, this.#latest.result);
    const compared = result.wasRead === true ? this.#latest.result : null;
    passHistory.add(passEntry(id, report, compared, result.halted));
    const shown = this.#answers.addTo(result);
    this.#options.onPass({ ...id, at: result.startedAt, result: shown, failure: null, removed, isEnding });
    this.#askFirst(isEnding);
    return outcomeOf(result);
  }

  /** After a start and after new settings, name servers are asked at once rather than on schedule. */
  #askFirst(isEnding: boolean): void {
    if (this.#hasAsked || isEnding) return;
    this.#hasAsked = true;
    this.#answers.start();
  }

  #takeAnswers(known: KnownAnswers): void {
    const { metrics, changeFeed, onPass } = this.#options;
    const client = this.#client.settings.name;
    metrics.countAnswers(client, known);
    changeFeed.changed();
    const { newest } = this;
    if (newest === null) return;
    const result = { ...newest, templates: newest.templates.map(withoutApplied) };
    const run = randomUUID();
    const at = new Date().toISOString();
    onPass({ client, run, at, result, failure: null, removed: [], isEnding: false });
  }
}

/** The event of the pass itself has reported what it wrote. */
const withoutApplied = (template: TemplateResult): TemplateResult => ({
  ...template,
  differences: template.differences.filter(({ outcome }) => outcome !== 'applied'),
});

/** Whether templates were loaded, or there are none and that is no error. */
const isLoaded = ({ templates, problems }: PassResult): boolean => {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (templates.length === 0) return errors.length === 0;
  return errors.every(({ check }) => check !== 'no-templates');
};

/** A failed template is no reason to back off; an unusable service is. */
const outcomeOf = ({ halted, retryAt }: PassResult): PassOutcome => {
  if (halted === null) return 'ok';
  return retryAt === null ? 'failed' : { failedUntil: Date.parse(retryAt) };
};
