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

/** What one receiver has been told of templates, beyond the life of this process. A client's own template is null. */
export interface NotifiedStore {
  readonly get: (client: string, template: string | null) => LastNotified;
  readonly set: (client: string, template: string | null, lastNotified: LastNotified) => void;
  readonly forget: (client: string) => void;
}

/**
 * What one receiver is still to be told: by template, the newest state of each, so that it never grows beyond their
 * number. What is under way stays as it is; what comes meanwhile waits for the next message.
 */
export class Outbox {
  readonly #notified: NotifiedStore;
  readonly #waiting = new Map<string, QueuedChange>();
  #inFlight: Delivery | null = null;

  constructor(lastNotified: NotifiedStore) {
    this.#notified = lastNotified;
  }

  /** How many changes are not told yet. */
  get size(): number {
    return this.#waiting.size + (this.#inFlight?.changes.length ?? 0);
  }

  /** Takes up what is new in a pass. Gives how many changes had to be dropped for want of room. */
  enqueue(passEvent: PassEvent, on: readonly Occasion[], delay: NotifyDelay = { after: 0, now: 0 }): number {
    for (const health of healthsOf(passEvent)) this.#enqueueHealth(health, passEvent, on, delay);
    const surplus = [...this.#waiting.keys()].slice(0, Math.max(0, this.#waiting.size - maxWaiting));
    for (const key of surplus) this.#waiting.delete(key);
    return surplus.length;
  }

  /** What is under way, or else the next message; null where there is nothing to tell. */
  next(now = Number.POSITIVE_INFINITY): Delivery | null {
    if (this.#inFlight !== null) return this.#inFlight;
    const next = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= now).slice(0, maxBatch);
    if (next.length === 0) return null;
    for (const [key] of next) this.#waiting.delete(key);
    const changes = next.map(([, { change }]) => change);
    this.#inFlight = { id: randomUUID(), createdAt: new Date(), changes };
    return this.#inFlight;
  }

  /** When the first of it may be told, in ms since the epoch; null where there is nothing to tell. */
  dueAt(): number | null {
    if (this.#inFlight !== null) return 0;
    return this.#waiting.size === 0
      ? null
      : Math.min(...[...this.#waiting.values()].map(({ dueAt }) => dueAt));
  }

  /** What was under way is told, or given up. */
  done(): void {
    for (const { client, health } of this.#inFlight?.changes ?? [])
      this.#notified.set(client, health.template, health);
    this.#inFlight = null;
  }

  /** No message about this client is made any more; of what was told, nothing is kept. */
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
    // It did not last: whoever was to be told only of what does needs not hear of its end.
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
      // As it was told, or less: what has gone is news when it comes again.
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

/** News that wait to be told, and from when on they may be, in ms since the epoch. */
interface QueuedChange {
  readonly change: HealthChange;
  readonly dueAt: number;
}

/** How long something has to last, in milliseconds, and the time of the pass that saw it, in ms since the epoch. */
interface NotifyDelay {
  readonly after: number;
  readonly now: number;
}

/** Changes in one message: Slack takes 50 blocks. */
const maxBatch = 20;
/** Nobody has more templates than that. */
const maxWaiting = 10_000;
