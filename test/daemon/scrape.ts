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

/** Reads the Prometheus text format. Throws for a line that is none, and for a metric that comes twice. */
export const parseScrape = (text: string): Scrape => {
  const lines = text.split('\n').slice(0, -1);
  const types = lines.flatMap((line) => [...line.matchAll(/^# TYPE (\w+) (\w+)$/g)]);
  if (new Set(types.map(([, name]) => name)).size < types.length) throw new Error('a metric comes twice');
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(sampleIn);
  const all: Scrape['all'] = (desired, labels = {}) =>
    samples.filter(
      (sample) =>
        sample.name === desired &&
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  return {
    types: new Map(types.map(([, name = '', type = '']) => [name, type])),
    samples,
    all,
    value: (...query) => all(...query)[0]?.value,
  };
};

const sampleIn = (line: string): Sample => {
  const [, name, labels = '', value] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`no sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)=("(?:[^"\\\n]|\\[\\n"])*")/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, String(JSON.parse(text))])),
    value: Number(value.replace('Inf', 'Infinity')),
  };
};
