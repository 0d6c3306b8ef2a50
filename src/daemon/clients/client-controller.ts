import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import type { Membership, PassReport } from '../../cluster/membership.ts';
import { LockedError, messageOf, UserError } from '../../errors.ts';
import { withDeadline } from '../../lib/sleep.ts';
import { withAnswers, type KnownAnswers } from '../../report/answers.ts';
import { withoutApplied, type PassResult, type Trigger } from '../../result.ts';
import { watchFiles } from '../../source/watch.ts';
import type { DaemonClient, DaemonContext, Listeners } from '../context.ts';
import { PassLoop, type PassCause, type PassOutcome } from '../passes/loop.ts';
import { passRecord } from '../passes/pass-record.ts';
import { startSchedule } from '../passes/schedule.ts';
import { KnownState } from './known.ts';

interface ClientControllerOptions extends Pick<DaemonContext, 'fleet' | 'log'> {
  readonly client: DaemonClient;
  readonly listeners: Listeners;
  /** Limits how many clients' passes run at the same time: of all, and of those of one hosting server. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>;
}

/** One client in the daemon: what starts its passes, and what they found. */
export class ClientController {
  readonly name: string;
  readonly known = new KnownState();
  /** Its settings may be replaced by others. */
  client: DaemonClient;
  readonly #options: ClientControllerOptions;
  /** For log lines that belong to no pass. */
  readonly #log: Logger;
  readonly #membership: Membership;
  /** What makes passes, and what starts them; null where another process makes them. */
  #loop: PassLoop | null = null;
  #triggers: Triggers | null = null;
  /** The one that has a pass now; it may have been replaced meanwhile. */
  #busy: DaemonClient | null = null;
  /** A round over the name servers. Passes do not wait for it, and it starts none. */
  #asking: { readonly stop: () => void; readonly ended: Promise<void> } | null = null;
  /** After a start and after new settings, name servers are asked at once rather than on schedule. */
  #mustAsk = false;
  /** What is suspended of it, as JSON. */
  #suspended = '[]';
  /** When another pass may write changes that wait, in ms since the epoch; null if none do. */
  #dueAt: number | null = null;

