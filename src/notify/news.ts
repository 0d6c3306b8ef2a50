import { maxShown, type Health, type PassEvent } from './health.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import type { Change, State } from './schema.ts';

/** What decides whether a state is news. */
interface Seen {
  readonly state: State;
  readonly keys: readonly string[];
}

/** What one receiver was told, and is to be told, about one template or about a client as a whole. */
export interface News {
  readonly told: Seen;
  /** What it is to be told; all that comes before a message can be made becomes one change. */
  readonly next: { readonly change: Change; readonly keys: readonly string[] } | null;
  /** When that is to be sent, in ms since the epoch. */
  readonly dueAt: number;
}

/** Of what a receiver has not heard of. */
export const noNews: News = { told: { state: 'in-sync', keys: [] }, next: null, dueAt: 0 };

/** The same object if nothing is new. After a pass that ended `now`, in ms since the epoch, in which the template had this health. */
export const newsAfter = (
  news: News,
  health: Health,
  pass: PassEvent,
  { on, after }: NotifyReceiver,
  now: number,
): News => {
  const { told, next, dueAt } = news;
  const { keys, ...shown } = health;
  // It did not last as long as the receiver requires, so it is not sent.
  if (next !== null && dueAt > now && stateEvent(told, health) === null) return { ...news, next: null };
  const before = seenOf(news);
  const event = stateEvent(before, health) ?? (shown.counts.mended > 0 ? 'mended' : null);
  if (event === null) {
    if (next !== null) return { ...news, next: { change: joined(next.change, shown), keys } };
    if (told.state === shown.state && told.keys.join() === keys.join()) return news;
    // Differences that ended are forgotten, so that they are new if they return.
    return { ...news, told: { state: shown.state, keys } };
  }
  const occasion = event === 'mended' ? 'drift' : event;
  const isWanted = before.state !== 'in-sync' || on.some((one) => one === occasion);
  if (!isWanted || (event === 'mended' && after > 0)) return news;
  const { client, run, at } = pass;
  const change = { event, client, previous: before.state, merged: 1, run, at, ...shown };
  if (next === null)
    return { ...news, next: { change, keys }, dueAt: event === 'cleared' ? now : now + after };
  const merged = joined(next.change, {
    ...change,
    event: event === 'mended' ? next.change.event : event,
    previous: next.change.previous,
    merged: next.change.merged + 1,
  });
  return { ...news, next: { change: merged, keys } };
};

/** The last that a receiver was told, or is about to be. */
export const seenOf = ({ told, next }: News): Seen =>
  next === null ? told : { state: next.change.state, keys: next.keys };

/** What the state says anew; null if it is the same for no new reason. */
const stateEvent = (last: Seen, { state, keys }: Seen): Change['event'] | null => {
  if (state === 'in-sync') return last.state === 'in-sync' ? null : 'cleared';
  if (state === last.state && keys.every((key) => last.keys.includes(key))) return null;
  return state === 'drifted' ? 'drift' : state;
};

/** The newest, with what was mended before: no later pass shows that again. */
const joined = (
  earlier: Change,
  later: Partial<Change> & Pick<Change, 'counts' | 'differences'>,
): Change => ({
  ...earlier,
  ...later,
  counts: { ...later.counts, mended: earlier.counts.mended + later.counts.mended },
  differences: [
    ...later.differences,
    ...earlier.differences.filter(({ outcome }) => outcome === 'applied'),
  ].slice(0, maxShown),
});
