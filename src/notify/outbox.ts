import { randomUUID } from 'node:crypto';
import type { Occasion, LastNotified } from './health-change.ts';
import type { Delivery } from './delivery.ts';
import { healthsOf, type PassEvent, type TemplateHealth } from './health.ts';
import { entryAfter, type NotifyDelay, type OutboxEntry, type QueuedChange } from './outbox-entry.ts';

/** The last messages to one receiver about templates, stored across restarts. Template null: the client as a whole. */
export interface NotifiedStore {
  readonly get: (client: string, template: string | null) => LastNotified;
  readonly set: (client: string, template: string | null, lastNotified: LastNotified) => void;
  readonly forget: (client: string) => void;
}

/** The undelivered changes of one receiver: at most one in flight and one waiting for each template. */
export interface Outbox {
  /** How many changes are undelivered, and would be lost with this process. */
  readonly size: number;
  /** Adds what is new in a pass. Returns how many changes were dropped because the outbox is full. */
  enqueue(passEvent: PassEvent, on: readonly Occasion[], delay?: NotifyDelay): number;
  /** The message in flight, else the next one that is due; null if there is nothing to send. */
  next(now?: number): Delivery | null | Promise<Delivery | null>;
  /** When to ask for the next message, in ms since the epoch; null if there is nothing to send. */
  dueAt(): number | null;
  /** Whether this process is to send the message in flight. */
  mayBeSent(): boolean;
  /** The message in flight was delivered or dropped. */
  done(): void | Promise<void>;
  /** Forgets a client: its waiting changes and its last messages. */
  forget(client: string): void;
}

/** The outboxes of all receivers. */
export interface Outboxes {
  of(receiver: string): Outbox;
  close(): Promise<void>;
}

/**
 * One whose waiting changes are in memory, with their newest state, so that it never grows beyond their number. The
 * message in flight stays as it is; later changes wait for the next one.
 */
export class LocalOutbox implements Outbox {
  readonly #notified: NotifiedStore;
  readonly #waiting = new Map<string, QueuedChange>();
  #inFlight: Delivery | null = null;

  constructor(lastNotified: NotifiedStore) {
    this.#notified = lastNotified;
  }

  get size(): number {
    return this.#waiting.size + (this.#inFlight?.changes.length ?? 0);
  }

  enqueue(passEvent: PassEvent, on: readonly Occasion[], delay: NotifyDelay = { after: 0, now: 0 }): number {
    for (const health of healthsOf(passEvent)) this.#enqueueHealth(health, passEvent, on, delay);
    const surplus = [...this.#waiting.keys()].slice(0, Math.max(0, this.#waiting.size - maxWaiting));
    for (const key of surplus) this.#waiting.delete(key);
    return surplus.length;
  }

  next(now = Number.POSITIVE_INFINITY): Delivery | null {
    if (this.#inFlight !== null) return this.#inFlight;
    const next = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= now).slice(0, maxBatch);
    if (next.length === 0) return null;
    for (const [key] of next) this.#waiting.delete(key);
    const changes = next.map(([, { change }]) => change);
    this.#inFlight = { id: randomUUID(), createdAt: new Date(), changes };
    return this.#inFlight;
  }

  dueAt(): number | null {
    if (this.#inFlight !== null) return 0;
    return this.#waiting.size === 0
      ? null
      : Math.min(...[...this.#waiting.values()].map(({ dueAt }) => dueAt));
  }

  mayBeSent(): boolean {
    return true;
  }

  done(): void {
    for (const { client, health } of this.#inFlight?.changes ?? [])
      this.#notified.set(client, health.template, health);
    this.#inFlight = null;
  }

  forget(client: string): void {
    for (const [key, { change }] of this.#waiting) if (change.client === client) this.#waiting.delete(key);
    this.#notified.forget(client);
  }

  #enqueueHealth(
    health: TemplateHealth,
    passEvent: PassEvent,
    on: readonly Occasion[],
    delay: NotifyDelay,
  ): void {
    const { client } = passEvent;
    const { template } = health;
    const key = JSON.stringify([client, template]);
    const before: OutboxEntry = {
      lastNotified: this.#notified.get(client, template),
      waiting: this.#waiting.get(key) ?? null,
      sent:
        this.#inFlight?.changes.find((one) => one.client === client && one.health.template === template) ??
        null,
    };
    const after = entryAfter(before, health, passEvent, on, delay);
    if (after.waiting === null) this.#waiting.delete(key);
    else this.#waiting.set(key, after.waiting);
    if (after.lastNotified !== before.lastNotified) this.#notified.set(client, template, after.lastNotified);
  }
}

/** Changes in one message: Slack takes 50 blocks. */
export const maxBatch = 20;
/** More templates than anybody has. */
const maxWaiting = 10_000;
