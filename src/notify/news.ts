import { randomUUID } from 'node:crypto';
import { changeOf, isWanted, mergeChanges, type NewsChange, type Occasion, type Told } from './change.ts';
import type { Delivery } from './delivery.ts';
import { standingsOf, type PassSight, type Standing } from './standing.ts';

/** What one receiver has been told of templates, beyond the life of this process. A client's own template is null. */
export interface ToldStore {
  readonly get: (client: string, template: string | null) => Told;
  readonly set: (client: string, template: string | null, told: Told) => void;
  readonly forget: (client: string) => void;
}

/**
 * What one receiver is still to be told: by template, the newest state of each, so that it never grows beyond their
 * number. What is under way stays as it is; what comes meanwhile waits for the next message.
 */
export class News {
  readonly #told: ToldStore;
  readonly #waiting = new Map<string, WaitingNews>();
  #underWay: Delivery | null = null;

  constructor(told: ToldStore) {
    this.#told = told;
  }

  /** How many changes are not told yet. */
  get size(): number {
    return this.#waiting.size + (this.#underWay?.changes.length ?? 0);
  }

  /** Takes up what is new in a pass. Gives how many changes had to be dropped for want of room. */
  take(sight: PassSight, on: readonly Occasion[], patience: NewsDelay = { after: 0, now: 0 }): number {
    for (const standing of standingsOf(sight)) this.#takeStanding(standing, sight, on, patience);
    const surplus = [...this.#waiting.keys()].slice(0, Math.max(0, this.#waiting.size - maxWaiting));
    for (const key of surplus) this.#waiting.delete(key);
    return surplus.length;
  }

  /** What is under way, or else the next message; null where there is nothing to tell. */
  next(now = Number.POSITIVE_INFINITY): Delivery | null {
    if (this.#underWay !== null) return this.#underWay;
    const next = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= now).slice(0, maxBatch);
    if (next.length === 0) return null;
    for (const [key] of next) this.#waiting.delete(key);
    const changes = next.map(([, { change }]) => change);
    this.#underWay = { id: randomUUID(), createdAt: new Date(), changes };
    return this.#underWay;
  }

  /** When the first of it may be told, in ms since the epoch; null where there is nothing to tell. */
  dueAt(): number | null {
    if (this.#underWay !== null) return 0;
    return this.#waiting.size === 0
      ? null
      : Math.min(...[...this.#waiting.values()].map(({ dueAt }) => dueAt));
  }

  /** What was under way is told, or given up. */
  done(): void {
    for (const { client, standing } of this.#underWay?.changes ?? [])
      this.#told.set(client, standing.template, standing);
    this.#underWay = null;
  }

  /** No message about this client is made any more; of what was told, nothing is kept. */
  forget(client: string): void {
    for (const [key, { change }] of this.#waiting) if (change.client === client) this.#waiting.delete(key);
    this.#told.forget(client);
  }

  #takeStanding(
    standing: Standing,
    sight: PassSight,
    on: readonly Occasion[],
    { after, now }: NewsDelay,
  ): void {
    const { client } = sight;
    const { template } = standing;
    const key = JSON.stringify([client, template]);
    const waiting = this.#waiting.get(key);
    const sent = this.#underWay?.changes.find(
      (one) => one.client === client && one.standing.template === template,
    );
    const told = sent?.standing ?? this.#told.get(client, template);
    // It did not last: whoever was to be told only of what does needs not hear of its end.
    if (waiting && waiting.dueAt > now && changeOf(told, { ...standing, mended: [] }, sight) === null) {
      this.#waiting.delete(key);
      return;
    }
    const change = changeOf(waiting?.change.standing ?? told, standing, sight);
    if (change === null) {
      // As it was told, or less: what has gone is news when it comes again.
      if (waiting) this.#waiting.set(key, { ...waiting, change: { ...waiting.change, standing } });
      else if (!sent) this.#told.set(client, template, standing);
    } else if (isWanted(change, on) && !(after > 0 && change.event === 'mended')) {
      const dueAt = change.event === 'cleared' ? now : now + after;
      this.#waiting.set(
        key,
        waiting ? { change: mergeChanges(waiting.change, change), dueAt: waiting.dueAt } : { change, dueAt },
      );
    }
  }
}

/** News that wait to be told, and from when on they may be, in ms since the epoch. */
interface WaitingNews {
  readonly change: NewsChange;
  readonly dueAt: number;
}

/** How long something has to last, in milliseconds, and the time of the pass that saw it, in ms since the epoch. */
interface NewsDelay {
  readonly after: number;
  readonly now: number;
}

/** Changes in one message: Slack takes 50 blocks. */
const maxBatch = 20;
/** Nobody has more templates than that. */
const maxWaiting = 10_000;
