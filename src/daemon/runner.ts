import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { LockedError, messageOf, UserError } from '../errors.ts';
import type { PassSight } from '../notify/standing.ts';
import { assembleReport } from '../report/assemble.ts';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { PassResult, TemplateResult, Trigger } from '../result.ts';
import { AnswersRounds } from './answers-rounds.ts';
import { clientState, type ClientState } from './client-state.ts';
import type { DaemonClient } from './context.ts';
import type { Journal } from './journal.ts';
import { PassLoop, type PassCause, type PassOutcome } from './loop.ts';
import type { Metrics } from './metrics.ts';
import { Newest } from './newest.ts';
import { passEntry } from './pass-entry.ts';
import { logChange, logFinished, logFound, logInvalid, logStarted, type PassId } from './pass-log.ts';
import { startSchedule } from './schedule.ts';
import type { Updates } from './updates.ts';
import { watchTemplates } from './watch.ts';

export interface RunnerOptions {
  readonly client: DaemonClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Told of what each pass found, or why there was none. */
  readonly onSight: (sight: PassSight) => void;
  /** For those who look at the daemon: what its passes did, and that there is something new. */
  readonly journal: Journal;
  readonly updates: Updates;
  /** Waits until one more pass may run beside those of other clients. */
  readonly turn: <T>(task: () => Promise<T>) => Promise<T>;
}

/** What asks for passes by itself. */
interface Feed {
  /** When the schedule does. */
  readonly next: () => Date;
  readonly close: () => Promise<void>;
}

/** One client in the daemon: its passes, what asks for them, and what they found. */
export class Runner {
  readonly #options: RunnerOptions;
  /** For lines that are not of one pass. */
  readonly #log: Logger;
  readonly #loop: PassLoop;
  readonly #newest = new Newest();
  #client: DaemonClient;
  /** Takes the client's place before the next pass. */
  #successor: DaemonClient | null = null;
  #feed: Feed | null = null;
  /** Whether templates and service were ever read. */
  #wasRead = false;
  /** Whether the last pass could not even begin, for want of memory, say: nothing that the service could mend. */
  #isStuck = false;
  #hindrance: string | null = null;
  readonly #answers: AnswersRounds;
  #hasAsked = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#log = options.log.child({ client: options.client.settings.name });
    this.#loop = new PassLoop({
      log: this.#log,
      onState: options.updates.changed,
      pass: (cause, signal) => options.turn(() => this.#pass(cause, signal)),
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
    const { result } = this.#newest;
    return result && this.#answers.addTo(result);
  }

  /** What the files say of its templates, for a page. */
  get templates(): Pick<Newest, 'described'> {
    return this.#newest;
  }

  get state(): ClientState {
    return clientState({
      client: this.#client.settings.name,
      loop: this.#loop.state,
      isReady: this.#wasRead && !this.#isStuck,
      hindrance: this.#hindrance,
      newest: this.#newest.result,
      nextScheduled: this.#feed?.next() ?? null,
    });
  }

  /** From now on, changed files and the schedule ask for passes. */
  async start(): Promise<void> {
    const { look, settings } = this.#client;
    const { templates: paths, schedule: expression, answersSchedule, timezone } = settings;
    const watcher = await watchTemplates({
      paths,
      look,
      onChange: () => this.trigger('file-change'),
      log: this.#log,
    });
    const schedule = startSchedule({ expression, timezone, onTime: () => this.trigger('schedule') });
    const rounds = startSchedule({
      expression: answersSchedule,
      timezone,
      onTime: () => this.#answers.start(),
    });
    this.#feed = {
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

  /** The same client with other settings: what runs ends as it began, and the next pass is made with these. */
  async replace(client: DaemonClient): Promise<void> {
    const skipped = this.#successor;
    this.#successor = client;
    await skipped?.close();
  }

  /** The write in flight is given its time; what was only being read is not waited for. */
  async close(): Promise<void> {
    const ended = Promise.all([this.#loop.close(), this.#answers.close()]);
    await this.#client.close();
    await ended;
    await this.#feed?.close();
    await this.#successor?.close();
  }

  async #pass(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    if (this.#successor) await this.#changeOver(this.#successor);
    if (signal.aborted) return 'failed';

    const id = { client: this.#client.settings.name, run: randomUUID(), trigger: cause.trigger };
    const started = performance.now();
    const { log, metrics } = this.#options;
    try {
      const result = await this.#compare(cause, id, signal);
      return this.#takeOver(result, id, signal.aborted);
    } catch (error) {
      const message = messageOf(error);
      if (error instanceof LockedError && this.#hindrance !== message) {
        this.#log.info(
          { event: 'pass.waiting', trigger: id.trigger, reason: message },
          'the pass has to wait',
        );
      }
      this.#hindrance = message;
      if (error instanceof LockedError) return 'busy';
      this.#isStuck = true;
      const durationMs = Math.round(performance.now() - started);
      const report = { ...assembleReport([]), status: 'failed', durationMs } as const;
      logFinished(report, message, id, signal.aborted, log);
      metrics.countPass({ ...id, ...report }, null);
      this.#options.journal.add(passEntry(id, report, null, message));
      const at = new Date(Date.now() - durationMs).toISOString();
      this.#options.onSight({
        ...id,
        at,
        result: null,
        failure: message,
        gone: [],
        isEnding: signal.aborted,
      });
      if (error instanceof UserError) return 'failed';
      throw error;
    }
  }

