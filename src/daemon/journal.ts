import type { Status, Trigger } from '../result.ts';
import { statuses } from '../result.ts';

/** One pass that has ended. */
export interface PassEntry {
  readonly client: string;
  readonly trigger: Trigger;
  /** Ms since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: Status;
  /** Differences that it wrote. */
  readonly written: number;
  /** Differences in all templates of the client after it; null where it did not come to look. */
  readonly left: number | null;
  /** Why it could not be made, or ended early. */
  readonly error: string | null;
}

/** A quarter of an hour, over all clients. */
export interface Slot {
  /** Ms since the epoch. */
  readonly from: number;
  readonly passes: number;
  /** The worst that a pass in it ended with; null where there was none. */
  readonly worst: Status | null;
  readonly written: number;
  /** The most differences that were left at one time; null before the first pass. */
  readonly left: number | null;
  /** Those that were left at its end, or are now. */
  readonly leftAtEnd: number | null;
}

/** The passes of the last day, as far as a page shows them. Lives in memory, and takes the same however many there were. */
export class Journal {
  readonly #last = new Map<string, PassEntry>();
  readonly #left = new Map<string, number>();
  #recent: readonly PassEntry[] = [];
  /** The oldest first, those without a pass left out. */
  #slots: readonly FilledSlot[] = [];

  add(entry: PassEntry): void {
    const before = this.#total();
    this.#last.set(entry.client, entry);
    if (entry.left !== null) this.#left.set(entry.client, entry.left);
    this.#recent = [entry, ...this.#recent].slice(0, recentPasses);
    this.#slots = withPass(this.#slots, entry, before, this.#total());
  }

  /** A client that is configured no more. What its passes did stays part of the day. */
  forget(client: string): void {
    this.#last.delete(client);
    this.#left.delete(client);
  }

  lastOf(client: string): PassEntry | null {
    return this.#last.get(client) ?? null;
  }

  /** The newest first. */
  get recent(): readonly PassEntry[] {
    return this.#recent;
  }

  /** The slots of the day that ends now, the oldest first. */
  day(now: number): readonly Slot[] {
    const current = slotAt(now);
    const known = new Map(this.#slots.map((slot) => [slot.from, slot]));
    let left = this.#slots.findLast(({ from }) => from <= current - dayLength)?.leftAtEnd ?? null;
    return Array.from({ length: slotsInDay }, (_, index): Slot => {
      const from = current - (slotsInDay - 1 - index) * slotLength;
      const slot = known.get(from);
      const most = slot === undefined ? left : Math.max(slot.left, left ?? 0);
      left = slot?.leftAtEnd ?? left;
      return slot === undefined
        ? { from, passes: 0, worst: null, written: 0, left, leftAtEnd: left }
        : { ...slot, left: most };
    });
  }

  #total(): number {
    return [...this.#left.values()].reduce((sum, left) => sum + left, 0);
  }
}

/** Milliseconds. */
export const slotLength = 15 * 60_000;
const slotsInDay = 96;
const dayLength = slotsInDay * slotLength;
const recentPasses = 20;

interface FilledSlot extends Slot {
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
  const present = slots.find((slot) => slot.from === from) ?? empty;
  const changed = {
    ...present,
    passes: present.passes + 1,
    worst: worse(present.worst, status),
    written: present.written + written,
    left: Math.max(present.left, left),
    leftAtEnd: left,
  };
  // One more than a day has, so that its first slots know what was left before.
  return [...slots.filter((slot) => slot.from !== from), changed]
    .sort((one, other) => one.from - other.from)
    .slice(-slotsInDay - 1);
};

const worse = (one: Status, other: Status): Status =>
  statuses.indexOf(one) > statuses.indexOf(other) ? one : other;
