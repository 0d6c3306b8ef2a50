/** The fields of an expression: what a message calls them, their first and last number, and words for these. */
const fields = [
  { label: 'seconds', min: 0, max: 59, words: '' },
  { label: 'minutes', min: 0, max: 59, words: '' },
  { label: 'hours', min: 0, max: 23, words: '' },
  { label: 'day of month', min: 1, max: 31, words: '' },
  { label: 'month', min: 1, max: 12, words: 'jan feb mar apr may jun jul aug sep oct nov dec' },
  { label: 'day of week', min: 0, max: 7, words: 'sun mon tue wed thu fri sat' },
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
  const values = fields.map((field, at) => valuesOf(texts[at]!, field));
  for (const [at, { label, min, max }] of fields.entries())
    if (values[at] === null) return `${label} from ${min} to ${max}, not "${texts[at]}"`;
  const [seconds = [], , , days = [], months = []] = values.map((all) => all ?? []);
  const isTooFast = seconds.some((second, at) => (seconds[at + 1] ?? seconds[0]! + 60) - second < minGap);
  if (isTooFast) return `at least ${minGap} s between two runs`;
  // Of a leap year.
  const isDay = months.some((month) => Math.min(...days) <= new Date(2028, month, 0).getDate());
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

/** The values of a field such as `0-30/10,45`, from the lowest; null if it is invalid. */
const valuesOf = (text: string, { min, max, words }: (typeof fields)[number]): readonly number[] | null => {
  const names = words.split(' ');
  const numbers = text.toLowerCase().replace(/[a-z]+/g, (word) => {
    const at = names.indexOf(word);
    return at < 0 ? word : String(at + min);
  });
  const values = new Set<number>();
  for (const part of numbers.split(',')) {
    const [whole, from = min, to = whole?.startsWith('*') ? max : from, step] =
      /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const isStepOfOne = step !== undefined && from === to;
    const isOutside = Number(from) < min || Number(from) > Number(to) || Number(to) > max;
    if (whole === undefined || isStepOfOne || isOutside || Number(step ?? 1) < 1 || Number(step ?? 1) > max)
      return null;
    for (let value = Number(from); value <= Number(to); value += Number(step ?? 1)) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
};
