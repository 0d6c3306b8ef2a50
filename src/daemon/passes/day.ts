import { worstOf } from '../../result.ts';
import { slotLength, type PassEntry, type SummarySlot } from '../../status-page/facts.ts';

/** The passes of all clients in the last day, for the status page. Kept in memory, at a fixed size. */
export class Day {
  readonly #left = new Map<string, number>();
  /** The oldest first; those without a pass are left out. */
  #slots: readonly SummarySlot[] = [];

  add({ client, startedAt, durationMs, status, written, left }: PassEntry): void {
    if (left !== null) this.#left.set(client, left);
    const all = [...this.#left.values()].reduce((sum, one) => sum + one, 0);
    const from = slotAt(startedAt + durationMs);
    const slot = this.#slots.find((one) => one.from === from);
    const changed = {
      from,
      passes: (slot?.passes ?? 0) + 1,
      worst: worstOf([slot?.worst ?? status, status]),
      written: (slot?.written ?? 0) + written,
      left: Math.max(slot?.left ?? 0, all),
      leftAtEnd: all,
    };
    // One more than a day has, so that the first slot knows what was left before it.
    this.#slots = [...this.#slots.filter((one) => one !== slot), changed]
      .sort((one, other) => one.from - other.from)
      .slice(-slotsInDay - 1);
  }

  /** Forgets a client that is no longer configured. Its passes stay part of the day. */
  forget(client: string): void {
    this.#left.delete(client);
  }

  /** The slots of the day that ends now, the oldest first. What was left stays so until a pass finds something else. */
  slots(now: number): readonly SummarySlot[] {
    const first = slotAt(now) - (slotsInDay - 1) * slotLength;
    const known = new Map(this.#slots.map((slot) => [slot.from, slot]));
    let before = this.#slots.findLast(({ from }) => from < first)?.leftAtEnd ?? null;
    return Array.from({ length: slotsInDay }, (_, at): SummarySlot => {
      const from = first + at * slotLength;
      const { left = before, ...slot } = known.get(from) ?? {
        from,
        passes: 0,
        worst: null,
        written: 0,
        leftAtEnd: before,
      };
      const most = before === null || left === null ? left : Math.max(before, left);
      before = slot.leftAtEnd;
      return { ...slot, left: most };
    });
  }
}

const slotsInDay = 96;

const slotAt = (time: number): number => Math.floor(time / slotLength) * slotLength;
