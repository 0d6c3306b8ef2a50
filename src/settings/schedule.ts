const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const days = 'sun mon tue wed thu fri sat'.split(' ');

const fields = [
  { label: 'seconds', min: 0, max: 59, names: [] },
  { label: 'minutes', min: 0, max: 59, names: [] },
  { label: 'hours', min: 0, max: 23, names: [] },
  { label: 'day of month', min: 1, max: 31, names: [] },
  { label: 'month', min: 1, max: 12, names: months },
  { label: 'day of week', min: 0, max: 7, names: days },
] as const;
type CronField = (typeof fields)[number];

/** The shortest time between two passes of a schedule. */
const minGapSeconds = 10;

/**
 * The problem with a cron expression of five fields, or of six with seconds first; null if there is none.
 * Stricter than node-cron, which accepts steps beyond the field, backward ranges, and a run every second.
 */
export const scheduleProblem = (expression: string): string | null => {
  const given = expression.trim().split(/\s+/);
  if (given.length !== 5 && given.length !== 6) return `five or six fields, not ${given.length}`;
  const texts = given.length === 5 ? ['0', ...given] : given;
  const values = fields.map((field, at) => valuesOf(texts[at] ?? '', field));
  const wrong = values.indexOf(null);
  const { label, min, max } = fields[wrong] ?? fields[0];
  if (wrong >= 0) return `${label} from ${min} to ${max}, not "${texts[wrong]}"`;
  const [seconds = [], minutes = [], , daysOfMonth = [], inMonths = []] = values.map((all) => all ?? []);
  if (tooFast(seconds, minutes)) return `at least ${minGapSeconds} s between two runs`;
  const first = Math.min(...daysOfMonth);
  const isDay = inMonths.some(
    (month) => first <= (month === 2 ? 29 : [4, 6, 9, 11].includes(month) ? 30 : 31),
  );
  return isDay ? null : 'a day that its months have';
};

/** Whether this Node.js knows the IANA time zone. */
export const isTimezone = (zone: string): boolean => {
  try {
    return zone !== '' && new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '';
  } catch {
    return false;
  }
};

/** The values of a field such as `0-30/10,45`; null if it is invalid. */
const valuesOf = (text: string, field: CronField): readonly number[] | null => {
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [whole, first, last, stepText] = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const from = first === undefined ? field.min : numberOf(first, field);
    const to = first === undefined ? field.max : numberOf(last ?? first, field);
    const step = Number(stepText ?? 1);
    const isStepOfOne = stepText !== undefined && first !== undefined && last === undefined;
    if (whole === undefined || isStepOfOne || step < 1 || step > field.max) return null;
    if (from === null || to === null || from > to) return null;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
};

const numberOf = (text: string, { min, max, names }: CronField): number | null => {
  const named = [...names].indexOf(text);
  const value = named >= 0 ? named + min : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max ? value : null;
};

const tooFast = (inMinute: readonly number[], minutes: readonly number[]): boolean => {
  const within = inMinute.some(
    (second, index) => index > 0 && second - (inMinute[index - 1] ?? 0) < minGapSeconds,
  );
  const across = 60 + (inMinute[0] ?? 0) - (inMinute.at(-1) ?? 0) < minGapSeconds;
  return within || (across && minutes.some((minute) => minutes.includes((minute + 1) % 60)));
};
