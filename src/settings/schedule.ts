const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const days = 'sun mon tue wed thu fri sat'.split(' ');

const unnamed: string[] = [];

const fields = [
  { label: 'seconds', min: 0, max: 59, names: unnamed },
  { label: 'minutes', min: 0, max: 59, names: unnamed },
  { label: 'hours', min: 0, max: 23, names: unnamed },
  { label: 'day of month', min: 1, max: 31, names: unnamed },
  { label: 'month', min: 1, max: 12, names: months },
  { label: 'day of week', min: 0, max: 7, names: days },
];

/** The shortest time between two passes of a schedule, in seconds. */
const minGap = 10;

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
  const { label, min, max } = fields[wrong] ?? fields[0]!;
  if (wrong >= 0) return `${label} from ${min} to ${max}, not "${texts[wrong]}"`;
  const [seconds = [], , , daysOfMonth = [], inMonths = []] = values.map((all) => all ?? []);
  const isTooFast = seconds.some((second, at) => (seconds[at + 1] ?? seconds[0]! + 60) - second < minGap);
  if (isTooFast) return `at least ${minGap} s between two runs`;
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
const valuesOf = (text: string, { min, max, names }: (typeof fields)[number]): readonly number[] | null => {
  const numberOf = (word: string): number => {
    const named = names.indexOf(word);
    return named >= 0 ? named + min : /^\d{1,2}$/.test(word) ? Number(word) : -1;
  };
  const values = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [whole, first, last = first, stepText] =
      /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const from = first === undefined ? min : numberOf(first);
    const to = last === undefined ? max : numberOf(last);
    const step = Number(stepText ?? 1);
    const isStepOfOne = stepText !== undefined && first !== undefined && first === last;
    if (whole === undefined || isStepOfOne || step < 1 || step > max) return null;
    if (from < min || from > to || to > max) return null;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
};
