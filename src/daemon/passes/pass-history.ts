import { statuses, type Status } from '../../result.ts';
import { slotLength, type PassEntry, type SummarySlot } from '../../status-page/facts.ts';

/** When passes of a client ended, in ms since the epoch; null or 0: never. */
export interface PassTimes {
  readonly lastPass: number | null;
  /** Without a failure. */
  readonly lastSuccess: number;
  /** Everything was read, and writing did not stop early. */
  readonly lastComplete: number;
}

/** The passes of the last day, for the status page. Kept in memory, at a fixed size. */
export class PassHistory {
  readonly #last = new Map<string, PassEntry>();
  readonly #times = new Map<string, PassTimes>();
  readonly #left = new Map<string, number>();
  /** The oldest first; slots without a pass are left out. */
  #slots: readonly FilledSlot[] = [];

  add(entry: PassEntry): void {
    const before = this.#total();
    this.#last.set(entry.client, entry);
    const endedAt = entry.startedAt + entry.durationMs;
    const { lastSuccess, lastComplete } = this.timesOf(entry.client);
    this.#times.set(entry.client, {
      lastPass: endedAt,
      lastSuccess: entry.status === 'failed' ? lastSuccess : endedAt,
      lastComplete: entry.error === null ? endedAt : lastComplete,
    });
    if (entry.left !== null) this.#left.set(entry.client, entry.left);
    this.#slots = withPass(this.#slots, entry, before, this.#total());
  }

  /** Forgets a client that is no longer configured. Its passes stay part of the day. */
  forget(client: string): void {
    this.#last.delete(client);
    this.#times.delete(client);
    this.#left.delete(client);
  }

  lastOf(client: string): PassEntry | null {
    return this.#last.get(client) ?? null;
  }

  timesOf(client: string): PassTimes {
    return this.#times.get(client) ?? { lastPass: null, lastSuccess: 0, lastComplete: 0 };
  }

  /** The slots of the day that ends now, the oldest first. */
  day(now: number): readonly SummarySlot[] {
    const current = slotAt(now);
    const known = new Map(this.#slots.map((slot) => [slot.from, slot]));
    let left = this.#slots.findLast(({ from }) => from <= current - dayLength)?.leftAtEnd ?? null;
    return Array.from({ length: slotsInDay }, (_, index): SummarySlot => {
      const from = current - (slotsInDay - 1 - index) * slotLength;
      const slot = known.get(from);
      const max = slot === undefined ? left : Math.max(slot.left, left ?? 0);
      left = slot?.leftAtEnd ?? left;
      return slot === undefined
        ? { from, passes: 0, worst: null, written: 0, left, leftAtEnd: left }
        : { ...slot, left: max };
    });
  }

  #total(): number {
    return [...this.#left.values()].reduce((sum, left) => sum + left, 0);
  }
}

const slotsInDay = 96;
const dayLength = slotsInDay * slotLength;

interface FilledSlot extends SummarySlot {
  readonly worst: Status;
  readonly left: number;
  readonly leftAtEnd: number;
}

const slotAt = (time: number): number => Math.floor(time / slotLength) * slotLength;

const withPass = (
  slots: readonly FilledSlot[],
  { startedAt, durationMs, status, written }: PassEntry,
  before: number,
  left: number,
): readonly FilledSlot[] => {
  const from = slotAt(startedAt + durationMs);
  const empty = { from, passes: 0, worst: status, written: 0, left: Math.min(before, left), leftAtEnd: left };
  const current = slots.find((slot) => slot.from === from) ?? empty;
  const changed = {
    ...current,
    passes: current.passes + 1,
    worst: worse(current.worst, status),
    written: current.written + written,
    left: Math.max(current.left, left),
    leftAtEnd: left,
  };
  // One more than a day has, so that the first slot knows what was left before it.
  return [...slots.filter((slot) => slot.from !== from), changed]
    .sort((one, other) => one.from - other.from)
    .slice(-slotsInDay - 1);
};

const worse = (one: Status, other: Status): Status =>
  statuses.indexOf(one) > statuses.indexOf(other) ? one : other;
