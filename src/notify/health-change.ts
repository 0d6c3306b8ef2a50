import type { PassEvent, TemplateHealth, HealthState } from './health.ts';

/** The last state of one template that was sent to a receiver: enough to know what is new to it. */
export interface LastNotified {
  readonly state: HealthState;
  readonly keys: readonly string[];
}

export const neverNotified: LastNotified = { state: 'in-sync', keys: [] };

/** What a receiver can subscribe to; it also gets the end of each. */
export const occasions = ['drift', 'suspended', 'held', 'failed', 'unknown'] as const;
export type Occasion = (typeof occasions)[number];

/** `mended`: drift that came and went within one pass. */
export const events = [...occasions, 'mended', 'cleared'] as const;
export type Event = (typeof events)[number];

/** A change of health of one template, or of a client as a whole. */
export interface HealthChange {
  readonly event: Event;
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

/**
 * The news about a template's health for a receiver that last got `lastNotified`; null if there is none.
 *
 * | last \ now | in sync            | same as last                                 | anything else |
 * |------------|--------------------|----------------------------------------------|---------------|
 * | in sync    | `mended`, or null  |                                              | by its state  |
 * | other      | `cleared`          | by its state if more differs, or `mended`    | by its state  |
 */
export const changeOf = (
  lastNotified: LastNotified,
  health: TemplateHealth,
  { client, run, at }: Pick<PassEvent, 'client' | 'run' | 'at'>,
): HealthChange | null => {
  const event = eventOf(lastNotified, health);
  return event === null ? null : { event, client, health, previous: lastNotified.state, merged: 1, run, at };
};

/** Whether a receiver gets it: what it subscribed to, and what follows that. */
export const isSubscribed = ({ event, previous }: HealthChange, on: readonly Occasion[]): boolean =>
  previous !== 'in-sync' || on.some((occasion) => occasion === (event === 'mended' ? 'drift' : event));

/** Merges two changes of one template: the newest state, compared with the one before both. */
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
  suspended: 'suspended',
  held: 'held',
  failed: 'failed',
  unknown: 'unknown',
};
