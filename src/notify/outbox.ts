import { randomUUID } from 'node:crypto';
import {
  changeOf,
  isSubscribed,
  mergeChanges,
  type HealthChange,
  type Occasion,
  type LastNotified,
} from './health-change.ts';
import type { Delivery } from './delivery.ts';
import { healthsOf, type PassEvent, type TemplateHealth } from './health.ts';

/** The last messages to one receiver about templates, stored across restarts. Template null: the client as a whole. */
export interface NotifiedStore {
  readonly get: (client: string, template: string | null) => LastNotified;
  readonly set: (client: string, template: string | null, lastNotified: LastNotified) => void;
  readonly forget: (client: string) => void;
}

/**
 * The undelivered changes of one receiver: one for each template, with its newest state, so that it never
 * grows beyond their number. The message in flight stays as it is; later changes wait for the next one.
 */
export class Outbox {
  readonly #notified: NotifiedStore;
  readonly #waiting = new Map<string, QueuedChange>();
  #inFlight: Delivery | null = null;

  constructor(lastNotified: NotifiedStore) {
    this.#notified = lastNotified;
  }

  /** How many changes are undelivered. */
  get size(): number {
    return this.#waiting.size + (this.#inFlight?.changes.length ?? 0);
  }

  /** Adds what is new in a pass. Returns how many changes were dropped because the outbox is full. */
  enqueue(passEvent: PassEvent, on: readonly Occasion[], delay: NotifyDelay = { after: 0, now: 0 }): number {
    for (const health of healthsOf(passEvent)) this.#enqueueHealth(health, passEvent, on, delay);
    const surplus = [...this.#waiting.keys()].slice(0, Math.max(0, this.#waiting.size - maxWaiting));
    for (const key of surplus) this.#waiting.delete(key);
    return surplus.length;
  }

  /** The message in flight, else the next one; null if there is nothing to send. */
  next(now = Number.POSITIVE_INFINITY): Delivery | null {
    if (this.#inFlight !== null) return this.#inFlight;
    const next = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= now).slice(0, maxBatch);
    if (next.length === 0) return null;
    for (const [key] of next) this.#waiting.delete(key);
    const changes = next.map(([, { change }]) => change);
    this.#inFlight = { id: randomUUID(), createdAt: new Date(), changes };
    return this.#inFlight;
  }

  /** When the next change is due, in ms since the epoch; null if there is nothing to send. */
  dueAt(): number | null {
    if (this.#inFlight !== null) return 0;
    return this.#waiting.size === 0
      ? null
      : Math.min(...[...this.#waiting.values()].map(({ dueAt }) => dueAt));
  }

  /** The message in flight was delivered or dropped. */
  done(): void {
    for (const { client, health } of this.#inFlight?.changes ?? [])
      this.#notified.set(client, health.template, health);
    this.#inFlight = null;
  }

  /** Forgets a client: its waiting changes and its last messages. */
  forget(client: string): void {
    for (const [key, { change }] of this.#waiting) if (change.client === client) this.#waiting.delete(key);
    this.#notified.forget(client);
  }

  #enqueueHealth(
    health: TemplateHealth,
    passEvent: PassEvent,
    on: readonly Occasion[],
    { after, now }: NotifyDelay,
  ): void {
    const { client } = passEvent;
    const { template } = health;
    const key = JSON.stringify([client, template]);
    const waiting = this.#waiting.get(key);
    const sent = this.#inFlight?.changes.find(
      (one) => one.client === client && one.health.template === template,
    );
    const lastNotified = sent?.health ?? this.#notified.get(client, template);
    // It did not last as long as the receiver requires, so it is not sent.
    if (
      waiting &&
      waiting.dueAt > now &&
      changeOf(lastNotified, { ...health, corrected: [] }, passEvent) === null
    ) {
      this.#waiting.delete(key);
      return;
    }
    const change = changeOf(waiting?.change.health ?? lastNotified, health, passEvent);
    if (change === null) {
      // Nothing new. Differences that ended are forgotten, so that they are new if they return.
      if (waiting) this.#waiting.set(key, { ...waiting, change: { ...waiting.change, health } });
      else if (!sent) this.#notified.set(client, template, health);
    } else if (isSubscribed(change, on) && !(after > 0 && change.event === 'mended')) {
      const dueAt = change.event === 'cleared' ? now : now + after;
      this.#waiting.set(
        key,
        waiting ? { change: mergeChanges(waiting.change, change), dueAt: waiting.dueAt } : { change, dueAt },
      );
    }
  }
}

/** A waiting change, and when it is due, in ms since the epoch. */
interface QueuedChange {
  readonly change: HealthChange;
  readonly dueAt: number;
}

/** How long a change has to last, in milliseconds, and the time of the pass that saw it, in ms since the epoch. */
interface NotifyDelay {
  readonly after: number;
  readonly now: number;
}

/** Changes in one message: Slack takes 50 blocks. */
const maxBatch = 20;
/** More templates than anybody has. */
const maxWaiting = 10_000;
