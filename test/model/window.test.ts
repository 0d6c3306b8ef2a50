import { describe, expect, it } from 'vitest';
import { isOpen, nextOpening, parseWindows, type Windows } from '../../src/model/window.ts';

const parsed = (text: string): Windows => {
  const windows = parseWindows(text);
  if (typeof windows === 'string') throw new Error(windows);
  return windows;
};

const office = 'Mon-Thu 08:00-16:00 Europe/Berlin';

describe('a window', () => {
  it.each([
    // 24 November 2026 is a Tuesday, and Berlin is an hour ahead of UTC.
    [office, '2026-11-24T06:59:59.999Z', false],
    [office, '2026-11-24T07:00:00Z', true],
    [office, '2026-11-24T14:59:59.999Z', true],
    [office, '2026-11-24T15:00:00Z', false],
    [office, '2026-11-27T10:00:00Z', false],
    ['always', '2026-11-27T10:00:00Z', true],
    [`${office}; Fri 08:00-12:00 Europe/Berlin`, '2026-11-27T10:00:00Z', true],
    ['Mon,Wed-Thu 00:00-24:00 UTC', '2026-11-24T12:00:00Z', false],
    ['Mon,Wed-Thu 00:00-24:00 UTC', '2026-11-25T00:00:00Z', true],
    // Over midnight: it belongs to the day on which it opens.
    ['Fri 22:00-02:00 UTC', '2026-11-27T23:00:00Z', true],
    ['Fri 22:00-02:00 UTC', '2026-11-28T01:59:00Z', true],
    ['Fri 22:00-02:00 UTC', '2026-11-28T02:00:00Z', false],
    ['Fri 22:00-02:00 UTC', '2026-11-27T01:00:00Z', false],
    // Over the end of the week.
    ['Sun 22:00-02:00 UTC', '2026-11-30T01:00:00Z', true],
    ['Sat-Mon 08:00-12:00 UTC', '2026-11-29T09:00:00Z', true],
    ['Sat-Mon 08:00-12:00 UTC', '2026-11-30T09:00:00Z', true],
    ['Sat-Mon 08:00-12:00 UTC', '2026-11-24T09:00:00Z', false],
    // On 29 March 2026 the clocks of Berlin go from 02:00 to 03:00, on 25 October back from 03:00 to 02:00.
    ['Sun 02:30-04:00 Europe/Berlin', '2026-03-29T00:59:59Z', false],
    ['Sun 02:30-04:00 Europe/Berlin', '2026-03-29T01:00:00Z', true],
    ['Sun 02:00-03:00 Europe/Berlin', '2026-03-29T01:00:00Z', false],
    ['Sun 02:30-02:45 Europe/Berlin', '2026-10-25T00:40:00Z', true],
    ['Sun 02:30-02:45 Europe/Berlin', '2026-10-25T01:00:00Z', false],
    ['Sun 02:30-02:45 Europe/Berlin', '2026-10-25T01:40:00Z', true],
    ['Sun 00:00-24:00 Europe/Berlin', '2026-10-25T22:59:00Z', true],
  ])('%s, at %s: %s', (text, time, expected) => {
    expect(isOpen(parsed(text), Date.parse(time))).toBe(expected);
  });

  it.each([
    [office, '2026-11-24T06:59:59Z', '2026-11-24T07:00:00.000Z'],
    [office, '2026-11-26T15:00:00Z', '2026-11-30T07:00:00.000Z'],
    [`Fri 08:00-12:00 UTC; ${office}`, '2026-11-26T15:00:00Z', '2026-11-27T08:00:00.000Z'],
    ['Fri 22:00-02:00 UTC', '2026-11-28T03:00:00Z', '2026-12-04T22:00:00.000Z'],
    // The last day of summer time is an hour longer.
    [office, '2026-10-23T10:00:00Z', '2026-10-26T07:00:00.000Z'],
    [office, '2026-03-27T10:00:00Z', '2026-03-30T06:00:00.000Z'],
    ['Sun 02:30-04:00 Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['Sun 02:15-02:45 Europe/Berlin', '2026-03-28T12:00:00Z', '2026-04-05T00:15:00.000Z'],
    ['Sun 02:30-02:45 Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z'],
    ['Sun 02:30-02:45 Europe/Berlin', '2026-10-25T00:50:00Z', '2026-10-25T01:30:00.000Z'],
    ['Sun 01:00-02:30 Europe/Berlin', '2026-10-25T00:40:00Z', '2026-10-25T01:00:00.000Z'],
    // Half an hour of summer time, and a day that never was.
    ['Sun 02:15-05:00 Australia/Lord_Howe', '2026-10-03T12:00:00Z', '2026-10-03T15:30:00.000Z'],
    ['Fri 08:00-09:00 Pacific/Apia', '2011-12-29T18:00:00Z', '2012-01-05T18:00:00.000Z'],
  ])('%s opens next after %s at %s', (text, time, expected) => {
    const next = nextOpening(parsed(text), Date.parse(time));
    expect(next && new Date(next).toISOString()).toBe(expected);
  });

  it.each([
    [
      '',
      'a window is days, hours and a time zone, such as Mon-Thu 08:00-16:00 Europe/Berlin, or the word always; `` is not',
    ],
    [
      'Mon 08:00-16:00',
      'a window is days, hours and a time zone, such as Mon-Thu 08:00-16:00 Europe/Berlin, or the word always; `Mon 08:00-16:00` is not',
    ],
    [
      'Mon 08:00-16:00 UTC;',
      'a window is days, hours and a time zone, such as Mon-Thu 08:00-16:00 Europe/Berlin, or the word always; `` is not',
    ],
    ['Mo 08:00-16:00 UTC', '`Mo`: days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, or a range such as Mon-Thu'],
    [
      'Mon-Tue-Wed 08:00-16:00 UTC',
      '`Mon-Tue-Wed`: days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, or a range such as Mon-Thu',
    ],
    ['Mon, 08:00-16:00 UTC', '``: days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, or a range such as Mon-Thu'],
    ['Mon 8:00-16:00 UTC', '`8:00-16:00`: hours are given as in 08:00-16:00, from 00:00 to 24:00'],
    ['Mon 08:00-24:30 UTC', '`08:00-24:30`: hours are given as in 08:00-16:00, from 00:00 to 24:00'],
    ['Mon 24:00-02:00 UTC', '`24:00-02:00`: hours are given as in 08:00-16:00, from 00:00 to 24:00'],
    ['Mon 08:00-08:00 UTC', '`08:00-08:00` is empty: a whole day is 00:00-24:00'],
    ['Mon 08:00-16:00 Mars/Base', '`Mars/Base` is no IANA time zone such as UTC or Europe/Berlin'],
  ])('is refused if it is `%s`', (text, problem) => {
    expect(parseWindows(text)).toBe(problem);
  });
});
