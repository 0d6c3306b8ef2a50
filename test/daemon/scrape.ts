export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  /** By name of the metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The one sample with this name and, among others, these labels; undefined where there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
  readonly all: (name: string, labels?: Readonly<Record<string, string>>) => readonly Sample[];
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const label = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"`;
const sampleLine = new RegExp(`^(${name})(?:\\{(${label}(?:,${label})*)?\\})? (\\S+)$`);
/** What Prometheus takes for a number, which is generous about the letters. */
const number = /^(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i;

/**
 * Reads the Prometheus text format as strictly as promtool does: every metric with one HELP and one TYPE before its
 * samples, all of them together, no sample twice, histograms whole. Throws for anything else.
 */
export const parseScrape = (text: string): Scrape => {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  let current = '';
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const comment = new RegExp(`^# (HELP|TYPE) (${name}) (.+)$`).exec(line);
    if (comment) {
      const [, kind, metric = '', rest = ''] = comment;
      if (kind === 'HELP' && helps.has(metric)) throw new Error(`HELP twice: ${metric}`);
      if (kind === 'HELP') helps.add(metric);
      else if (types.has(metric)) throw new Error(`TYPE twice: ${metric}`);
      else types.set(metric, rest);
      current = metric;
      continue;
    }
    const [, sampled, labels = '', value = ''] = sampleLine.exec(line) ?? fail(line);
    const sample = { name: sampled ?? '', labels: labelsIn(labels), value: numberOf(value) };
    const suffix = types.get(current) === 'histogram' ? '(?:_bucket|_sum|_count)' : '';
    if (!new RegExp(`^${current}${suffix}$`).test(sample.name))
      throw new Error(`not under its own TYPE: ${line}`);
    if (!helps.has(current)) throw new Error(`no HELP: ${line}`);
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).map(String).sort()]);
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    samples.push(sample);
  }
  const all: Scrape['all'] = (desired, labels = {}) =>
    samples.filter(
      (sample) =>
        sample.name === desired &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return { types, samples, all, value: (...query) => all(...query)[0]?.value };
};

const fail = (line: string): never => {
  throw new Error(`no sample: ${line}`);
};

const labelsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(label, 'g'))].map(([pair]) => {
      const at = pair.indexOf('=');
      const value: unknown = JSON.parse(pair.slice(at + 1));
      return [pair.slice(0, at), String(value)];
    }),
  );

const numberOf = (text: string): number => {
  if (!number.test(text)) throw new Error(`no number: ${text}`);
  return text.endsWith('Inf') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
};
