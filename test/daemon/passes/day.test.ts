import { expect, it } from 'vitest';
import { Day } from '../../../src/daemon/passes/day.ts';
import { slotLength, type PassEntry } from '../../../src/status-page/facts.ts';

const noon = Date.parse('2026-11-20T12:00:00.000Z');

/** `slot`: how many quarter hours after noon. */
type Given = Partial<PassEntry> & { readonly slot?: number };

const entry = ({ slot = 0, ...rest }: Given): PassEntry => ({
  client: 'acme',
  trigger: 'schedule',
  startedAt: noon + slot * slotLength,
  durationMs: 10,
  status: 'in-sync',
  written: 0,
  left: 0,
  error: null,
  ...rest,
});

const dayOf = (...entries: readonly Given[]): Day => {
  const day = new Day();
  for (const one of entries) day.add(entry(one));
  return day;
};

it('a day is 96 quarter hours up to now, empty at first', () => {
  const slots = new Day().slots(noon + 1);
  expect(slots.map(({ from }) => from)).toEqual(
    Array.from({ length: 96 }, (_, at) => noon + (at - 95) * slotLength),
  );
  const empty = { from: noon, passes: 0, worst: null, written: 0, left: null, leftAtEnd: null };
  expect(slots.at(-1)).toEqual(empty);
});

it('a quarter hour has the number of its passes, their worst outcome and most differences', () => {
  const day = dayOf({ status: 'drifted', left: 3 }, { status: 'failed', left: null }, { written: 3 });
  const found = { passes: 3, worst: 'failed', written: 3, left: 3, leftAtEnd: 0 };
  expect(day.slots(noon).at(-1)).toEqual({ from: noon, ...found });
});

it('one without a pass repeats the last differences', () => {
  const day = dayOf({ left: 4 }, { left: 1, slot: 2 });
  const left = (at: number) => day.slots(noon + at * slotLength).map((slot) => slot.left);
  expect(left(3).slice(-5)).toEqual([null, 4, 4, 4, 1]);
  expect(left(200)).toEqual(Array(96).fill(1));
});

it('differences are those of all clients, without those that are gone', () => {
  const day = dayOf({ client: 'one', left: 2 }, { client: 'two', left: 5 });
  expect(day.slots(noon).at(-1)?.left).toBe(7);
  day.forget('two');
  for (const slot of [1, 2]) day.add(entry({ client: 'one', left: 2, slot }));
  expect(day.slots(noon + 2 * slotLength).at(-1)?.left).toBe(2);
});

it('the last day is kept, however many passes there were', () => {
  const day = dayOf(...Array.from({ length: 5_000 }, (_, minute) => ({ slot: minute / 15 })));
  const slots = day.slots(noon + 4_999 * 60_000);
  expect(slots.reduce((sum, { passes }) => sum + passes, 0)).toBe(95 * 15 + 5);
});

it('a day begins with what was left before it', () => {
  const day = dayOf({ left: 5 }, ...Array.from({ length: 96 }, (_, at) => ({ slot: at + 1 })));
  expect(day.slots(noon + 96 * slotLength)[0]).toMatchObject({ passes: 1, left: 5, leftAtEnd: 0 });
});
