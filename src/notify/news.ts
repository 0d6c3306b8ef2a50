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
  /** How the newest state differs from that; null: it does not. */
  readonly next: { readonly change: Change; readonly keys: readonly string[] } | null;
  /** When that is to be sent, in ms since the epoch. */
  readonly dueAt: number;
  /** The last pass that is in it; null once a later one has found nothing to tell. */
  readonly run: string | null;
}

/** Of what a receiver has not heard of. */
export const noNews: News = { told: { state: 'in-sync', keys: [] }, next: null, dueAt: 0, run: null };

/** The same object if nothing is new. After a pass that ended `now`, in ms since the epoch, in which the template had this health. */
export const newsAfter = (
  news: News,
  health: Health,
  { client, run, at }: PassEvent,
  { on, after }: NotifyReceiver,
  now: number,
): News => {
  const { told, next } = news;
  const { keys, ...found } = health;
  const shown = next === null ? found : withMended(found, next.change);
  const event = eventOf(told, health) ?? (shown.counts.mended > 0 ? 'mended' : null);
  const isSubscribed = on.some((one) => one === (event === 'mended' ? 'drift' : event));
  const isWanted = told.state !== 'in-sync' || isSubscribed;
  if (event === null || !isWanted || (event === 'mended' && after > 0)) {
    // Differences that ended are forgotten, so that they are new if they return.
    const seen = event === null ? { state: found.state, keys } : told;
    const isOver = seen.state === 'in-sync';
    const isSame = seen.state === told.state && seen.keys.join() === told.keys.join();
    if (next === null && isSame && (!isOver || news.run === null)) return news;
    return { told: seen, next: null, dueAt: 0, run: isOver ? null : run };
  }
  const isAnother = found.counts.mended > 0 || eventOf(seenOf(news), health) !== null;
  const seenIn = next === null || isAnother ? { run, at } : { run: next.change.run, at: next.change.at };
  const merged = (next?.change.merged ?? 0) + (isAnother ? 1 : 0);
  const change = { event, client, previous: told.state, merged, ...seenIn, ...shown };
  const dueAt = event === 'cleared' ? now : now + after;
  return {
    told,
    next: { change, keys },
    dueAt: next === null ? dueAt : Math.min(news.dueAt, dueAt),
    run: isAnother ? run : news.run,
  };
};

/** The last that a receiver was told, or is about to be. */
export const seenOf = ({ told, next }: News): Seen =>
  next === null ? told : { state: next.change.state, keys: next.keys };

/** What the state says anew; null if it is the same for no new reason. */
const eventOf = (last: Seen, { state, keys }: Seen): Change['event'] | null => {
  if (state === 'in-sync') return last.state === 'in-sync' ? null : 'cleared';
  if (state === last.state && keys.every((key) => last.keys.includes(key))) return null;
  return state === 'drifted' ? 'drift' : state;
};

/** With what was mended before, which no later pass shows again. */
const withMended = <Shown extends Pick<Change, 'counts' | 'differences'>>(
  shown: Shown,
  { counts, differences }: Change,
): Shown => ({
  ...shown,
  counts: { ...shown.counts, mended: shown.counts.mended + counts.mended },
  differences: [...shown.differences, ...differences.filter(({ outcome }) => outcome === 'applied')].slice(
    0,
    maxShown,
  ),
});
