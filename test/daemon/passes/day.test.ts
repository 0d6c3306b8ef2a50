import { describe, expect, it } from 'vitest';
import { Day } from '../../../src/daemon/passes/day.ts';
import { slotLength, type PassEntry } from '../../../src/status-page/facts.ts';

const noon = Date.parse('2026-11-20T12:00:00.000Z');

const entry = (rest: Partial<PassEntry> = {}): PassEntry => ({
  client: 'acme',
  trigger: 'schedule',
  startedAt: noon,
  durationMs: 10,
  status: 'in-sync',
  written: 0,
  left: 0,
  error: null,
  ...rest,
});

const historyOf = (...entries: readonly Partial<PassEntry>[]): Day => {
  const day = new Day();
  for (const one of entries) day.add(entry(one));
  return day;
};

describe('the day', () => {
  it('is 96 quarter hours up to now, empty at first', () => {
    const day = new Day().slots(noon + 1);
    expect(day).toHaveLength(96);
    expect(day.at(-1)).toEqual({
      from: noon,
      passes: 0,
      worst: null,
      written: 0,
      left: null,
      leftAtEnd: null,
    });
    expect(day.at(0)?.from).toBe(noon - 95 * slotLength);
  });

  it('counts the passes of a quarter hour, with their worst outcome and most differences', () => {
    const day = historyOf(
      { status: 'drifted', left: 3 },
      { status: 'failed', left: null },
      { status: 'in-sync', left: 0, written: 3 },
    );
    expect(day.slots(noon).at(-1)).toEqual({
      from: noon,
      passes: 3,
      worst: 'failed',
      written: 3,
      left: 3,
      leftAtEnd: 0,
    });
  });

  it('repeats the last differences in a quarter hour without a pass', () => {
    const day = historyOf({ left: 4 }, { startedAt: noon + 2 * slotLength, left: 1 });
    expect(
      day
        .slots(noon + 3 * slotLength)
        .slice(-5)
        .map(({ left }) => left),
    ).toEqual([null, 4, 4, 4, 1]);
    expect(day.slots(noon + 200 * slotLength).map(({ left }) => left)).toEqual(Array(96).fill(1));
  });

  it('adds up the differences of several clients, without those that are gone', () => {
    const day = historyOf({ client: 'one', left: 2 }, { client: 'two', left: 5 });
    expect(day.slots(noon).at(-1)?.left).toBe(7);
    day.forget('two');
    day.add(entry({ client: 'one', left: 2, startedAt: noon + slotLength }));
    day.add(entry({ client: 'one', left: 2, startedAt: noon + 2 * slotLength }));
    expect(day.slots(noon + 2 * slotLength).at(-1)?.left).toBe(2);
  });
});

describe('a long time', () => {
  it('keeps the last day, however many passes there were', () => {
    const day = new Day();
    for (let index = 0; index < 5_000; index += 1) {
      day.add(entry({ startedAt: noon + index * 60_000, written: index }));
    }
    const slots = day.slots(noon + 4_999 * 60_000);
    expect(slots.reduce((sum, { passes }) => sum + passes, 0)).toBe(95 * 15 + 5);
  });
});
