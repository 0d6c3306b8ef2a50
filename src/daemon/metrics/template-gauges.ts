import { sameElements } from '../../lib/same-elements.ts';
import { groupBy } from '../../plan/group.ts';
import { statuses, type Status, type TemplateResult } from '../../result.ts';
import type { MetricMaker } from './metric-maker.ts';

/** The gauges about templates: totals over all clients, and series of their own for a bounded number of them. */
export interface TemplateGauges {
  readonly show: (client: string, results: readonly TemplateResult[]) => void;
}

/**
 * A template that is gone loses its series.
 *
 * | templates of all clients | have series of their own                                   |
 * |--------------------------|------------------------------------------------------------|
 * | at most `bound`          | all of them                                                |
 * | more                     | those that differ, are held or have failed, `bound` at most |
 */
export const templateGauges = ({ gauge }: MetricMaker, bound = maxTemplates): TemplateGauges => {
  const clients = new Map<string, ClientGauges>();
  let known = 0;
  let shown = 0;
  const records = gauge(
    'records',
    ['client', 'template', 'state'],
    'Records of a template by state, as last seen.',
  );
  const templateStatus = gauge(
    'template_status',
    ['client', 'template', 'status'],
    'The status of a template: 1 for the current one, 0 for the others.',
  );
  const fleetTemplates = gauge('fleet_templates', ['status'], 'Templates of all clients by status.');
  const fleetRecords = gauge(
    'fleet_records',
    ['state'],
    'Records of the templates of all clients by state, as last seen.',
  );
  for (const status of statuses) fleetTemplates.set({ status }, 0);
  for (const state of recordStates) fleetRecords.set({ state }, 0);

  const addToTotals = ({ status, counts }: TemplateEntry, sign: 1 | -1): void => {
    known += sign;
    fleetTemplates.inc({ status }, sign);
    for (const state of recordStates) if (counts) fleetRecords.inc({ state }, sign * counts[state]);
  };
  const hide = (client: string, template: string, series: Set<string>): void => {
    if (!series.delete(template)) return;
    shown -= 1;
    for (const status of statuses) templateStatus.remove({ client, template, status });
    for (const state of recordStates) records.remove({ client, template, state });
  };
  const showOne = (client: string, template: string, entry: TemplateEntry, series: Set<string>): void => {
    const { status: current, counts } = entry;
    if (known > bound && (current === 'in-sync' || (!series.has(template) && shown >= bound))) {
      hide(client, template, series);
      return;
    }
    if (!series.has(template)) shown += 1;
    series.add(template);
    for (const status of statuses)
      templateStatus.set({ client, template, status }, status === current ? 1 : 0);
    for (const state of recordStates) if (counts) records.set({ client, template, state }, counts[state]);
  };
  const showAll = (): void => {
    for (const [client, { entries, series }] of clients)
      for (const [template, entry] of entries) showOne(client, template, entry, series);
  };
  return {
    show: (client, results) => {
      const last = clients.get(client);
      const { entries: before, series } = last ?? newClient();
      // Some may have found no room for their series.
      if (last?.results === results && series.size === before.size) return;
      const wasBounded = known > bound;
      const entries = entriesOf(results, before);
      for (const [template, entry] of before) {
        if (entries.get(template) === entry) continue;
        addToTotals(entry, -1);
        if (!entries.has(template)) hide(client, template, series);
      }
      const changed = [...entries].filter(([template, entry]) => before.get(template) !== entry);
      for (const [, entry] of changed) addToTotals(entry, 1);
      if (entries.size > 0) clients.set(client, { results, entries, series });
      else clients.delete(client);
      if (known > bound !== wasBounded) showAll();
      // Unchanged templates keep their result object. There may be thousands, each with eleven series.
      else
        for (const [template, entry] of entries)
          if (before.get(template) !== entry || !series.has(template))
            showOne(client, template, entry, series);
    },
  };
};

/** One has eleven series, of 540 bytes together. */
const maxTemplates = 5_000;

interface ClientGauges {
  readonly results: readonly TemplateResult[];
  readonly entries: ReadonlyMap<string, TemplateEntry>;
  /** The templates that have series of their own. */
  readonly series: Set<string>;
}

/** Templates with the same name and different ids are shown as one. */
interface TemplateEntry {
  readonly results: readonly TemplateResult[];
  /** The worst. */
  readonly status: Status;
  /** Those that were counted last; null if they never were. */
  readonly counts: RecordCounts | null;
}

const newClient = (): ClientGauges => ({ results: [], entries: new Map(), series: new Set() });

/** Unchanged templates keep their entry. */
const entriesOf = (
  results: readonly TemplateResult[],
  before: ReadonlyMap<string, TemplateEntry>,
): ReadonlyMap<string, TemplateEntry> => {
  const byName = groupBy(results, ({ template }) => template);
  return new Map(
    [...byName].map(([template, ofName]) => {
      const last = before.get(template);
      if (last && sameElements(ofName, last.results)) return [template, last];
      const status = statuses.findLast((one) => ofName.some((result) => result.status === one)) ?? 'in-sync';
      return [template, { results: ofName, status, counts: countsOf(ofName) ?? last?.counts ?? null }];
    }),
  );
};

const recordStates = ['in_sync', 'add', 'update', 'park', 'surplus', 'blocked'] as const;

type RecordCounts = Readonly<Record<(typeof recordStates)[number], number>>;

/** The records of some templates by state; null if one of them could not be read. */
const countsOf = (results: readonly TemplateResult[]): RecordCounts | null => {
  if (!results.every(wasCompared)) return null;
  const counts = { in_sync: 0, add: 0, update: 0, park: 0, surplus: 0, blocked: 0 };
  for (const { inSync, differences } of results) {
    counts.in_sync += inSync;
    for (const { action, outcome } of differences) if (outcome !== 'applied') counts[action] += 1;
  }
  return counts;
};

/** If the service or the file could not be read, nothing was counted. */
const wasCompared = ({ status, inSync, parked, ignored, differences }: TemplateResult): boolean =>
  status === 'in-sync' || status === 'drifted' || inSync + parked + ignored + differences.length > 0;
