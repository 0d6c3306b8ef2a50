/** The clock of a time zone was put forward or back. */
export interface ClockChange {
  /** The first moment of the new time, in ms since the epoch. */
  readonly at: number;
  /** What its clock was ahead of UTC before, in milliseconds. */
  readonly before: number;
  readonly after: number;
}

/** The changes after `from` and up to `to`, in ms since the epoch, for a zone that puts its clock back within a day. */
export const clockChanges = (timezone: string, from: number, to: number): readonly ClockChange[] => {
  const aheadAt = aheadIn(timezone);
  const changes: ClockChange[] = [];
  for (let start = from; start < to; start += day) {
    const end = Math.min(start + day, to);
    const [before, after] = [aheadAt(start), aheadAt(end)];
    if (before !== after) changes.push({ at: firstAfter(start, end, aheadAt), before, after });
  }
  return changes;
};

const day = 86_400_000;

/** Halves the time until the second is found. */
const firstAfter = (from: number, to: number, aheadAt: (time: number) => number): number => {
  const after = aheadAt(to);
  let [low, high] = [Math.floor(from / 1_000), Math.ceil(to / 1_000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (aheadAt(middle * 1_000) === after) high = middle;
    else low = middle;
  }
  return high * 1_000;
};

const aheadIn = (timeZone: string): ((time: number) => number) => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign = '', hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  };
};
