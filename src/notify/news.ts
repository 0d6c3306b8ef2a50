import type { HealthState, PassEvent, TemplateHealth } from './health.ts';

/** What a receiver can subscribe to; it also gets the end of each. */
export const occasions = ['drift', 'suspended', 'held', 'failed', 'unknown'] as const;
export type Occasion = (typeof occasions)[number];

/** `mended`: drift that came and went within one pass. */
export const events = [...occasions, 'mended', 'cleared'] as const;

/** A change of health of one template, or of a client as a whole. */
export interface HealthChange {
  readonly event: (typeof events)[number];
  readonly client: string;
  readonly health: TemplateHealth;
  /** Its state in the last message to the receiver. */
  readonly previous: HealthState;
  /** How many changes are merged into this one: all that came while the receiver could not be reached. */
  readonly merged: number;
  /** The pass that saw it. */
  readonly run: string;
  readonly at: string;
}

/** A message to one receiver. Its id and changes stay the same over all attempts. */
export interface Delivery {
  readonly id: string;
  readonly createdAt: Date;
  readonly changes: readonly HealthChange[];
}

/** The last state of one template that a receiver was told: enough to know what is new to it. */
export type LastNotified = Pick<TemplateHealth, 'state' | 'keys'>;

/** What one receiver was told, and is to be told, about one template or about a client as a whole. */
export interface News {
  readonly lastNotified: LastNotified;
  /** `dueAt`: when the change is to be sent, in ms since the epoch. */
  readonly next: { readonly change: HealthChange; readonly dueAt: number } | null;
  /** In the message in flight. */
  readonly begun: HealthChange | null;
}

/**
 * After a pass in which the template had this health. `after`: how long a change has to last, in milliseconds; `now`: the
 * time of the pass, in ms since the epoch.
 */
export const newsAfter = (
  news: News,
  health: TemplateHealth,
  passEvent: PassEvent,
  { on, after, now }: { readonly on: readonly Occasion[]; readonly after: number; readonly now: number },
): News => {
  const { next, begun } = news;
  const lastNotified = begun?.health ?? news.lastNotified;
  // It did not last as long as the receiver requires, so it is not sent.
  if (next && next.dueAt > now && stateEventOf(lastNotified, health) === null) return { ...news, next: null };
  const before = next?.change.health ?? lastNotified;
  const event = stateEventOf(before, health) ?? (health.counts.mended > 0 ? 'mended' : null);
  if (event === null) {
    // Nothing new. Differences that ended are forgotten, so that they are new if they return.
    if (next) return { ...news, next: { ...next, change: { ...next.change, health } } };
    return begun ? news : { ...news, lastNotified: { state: health.state, keys: health.keys } };
  }
  const occasion = event === 'mended' ? 'drift' : event;
  const isSubscribed = before.state !== 'in-sync' || on.some((one) => one === occasion);
  if (!isSubscribed || (after > 0 && event === 'mended')) return news;
  const { client, run, at } = passEvent;
  const change = { event, client, health, previous: before.state, merged: 1, run, at };
  if (next) return { ...news, next: { ...next, change: mergedChange(next.change, change) } };
  return { ...news, next: { change, dueAt: event === 'cleared' ? now : now + after } };
};

/** What the state says anew; null if it is the same for no new reason. */
const stateEventOf = (last: LastNotified, { state, keys }: LastNotified): HealthChange['event'] | null => {
  if (state === 'in-sync') return last.state === 'in-sync' ? null : 'cleared';
  if (state === last.state && keys.every((key) => last.keys.includes(key))) return null;
  return state === 'drifted' ? 'drift' : state;
};

/** The newest state, compared with the one before both. */
const mergedChange = (earlier: HealthChange, later: HealthChange): HealthChange => ({
  ...later,
  event: later.event === 'mended' ? earlier.event : later.event,
  previous: earlier.previous,
  merged: earlier.merged + 1,
});
