const units = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Milliseconds of `500ms`, `8s`, `5m`, `1h`, `1d`; null for anything else. Whole numbers only. */
export const parseDuration = (text: string): number | null => {
  const match = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text);
  return match ? Number(match[1]) * units.get(match[2]!)! : null;
};

/** The same the other way, in the largest unit that divides it. */
export const durationText = (ms: number): string => {
  const [unit, length] = [...units].findLast(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1];
  return `${ms / length}${unit}`;
};

/** Ms since the epoch of a time such as `2026-11-20T20:00:00Z`, or of a duration before `now`; null for anything else. */
export const parseMoment = (text: string, now: number): number | null => {
  const duration = parseDuration(text);
  // Date.parse accepts too much: `2` is February 2001, and the 31st of November is the first of December.
  const time =
    duration !== null
      ? now - duration
      : isTime.test(text) && isDay(text.slice(0, 10))
        ? Date.parse(text)
        : Number.NaN;
  return Number.isNaN(time) ? null : time;
};

const isTime = /^\d{4}-\d\d-\d\d(?:[T ]|$)/;

const isDay = (text: string): boolean => {
  const start = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(text);
};