  constructor(options: ClientControllerOptions) {
    const { client, fleet, log } = options;
    this.#options = options;
    this.client = client;
    this.name = client.settings.name;
    this.#log = log.child({ client: this.name });
    this.#membership = fleet.join({
      name: this.name,
      baseUrl: () => this.client.settings.baseUrl,
      scope: () => this.client.savedAt.scope,
      files: () => this.client.files(),
      token: () => this.client.token(),
      listTemplateIds: () => this.client.listTemplateIds(),
      own: (first) => this.#own(first),
      disown: () => this.#disown(),
      isBusy: () => this.#busy !== null,
      request: (run) => this.#loop !== null && this.#loop.trigger('request', run) !== null,
    });
  }

  get state() {
    const loop = this.#loop?.state ?? { running: null, waiting: null, failures: 0, backoffUntil: null };
    const { trouble } = this.#membership;
    return {
      client: this.name,
      ...this.known.health(this.#options.fleet.trouble ?? trouble),
      ...loop,
      isReady: trouble === null && this.known.isReady,
      nextScheduled: this.#triggers?.next() ?? null,
      lastPass: this.known.lastPass,
    };
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

  /** Has a pass if that is something else than before: nothing else would ask for one before the schedule does. */
  noteSuspended(suspended: string): void {
    if (this.#suspended !== suspended) this.trigger('request');
    this.#suspended = suspended;
  }

  /** Shows a pass that another process has made. */
  adopt(report: PassReport): void {
    const { day, changeFeed } = this.#options.listeners;
    this.known.adopt(report);
    day.add(report.entry);
    changeFeed.changed();
  }

  /** The same client with new settings. A running pass keeps the old ones; the next pass uses these. */
  async replace(client: DaemonClient): Promise<void> {
    const [previous, triggers] = [this.client, this.#triggers];
    this.client = client;
    this.#mustAsk = true;
    if (triggers !== null) this.#triggers = this.#startTriggers();
    await Promise.all([triggers?.close(), this.#busy === previous ? null : previous.close()]);
  }

  /** Waits for the write in flight, but not for reads. */
  async close(): Promise<void> {
    this.#asking?.stop();
    await Promise.all([
      this.#membership.leave(),
      this.#asking?.ended,
      this.#busy?.close(),
      this.client.close(),
    ]);
  }

  #own(first: Trigger | null): void {
    this.#loop = new PassLoop({
      log: this.#log,
      onState: this.#options.listeners.changeFeed.changed,
      dueAt: () => this.#dueAt,
      pass: (cause, signal) => this.#passInTurn(cause, signal),
    });
    this.#mustAsk = true;
    this.#triggers = this.#startTriggers();
    if (first !== null) this.#loop.trigger(first);
  }

  async #disown(): Promise<void> {
    const [loop, triggers] = [this.#loop, this.#triggers];
    this.#loop = this.#triggers = null;
    const ended = loop?.close();
    // A pass that waits for its turn has not begun, and never will.
    if (this.#busy !== null) await ended;
    await triggers?.close();
    this.#options.listeners.changeFeed.changed();
  }

  #startTriggers(): Triggers {
    const { templates, cwd, schedule, answersSchedule, timezone } = this.client.settings;
    // There may be thousands of clients where processes share them.
    const spread = this.#options.fleet.isShared ? this.name : null;
    const start = (expression: string, onTime: () => void) =>
      startSchedule({ expression, timezone, spread, onTime });
    const passes = start(schedule, () => this.trigger('schedule'));
    const rounds = start(answersSchedule, () => this.#ask());
    const watcher = watchFiles({
      paths: templates.map((one) => path.resolve(cwd, one)),
      look: this.client.look,
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

  #passInTurn(cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    const askedAt = performance.now();
    const { inTurn, fleet, listeners } = this.#options;
    return inTurn(async () => {
      if (signal.aborted) return 'failed';
      if (fleet.isShared) listeners.metrics.countLateness(performance.now() - askedAt);
      const { client } = this;
      this.#busy = client;
      try {
        if (!(await this.#membership.mayPass())) return 'busy';
        return signal.aborted ? 'failed' : await this.#pass(client, cause, signal);
      } finally {
        this.#busy = null;
        if (client !== this.client) await client.close();
      }
    });
  }

  async #pass(client: DaemonClient, cause: PassCause, signal: AbortSignal): Promise<PassOutcome> {
    const { log, listeners } = this.#options;
    const record = passRecord({ client: this.name, ...cause }, log);
    const started = performance.now();
    let result: PassResult | null = null;
    let error: unknown = null;
    try {
      result = await client.pass({
        ...cause,
        signal,
        onStart: record.started,
        onDesired: (desired) => {
          record.invalid(desired);
          this.known.begin(desired);
        },
        onChange: (change) => {
          record.change(change);
          listeners.metrics.countChange(this.name, change);
          listeners.changeFeed.changed();
        },
      });
    } catch (caught) {
      error = caught;
    }
    const failure = result === null ? messageOf(error) : null;
    if (error instanceof LockedError) {
      if (this.known.lastError !== failure) record.waiting(error.message);
      this.known.lastError = failure;
      return 'busy';
    }
    const durationMs = result?.durationMs ?? Math.round(performance.now() - started);
    const event = {
      client: this.name,
      run: cause.run,
      at: result?.startedAt ?? new Date(Date.now() - durationMs).toISOString(),
      removed: this.known.add(result, failure ?? result?.holdReason ?? null),
      hasAll: result !== null && result.templates.length > 0 && this.known.unknownPlace === null,
      result: result && withAnswers(result, this.known.answers),
      failure,
      isEnding: signal.aborted,
    };
    if (result !== null) this.#dueAt = dueAfter(this.known.newest ?? result);
    const entry = await record.ended(event, durationMs, () => listeners.notifier.publish(event));
    listeners.metrics.countPass(entry);
    listeners.day.add(entry);
    this.known.end(entry);
    const { newest, lastError, isReady } = this.known;
    if (this.#mustAsk && newest !== null && !signal.aborted) this.#ask();
    this.#membership.passed({ entry, latest: result && newest, lastError, isReady });
    if (result === null && !(error instanceof UserError)) throw error;
    return result === null ? 'failed' : outcomeOf(result);
  }

  /** A round over the name servers, unless one runs. */
  #ask(): void {
    this.#mustAsk = false;
    if (this.#asking !== null) return;
    const stopping = new AbortController();
    const ended = this.#askUntil(stopping.signal).finally(() => (this.#asking = null));
    this.#asking = { stop: () => stopping.abort(), ended };
  }

  async #askUntil(signal: AbortSignal): Promise<void> {
    const started = performance.now();
    const previous = this.known.answers;
    try {
      const answers = await withDeadline(longestRound, signal, (deadline) =>
        this.client.askNameServers({ signal: deadline, previous }),
      );
      if (signal.aborted || answers.size + previous.size === 0) return;
      this.known.answers = answers;
      const durationMs = Math.round(performance.now() - started);
      const fields = { event: 'answers.finished', durationMs, subdomains: countsOf(answers) };
      this.#log.info(fields, 'name servers asked');
      this.#tellAnswers();
    } catch (error) {
      const fields = { event: 'answers.error', err: error };
      this.#log.error(fields, 'name servers could not be asked: unexpected error');
    }
  }

  #tellAnswers(): void {
    const { newest, lastError } = this.known;
    const { changeFeed, notifier } = this.#options.listeners;
    changeFeed.changed();
    // After a pass that could not be made, what older ones found would say that all works again: the next one tells the answers too.
    if (newest === null || (lastError !== null && lastError !== newest.holdReason)) return;
    // The event of the pass itself has reported what it wrote.
    const result = { ...newest, templates: newest.templates.map(withoutApplied) };
    const of = { client: this.name, run: randomUUID(), at: new Date().toISOString() };
    void notifier.publish({ ...of, result, failure: null, removed: [], hasAll: false, isEnding: false });
  }
}

/** The watcher and the schedules. */
interface Triggers {
  /** When the next pass is scheduled. */
  readonly next: () => Date;
  readonly close: () => Promise<void>;
}

/**
 * Milliseconds. What was not asked by then keeps its previous answers, and comes first in the next round.
 */
const longestRound = 30 * 60_000;

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

/** How many subdomains are in each state; those that could not be asked have failed, whatever they answered before. */
const countsOf = (answers: KnownAnswers): Readonly<Record<string, number>> => {
  const counts = { 'in-sync': 0, pending: 0, drifted: 0, failed: 0 };
  for (const { status, message } of answers.values()) {
    if (message !== undefined) counts.failed += 1;
    else if (status !== 'off') counts[status] += 1;
  }
  return counts;
};
