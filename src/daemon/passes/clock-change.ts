/** A change of a time zone's offset from UTC. */
export interface ClockChange {
  /** The first moment of the new offset, in ms since the epoch. */
  readonly at: number;
  /** The offset from UTC before it, in milliseconds; `after` likewise. */
  readonly before: number;
  readonly after: number;
}

/** The changes after `from` and up to `to`, in ms since the epoch, for a zone with at most one change a day. */
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

/** Finds the second by bisection. */
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
