import type { Logger } from 'pino';
import { withDeadline } from '../../lib/sleep.ts';
import { answersIn, withAnswers, type KnownAnswers } from '../../report/answers.ts';
import type { PassResult } from '../../result.ts';

interface AnswersRoundsOptions {
  /** Asks the name servers of the client's subdomains. */
  readonly ask: (signal: AbortSignal, previous: KnownAnswers) => Promise<KnownAnswers>;
  /** Called when a round has ended. */
  readonly onEnd: () => void;
  readonly log: Logger;
}

/** Rounds over the name servers of one client, one at a time. Passes do not wait for rounds, and rounds start no pass. */
export class AnswersRounds {
  readonly #options: AnswersRoundsOptions;
  readonly #closing = new AbortController();
  #known: KnownAnswers = new Map();
  #running: Promise<void> | null = null;

  constructor(options: AnswersRoundsOptions) {
    this.#options = options;
  }

  /** Does nothing while a round runs. */
  start(): void {
    if (this.#closing.signal.aborted) return;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Adds the last answers to a pass. */
  addTo(pass: PassResult): PassResult {
    return withAnswers(pass, this.#known);
  }

  /** The answers of a pass that another process has made, which asks from now on. */
  adopt(pass: PassResult): void {
    this.#known = answersIn(pass);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { ask, onEnd, log } = this.#options;
    const { signal } = this.#closing;
    const started = performance.now();
    try {
      const known = await withDeadline(longestRound, signal, (deadline) => ask(deadline, this.#known));
      if (signal.aborted) return;
      const isNothing = known.size + this.#known.size === 0;
      this.#known = known;
      if (isNothing) return;
      const durationMs = Math.round(performance.now() - started);
      log.info({ event: 'answers.finished', durationMs, subdomains: countsOf(known) }, 'name servers asked');
      onEnd();
    } catch (error) {
      log.error({ event: 'answers.error', err: error }, 'name servers could not be asked: unexpected error');
    }
  }
}

/**
 * Milliseconds. What was not asked by then keeps its previous answers, and comes first in the next round.
 */
const longestRound = 30 * 60_000;

/** How many subdomains are in each state; those that could not be asked have failed, whatever they answered before. */
const countsOf = (known: KnownAnswers): Readonly<Record<string, number>> => {
  const counts = { 'in-sync': 0, pending: 0, drifted: 0, failed: 0 };
  for (const { status, message } of known.values()) {
    if (message !== undefined) counts.failed += 1;
    else if (status !== 'off') counts[status] += 1;
  }
  return counts;
};
