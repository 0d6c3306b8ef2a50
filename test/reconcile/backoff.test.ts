import { describe, expect, it } from 'vitest';
import { correctedForClock } from '../../src/memory/backoff.ts';
import type { Failure } from '../../src/state/memory.ts';
import { recordData } from '../state/samples.ts';

const minute = 60_000;
const day = 1_440 * minute;

/** It began at minute 100 by the wall clock, and at minute 7 after the boot. */
const failure: Failure = {
  kind: 'unknown',
  message: 'no answer',
  count: 1,
  sent: recordData(),
  pause: 5 * minute,
  retryAt: 105 * minute,
  since: { boot: 'first', at: 7 * minute },
};

const retryAt = (now: number, boot: string, uptime: number, given: Failure = failure): number =>
  correctedForClock(given, {
    now: now * minute,
    uptime: { boot, at: uptime * minute },
  }).retryAt / minute;

describe('a backoff', () => {
  it.each([
    ['the clock runs as it should', 102, 9, 105],
    ['the clock was set back', 60, 9, 63],
    ['the clock was set on', 500, 9, 503],
    ['the clock was set on and the pause is over', 500, 12, 500],
    ['the clock was set back and the pause is over', 60, 13, 59],
  ])('lasts as long as planned if %s', (_, now, uptime, expected) => {
    expect(retryAt(now, 'first', uptime)).toBe(expected);
    expect(retryAt(now, 'first', uptime, { ...failure, kind: 'unseen' })).toBe(expected);
  });

  it('starts again after a reboot with a clock that was set back, and then follows the new boot', () => {
    const moment = { now: 60 * minute, uptime: { boot: 'second', at: 0 } };
    const anew = correctedForClock(failure, moment);
    expect(anew).toMatchObject({ retryAt: 65 * minute, since: { boot: 'second', at: 0 } });
    expect(retryAt(61, 'second', 1, anew)).toBe(65);
    expect(retryAt(61 - day, 'second', 1, anew)).toBe(65 - day);
  });

  it('follows the wall clock after a reboot, or if no other time was saved', () => {
    const { since: _, ...old } = failure;
    expect(retryAt(103, 'second', 0)).toBe(105);
    expect(retryAt(103, 'first', 10, old)).toBe(105);
  });

  it('follows the wall clock after a refusal', () => {
    expect(retryAt(500, 'first', 9, { ...failure, kind: 'refused' })).toBe(105);
  });

  it('is not saved again for a few milliseconds', () => {
    const moment = { now: 102 * minute + 9, uptime: { boot: 'first', at: 9 * minute } };
    expect(correctedForClock(failure, moment)).toBe(failure);
  });
});
