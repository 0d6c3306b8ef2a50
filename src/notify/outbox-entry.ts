import {
  changeOf,
  isSubscribed,
  mergeChanges,
  type HealthChange,
  type LastNotified,
  type Occasion,
} from './health-change.ts';
import type { PassEvent, TemplateHealth } from './health.ts';

/** What an outbox has about one template, or about a client as a whole. */
export interface OutboxEntry {
  readonly lastNotified: LastNotified;
  readonly waiting: QueuedChange | null;
  /** In the message in flight. */
  readonly sent: HealthChange | null;
}

/** A waiting change, and when it is due, in ms since the epoch. */
export interface QueuedChange {
  readonly change: HealthChange;
  readonly dueAt: number;
}

/** How long a change has to last, in milliseconds, and the time of the pass that saw it, in ms since the epoch. */
export interface NotifyDelay {
  readonly after: number;
  readonly now: number;
}

/** After a pass in which the template had this health. */
export const entryAfter = (
  entry: OutboxEntry,
  health: TemplateHealth,
  passEvent: PassEvent,
  on: readonly Occasion[],
  { after, now }: NotifyDelay,
): OutboxEntry => {
  const { waiting, sent } = entry;
  const lastNotified = sent?.health ?? entry.lastNotified;
  // It did not last as long as the receiver requires, so it is not sent.
  if (
    waiting &&
    waiting.dueAt > now &&
    changeOf(lastNotified, { ...health, corrected: [] }, passEvent) === null
  )
    return { ...entry, waiting: null };
  const change = changeOf(waiting?.change.health ?? lastNotified, health, passEvent);
  if (change === null) {
    // Nothing new. Differences that ended are forgotten, so that they are new if they return.
    if (waiting) return { ...entry, waiting: { ...waiting, change: { ...waiting.change, health } } };
    return sent ? entry : { ...entry, lastNotified: lastNotifiedOf(health) };
  }
  if (!isSubscribed(change, on) || (after > 0 && change.event === 'mended')) return entry;
  if (waiting) return { ...entry, waiting: { ...waiting, change: mergeChanges(waiting.change, change) } };
  return { ...entry, waiting: { change, dueAt: change.event === 'cleared' ? now : now + after } };
};

export const lastNotifiedOf = ({ state, keys }: TemplateHealth): LastNotified => ({ state, keys });
