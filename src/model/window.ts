/** The times in a week at which changes are written, by the clock on the wall of a time zone. */
export interface Windows {
  /** As it was given. */
  readonly text: string;
  /** Empty: always. */
  readonly parts: readonly Window[];
}

interface Window {
  /** The weekdays on which it opens, from 0 for Monday. */
  readonly days: readonly number[];
  /** Minutes after midnight. If it closes at `from` or before, that is on the day after. */
  readonly from: number;
  readonly to: number;
  /** IANA name. */
  readonly zone: string;
}

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const example = 'such as Mon-Thu 08:00-16:00 Europe/Berlin';
const day = 1_440;

export const always: Windows = { text: 'always', parts: [] };

/** Windows separated by `;`, or `always`. Returns what is wrong with the text, if anything. */
export const parseWindows = (text: string): Windows | string => {
  if (text.trim() === 'always') return always;
  const parts: Window[] = [];
  for (const one of text.split(';')) {
    const part = parseWindow(one.trim());
    if (typeof part === 'string') return part;
    parts.push(part);
  }
  return { text: text.trim(), parts };
};

const parseWindow = (text: string): Window | string => {
  const [days = '', hours = '', zone = '', ...more] = text.split(/\s+/);
  if (zone === '' || more.length > 0)
    return `a window is days, hours and a time zone, ${example}, or the word always; \`${text}\` is not`;
  const weekdays = parseDays(days);
  if (typeof weekdays === 'string') return weekdays;
  const [, fromHour, fromMinute, toHour, toMinute] = /^(\d\d):([0-5]\d)-(\d\d):([0-5]\d)$/.exec(hours) ?? [];
  const [from, to] = [
    Number(fromHour) * 60 + Number(fromMinute),
    Number(toHour) * 60 + Number(toMinute),
  ] as const;
  if (!(from < day && to <= day))
    return `\`${hours}\`: hours are given as in 08:00-16:00, from 00:00 to 24:00`;
  if (from === to) return `\`${hours}\` is empty: a whole day is 00:00-24:00`;
  if (!isZone(zone)) return `\`${zone}\` is no IANA time zone such as UTC or Europe/Berlin`;
  return { days: weekdays, from, to, zone };
};

/** Lists of days and ranges of days, which may go over the end of the week. */
const parseDays = (text: string): readonly number[] | string => {
  const found = new Set<number>();
  for (const range of text.split(',')) {
    const [first = '', last = first, ...more] = range.split('-');
    const [from, to] = [dayNames.indexOf(first), dayNames.indexOf(last)];
    if (from < 0 || to < 0 || more.length > 0)
      return `\`${range}\`: days are ${dayNames.join(', ')}, or a range such as Mon-Thu`;
    for (let one = from; found.add(one % 7), one % 7 !== to; one += 1);
  }
  return [...found];
};

const isZone = (zone: string): boolean => {
  try {
    return zone !== '' && Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
};

/** `now`: ms since the epoch. */
export const isOpen = ({ parts }: Windows, now: number): boolean =>
  parts.length === 0 || parts.some((part) => isPartOpen(part, now));

const isPartOpen = ({ days, from, to, zone }: Window, now: number): boolean => {
  const { weekday, minute } = wallClock(zone, now);
  if (from < to) return days.includes(weekday) && minute >= from && minute < to;
  const isOfToday = days.includes(weekday) && minute >= from;
  return isOfToday || (days.includes((weekday + 6) % 7) && minute < to);
};

/**
 * The first moment after `now`, in ms since the epoch, at which a window is open; null if there is none within two weeks.
 * The clock on the wall decides: hours that it skips open nothing, a window that begins in them opens at their end, and
 * hours that it repeats open twice.
 */
export const nextOpening = (windows: Windows, now: number): number | null => {
  const candidates = windows.parts.flatMap((part) => [
    ...openingsOf(part, now),
    ...clockChanges(part.zone, now),
  ]);
  const open = candidates.filter((time) => time > now && isOpen(windows, time));
  return open.length === 0 ? null : Math.min(...open);
};

/** When the clock on the wall may show the beginning of a window: before a change of the clock, and after it. */
const openingsOf = ({ from, zone }: Window, now: number): number[] => {
  const today = Math.floor((now + offsetAt(zone, now)) / dayLength) * dayLength;
  return Array.from({ length: daysAhead }, (_, index) => today + index * dayLength + from * 60_000).flatMap(
    (wall) => [wall - offsetAt(zone, wall - dayLength), wall - offsetAt(zone, wall + dayLength)],
  );
};

/** Found to the second. */
const clockChanges = (zone: string, now: number): number[] =>
  Array.from({ length: daysAhead }, (_, index) => now + index * dayLength).flatMap((time) => {
    let [before, after] = [time, time + dayLength];
    if (offsetAt(zone, before) === offsetAt(zone, after)) return [];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(zone, middle) === offsetAt(zone, time)) before = middle;
      else after = middle;
    }
    return [after];
  });

const dayLength = day * 60_000;
const daysAhead = 15;

const offsetAt = (zone: string, time: number): number =>
  wallClock(zone, time).asUtc - Math.floor(time / 1_000) * 1_000;

interface WallClock {
  readonly weekday: number;
  /** Minutes after midnight. */
  readonly minute: number;
  /** What the clock shows, read as UTC. */
  readonly asUtc: number;
}

const wallClock = (zone: string, time: number): WallClock => {
  const parts = clockOf(zone).formatToParts(time);
  const [year = 0, month = 0, date = 0, hour = 0, minute = 0, second = 0] = fields.map((field) =>
    Number(parts.find(({ type }) => type === field)?.value),
  );
  const asUtc = Date.UTC(year, month - 1, date, hour, minute, second);
  return { weekday: (new Date(asUtc).getUTCDay() + 6) % 7, minute: hour * 60 + minute, asUtc };
};

const fields = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;

/** Making one takes longer than using it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

const clockOf = (zone: string): Intl.DateTimeFormat => {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      ...Object.fromEntries(fields.map((field) => [field, 'numeric'])),
    });
  clocks.set(zone, clock);
  return clock;
};
