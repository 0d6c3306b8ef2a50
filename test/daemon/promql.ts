import type { Sample, Scrape } from './scrape.ts';

/** What was scraped at one moment, in seconds since the epoch. */
export interface Moment {
  readonly at: number;
  readonly scrape: Scrape;
}

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  /** As in `5m`. */
  readonly for?: string | undefined;
}

type Series = Omit<Sample, 'name'>;

/** The label sets for which an alert fires, moment by moment. */
export const firing = (rule: Rule, moments: readonly Moment[]): readonly (readonly Sample['labels'][])[] => {
  const pendingSince = new Map<string, number>();
  return moments.map(({ at }, index) => {
    const active = evaluate(rule.expr, moments.slice(0, index + 1));
    const keys = new Set(active.map(({ labels }) => keyOf(labels)));
    for (const key of pendingSince.keys()) if (!keys.has(key)) pendingSince.delete(key);
    for (const key of keys) if (!pendingSince.has(key)) pendingSince.set(key, at);
    return active
      .map(({ labels }) => labels)
      .filter((labels) => at - (pendingSince.get(keyOf(labels)) ?? at) >= seconds(rule.for ?? '0s'));
  });
};

/** The series of an expression at the last moment. It knows the little of PromQL that the rules use, and throws at the rest. */
const evaluate = (expression: string, moments: readonly Moment[]): readonly Series[] => {
  const [, operand = '', comparison = '', limit = ''] = matched(/^(.+) (>|==) (\d+)$/, expression);
  const series = valuesOf(operand, moments);
  return series.filter(({ value }) => (comparison === '>' ? value > Number(limit) : value === Number(limit)));
};

const valuesOf = (operand: string, moments: readonly Moment[]): readonly Series[] => {
  const now = moments.at(-1);
  if (now === undefined) return [];
  const [, dividend, divisor] = /^(increase.+) \/ (.+)$/.exec(operand) ?? [];
  if (dividend !== undefined && divisor !== undefined)
    return valuesOf(dividend, moments).map(({ labels, value }) => {
      const other = valuesOf(divisor, moments).find((one) => keyOf(one.labels) === keyOf(labels));
      return { labels, value: value / (other?.value ?? Number.NaN) };
    });
  const age = /^time\(\) - (.+)$/.exec(operand);
  if (age) return select(age[1], now).map(({ labels, value }) => ({ labels, value: now.at - value }));
  const sum = /^sum by \(([\w, ]+)\) \((.+)\)$/.exec(operand);
  if (sum) return sumBy((sum[1] ?? '').split(', '), select(sum[2], now));
  const increase = /^increase\((.+)\[(\w+)\]\)$/.exec(operand);
  if (!increase) return select(operand, now);
  const first = moments.find(({ at }) => at > now.at - seconds(increase[2]));
  const before = first ? select(increase[1], first) : [];
  return select(increase[1], now).map(({ labels, value }) => ({
    labels,
    value: value - (before.find((one) => keyOf(one.labels) === keyOf(labels))?.value ?? value),
  }));
};

const sumBy = (names: readonly string[], series: readonly Series[]): readonly Series[] => {
  const sums = new Map<string, Series>();
  for (const { labels, value } of series) {
    const kept = Object.fromEntries(names.map((name) => [name, labels[name] ?? '']));
    const key = keyOf(kept);
    sums.set(key, { labels: kept, value: value + (sums.get(key)?.value ?? 0) });
  }
  return [...sums.values()];
};

const select = (selector: string | undefined, { scrape }: Moment): readonly Series[] => {
  const [, name = '', matchers = ''] = matched(/^(\w+)(?:\{(.+)\})?$/, selector);
  const desired = matchers === '' ? [] : matchers.split(', ').map(matcherOf);
  if (!scrape.types.has(name) && !scrape.types.has(name.replace(/_(?:sum|count)$/, '')))
    throw new Error(`nobody measures ${name}`);
  return scrape.all(name).filter(({ labels }) => desired.every((matches) => matches(labels)));
};

const matcherOf = (text: string): ((labels: Sample['labels']) => boolean) => {
  const [, name = '', operator = '', value = ''] = matched(/^(\w+)(=~?)"([\w|-]+)"$/, text);
  const pattern = new RegExp(`^(?:${value})$`);
  return (labels) => (operator === '=' ? labels[name] === value : pattern.test(labels[name] ?? ''));
};

const matched = (pattern: RegExp, text = ''): RegExpExecArray => {
  const match = pattern.exec(text);
  if (!match) throw new Error(`not understood: ${text}`);
  return match;
};

const keyOf = (labels: Sample['labels']): string => JSON.stringify(Object.entries(labels).sort());

const seconds = (duration = ''): number => {
  const [, count = '', unit = ''] = matched(/^(\d+)([smh])$/, duration);
  return Number(count) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'];
};
