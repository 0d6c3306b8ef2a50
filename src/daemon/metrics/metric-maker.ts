import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Makes the metrics of one registry. Their names are given without the prefix that all of them have. */
export const metricMaker = (registry: Registry) => {
  const configurationOf = <Label extends string>(
    name: string,
    labelNames: readonly Label[],
    help: string,
  ) => ({
    name: `dns_template_sync_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    gauge: <Label extends string>(name: string, labelNames: readonly Label[], help: string) =>
      new Gauge(configurationOf(name, labelNames, help)),
    counter: <Label extends string>(name: string, labelNames: readonly Label[], help: string) =>
      new Counter(configurationOf(name, labelNames, help)),
    histogram: <Label extends string>(
      name: string,
      labelNames: readonly Label[],
      help: string,
      buckets: number[],
    ) => new Histogram({ ...configurationOf(name, labelNames, help), buckets }),
  };
};

export type MetricMaker = ReturnType<typeof metricMaker>;
