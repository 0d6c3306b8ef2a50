import type { PassEvent, TemplateHealth, HealthState } from './health.ts';

/** What a receiver was told last of one template: enough to know what is news to it. */
export interface LastNotified {
  readonly state: HealthState;
  readonly keys: readonly string[];
}

export const neverNotified: LastNotified = { state: 'in-sync', keys: [] };

/** What a receiver may ask to be told of; the end of it is told too. */
export const occasions = ['drift', 'held', 'failed', 'unknown'] as const;
export type Occasion = (typeof occasions)[number];

/** `mended`: drift that came and went within one pass. */
export const events = [...occasions, 'mended', 'cleared'] as const;
export type Event = (typeof events)[number];

/** News of one template, or of a client as a whole. */
export interface HealthChange {
  readonly event: Event;
  readonly client: string;
  readonly health: TemplateHealth;
  /** How it stood when the receiver last heard of it. */
  readonly previous: HealthState;
  /** How many changes this one stands for: those that came while the receiver could not be told are one. */
  readonly merged: number;
  /** Of the pass that saw it. */
  readonly run: string;
  readonly at: string;
}

/**
 * What is news about how a template stands, to somebody who was told `told`; null where nothing is.
 *
 * | told \ now | in sync            | as told                                      | anything else |
 * |------------|--------------------|----------------------------------------------|---------------|
 * | in sync    | `mended`, or null  |                                              | by its state  |
 * | other      | `cleared`          | by its state if more came to it, or `mended` | by its state  |
 */
export const changeOf = (
  lastNotified: LastNotified,
  health: TemplateHealth,
  { client, run, at }: Pick<PassEvent, 'client' | 'run' | 'at'>,
): HealthChange | null => {
  const event = eventOf(lastNotified, health);
  return event === null ? null : { event, client, health, previous: lastNotified.state, merged: 1, run, at };
};

/** Whether a receiver hears of it: of what it asked for, and of whatever becomes of that. */
export const isSubscribed = ({ event, previous }: HealthChange, on: readonly Occasion[]): boolean =>
  previous !== 'in-sync' || on.some((occasion) => occasion === (event === 'mended' ? 'drift' : event));

/** Two changes of one template as one: the newest state, and what was told before both. */
export const mergeChanges = (earlier: HealthChange, later: HealthChange): HealthChange => ({
  ...later,
  event: later.event === 'mended' ? earlier.event : later.event,
  previous: earlier.previous,
  merged: earlier.merged + later.merged,
});

const eventOf = (lastNotified: LastNotified, { state, keys, corrected }: TemplateHealth): Event | null => {
  if (state !== lastNotified.state) return state === 'in-sync' ? 'cleared' : eventOfState[state];
  if (state !== 'in-sync' && keys.some((key) => !lastNotified.keys.includes(key))) return eventOfState[state];
  return corrected.length > 0 ? 'mended' : null;
};

const eventOfState: Record<Exclude<HealthState, 'in-sync'>, Event> = {
  drifted: 'drift',
  held: 'held',
  failed: 'failed',
  unknown: 'unknown',
};
