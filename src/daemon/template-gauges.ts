import { Gauge, type Registry } from 'prom-client';
import { sameElements } from '../lib/same-elements.ts';
import { groupBy } from '../plan/group.ts';
import { statuses, type TemplateResult } from '../result.ts';

/** The prefix of every metric. */
export const prefix = 'dns_template_sync_';

/** The gauges with a template label. A template that is gone loses its series. */
export const templateGauges = (
  registers: Registry[],
): { readonly show: (client: string, results: readonly TemplateResult[]) => void } => {
  const shown = new Map<string, Shown>();
  const records = new Gauge({
    name: `${prefix}records`,
    help: 'Records of a template by state, as last seen.',
    labelNames: ['client', 'template', 'state'],
    registers,
  });
  const templateStatus = new Gauge({
    name: `${prefix}template_status`,
    help: 'The status of a template: 1 for the current one, 0 for the others.',
    labelNames: ['client', 'template', 'status'],
    registers,
  });

  /** Templates with the same name and different ids share one series. */
  const set = (client: string, template: string, results: readonly TemplateResult[]): void => {
    const worst = statuses.findLast((status) => results.some((result) => result.status === status));
    for (const status of statuses) templateStatus.set({ client, template, status }, status === worst ? 1 : 0);
    if (!results.every(wasCompared)) return;
    const counts = results.map(countsOf);
    for (const state of states)
      records.set(
        { client, template, state },
        counts.reduce((sum, count) => sum + count[state], 0),
      );
  };
  const remove = (client: string, template: string): void => {
    for (const status of statuses) templateStatus.remove({ client, template, status });
    for (const state of states) records.remove({ client, template, state });
  };
  return {
    show: (client, results) => {
      const before = shown.get(client);
      if (before?.results === results) return;
      const byName = groupBy(results, ({ template }) => template);
      for (const template of before?.byName.keys() ?? []) if (!byName.has(template)) remove(client, template);
      for (const [template, ofName] of byName) {
        // Unchanged templates keep their result object. There may be thousands, each with eleven series.
        if (!sameElements(ofName, before?.byName.get(template) ?? [])) set(client, template, ofName);
      }
      shown.set(client, { results, byName });
    },
  };
};

interface Shown {
  readonly results: readonly TemplateResult[];
  readonly byName: ReadonlyMap<string, readonly TemplateResult[]>;
}

const states = ['in_sync', 'add', 'update', 'park', 'surplus', 'blocked'] as const;

/** If the service or the file could not be read, nothing was counted. */
const wasCompared = ({ status, inSync, parked, ignored, differences }: TemplateResult): boolean =>
  status === 'in-sync' || status === 'drifted' || inSync + parked + ignored + differences.length > 0;

const countsOf = ({ inSync, differences }: TemplateResult): Record<(typeof states)[number], number> => {
  const counts = { in_sync: inSync, add: 0, update: 0, park: 0, surplus: 0, blocked: 0 };
  for (const { action, outcome } of differences) if (outcome !== 'applied') counts[action] += 1;
  return counts;
};
