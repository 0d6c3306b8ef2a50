import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createMetrics } from '../../src/daemon/metrics.ts';
import { statuses } from '../../src/result.ts';
import { parseScrape } from './scrape.ts';

const rulesSchema = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});

const readRules = async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, block = ''] = /```yaml\n(groups:\n.*?)```/s.exec(readme) ?? [];
  return rulesSchema.parse(parse(block)).groups.flatMap(({ rules }) => rules);
};

/** The metrics of an expression with the values that it asks for of each label. */
const selectorsIn = (expression: string) =>
  [...expression.matchAll(/(dns_template_sync_\w+)(?:\{(\w+)=~?"([^"]*)"\})?/g)].map(
    ([, metric = '', label, values = '']) => ({ metric, label, values: values.split('|') }),
  );

describe('the alert rules of the README', () => {
  it('ask for what there is to be scraped', async () => {
    const metrics = createMetrics('1');
    metrics.addClient('acme');
    const template = {
      client: 'acme',
      template: 'web',
      id: 1,
      file: 'web.yaml',
      revision: null,
      status: 'in-sync',
      message: null,
      inSync: 1,
      parked: 0,
      ignored: 0,
      differences: [],
      subdomains: [],
    } as const;
    metrics.countPass(
      { client: 'acme', trigger: 'startup', status: statuses[0], durationMs: 1 },
      {
        client: 'acme',
        run: 'run',
        trigger: 'startup',
        startedAt: '2026-11-20T20:00:00.000Z',
        durationMs: 1,
        dryRun: false,
        halted: null,
        retryAt: null,
        templates: [template],
        problems: [],
      },
    );
    const { all } = parseScrape(await metrics.text(0));
    const rules = await readRules();
    expect(rules.map(({ alert }) => alert)).toHaveLength(4);
    for (const { alert, expr } of rules) {
      const selectors = selectorsIn(expr);
      expect([alert, selectors.length]).toEqual([alert, 1]);
      for (const { metric, label, values } of selectors)
        for (const value of values)
          expect([
            alert,
            value,
            all(metric, label === undefined ? {} : { [label]: value }).length > 0,
          ]).toEqual([alert, value, true]);
    }
  });
});
