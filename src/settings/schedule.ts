interface CronField {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const seconds: CronField = { label: 'seconds', min: 0, max: 59 };
const fields: readonly CronField[] = [
  { label: 'minutes', min: 0, max: 59 },
  { label: 'hours', min: 0, max: 23 },
  { label: 'day of month', min: 1, max: 31 },
  { label: 'month', min: 1, max: 12, names: months },
  { label: 'day of week', min: 0, max: 7, names: days },
];

/** The shortest time between two passes of a schedule. */
const minGapSeconds = 10;

/**
 * The problem with a cron expression of five fields, or of six with seconds first; null if there is none.
 * Stricter than node-cron, which accepts steps beyond the field, backward ranges, and a run every second.
 */
export const scheduleProblem = (expression: string): string | null => {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== 5 && texts.length !== 6) return `five or six fields, not ${texts.length}`;

  const used = texts.length === 6 ? [seconds, ...fields] : fields;
  const values = new Map<string, readonly number[]>();
  for (const [index, field] of used.entries()) {
    const text = texts[index] ?? '';
    const matching = valuesOf(text, field);
    if (!matching) return `${field.label} from ${field.min} to ${field.max}, not "${text}"`;
    values.set(field.label, matching);
  }
  if (tooFast(values.get('seconds') ?? [0], values.get('minutes') ?? [])) {
    return `at least ${minGapSeconds} s between two runs`;
  }
  if (!hasDay(values.get('day of month') ?? [], values.get('month') ?? []))
    return 'a day that its months have';
  return null;
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
    const match = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) return null;
    const [, first, last, stepText] = match;
    if (stepText !== undefined && first !== undefined && last === undefined) return null;

    const from = first === undefined ? field.min : numberOf(first, field);
    const to = first === undefined ? field.max : numberOf(last ?? first, field);
    const step = Number(stepText ?? 1);
    if (from === null || to === null || from > to) return null;
    if (step < 1 || step > field.max) return null;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
};

const numberOf = (text: string, { min, max, names = [] }: CronField): number | null => {
  const named = names.indexOf(text);
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

const hasDay = (daysOfMonth: readonly number[], inMonths: readonly number[]): boolean => {
  const earliest = Math.min(...daysOfMonth);
  return inMonths.some((month) => earliest <= (month === 2 ? 29 : [4, 6, 9, 11].includes(month) ? 30 : 31));
};