  async #changeOver(successor: DaemonClient): Promise<void> {
    const [former, feed] = [this.#client, this.#feed];
    this.#client = successor;
    this.#successor = null;
    this.#hasAsked = false;
    await Promise.all([former.close(), feed?.close()]);
    await this.start();
  }

  #compare({ isWhole }: PassCause, id: PassId, signal: AbortSignal): Promise<PassResult> {
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
        return this.#newest.begin(desired, isWhole);
      },
      onChange: (change) => {
        logChange(change, id, log);
        metrics.countChange(id.client, change);
        this.#options.updates.changed();
      },
    });
  }

  #takeOver(result: PassResult, id: PassId, isEnding: boolean): PassOutcome {
    const { log, metrics, journal } = this.#options;
    const gone = this.#newest.take(result);
    for (const template of gone) {
      this.#log.warn(
        { event: 'template.unmanaged', template },
        'no file describes this template any more: it is left as it is',
      );
    }
    this.#hindrance = result.halted;
    this.#wasRead ||= result.wasRead === true && isLoaded(result);
    this.#isStuck = false;
    const report = assembleReport([result]);
    logFound(result, id, isEnding, log);
    logFinished(report, result.halted, id, isEnding, log);
    metrics.countPass({ ...id, ...report }, this.#newest.result);
    const seen = result.wasRead === true ? this.#newest.result : null;
    journal.add(passEntry(id, report, seen, result.halted));
    const shown = this.#answers.addTo(result);
    this.#options.onSight({ ...id, at: result.startedAt, result: shown, failure: null, gone, isEnding });
    this.#askFirst(isEnding);
    return outcomeOf(result);
  }

  /** Whoever starts the program, or changes its settings, is not to wait for the schedule. */
  #askFirst(isEnding: boolean): void {
    if (this.#hasAsked || isEnding) return;
    this.#hasAsked = true;
    this.#answers.start();
  }

  #takeAnswers(known: KnownAnswers): void {
    const { metrics, updates, onSight } = this.#options;
    const client = this.#client.settings.name;
    metrics.countAnswers(client, known);
    updates.changed();
    const { newest } = this;
    if (newest === null) return;
    const result = { ...newest, templates: newest.templates.map(withoutApplied) };
    const run = randomUUID();
    const at = new Date().toISOString();
    onSight({ client, run, at, result, failure: null, gone: [], isEnding: false });
  }
}

/** What a pass wrote was told after it. */
const withoutApplied = (template: TemplateResult): TemplateResult => ({
  ...template,
  differences: template.differences.filter(({ outcome }) => outcome !== 'applied'),
});

/** Whether there was anything to read of the templates, or nothing is how it is meant to be. */
const isLoaded = ({ templates, problems }: PassResult): boolean => {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (templates.length === 0) return errors.length === 0;
  return errors.every(({ check }) => check !== 'no-templates');
};

/** A template that fails for itself delays nobody: trying again helps where the service could not be used. */
const outcomeOf = ({ halted, retryAt }: PassResult): PassOutcome => {
  if (halted === null) return 'ok';
  return retryAt === null ? 'failed' : { failedUntil: Date.parse(retryAt) };
};
