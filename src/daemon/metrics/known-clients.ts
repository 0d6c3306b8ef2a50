import { groupBy } from '../../model/group.ts';
import type { KnownAnswers } from '../../report/with-answers.ts';
import { statuses, type PassResult, type Status, type TemplateResult } from '../../result.ts';

/** What is known of a client at a scrape. Times in ms since the epoch; null: never. */
export interface KnownClient {
  readonly lastPass: number | null;
  readonly lastSuccess: number;
  readonly lastComplete: number;
  /** Whether its template files are free of errors; null: unknown. */
  readonly areFilesValid: boolean | null;
  /** By name: templates with the same name and different ids are shown as one. */
  readonly templates: ReadonlyMap<string, KnownTemplate>;
  readonly answers: KnownAnswers | null;
  readonly askedAt: number | null;
}

interface KnownTemplate {
  /** The worst. */
  readonly status: Status;
  /** The records that were counted last; null if they never were. */
  readonly counts: RecordCounts | null;
}

export interface EndedPass {
  readonly status: Status;
  /** Whether everything was read, and writing did not stop early. */
  readonly isComplete: boolean;
  readonly endedAt: number;
}

export const newClient: KnownClient = {
  lastPass: null,
  lastSuccess: 0,
  lastComplete: 0,
  areFilesValid: null,
  templates: new Map(),
  answers: null,
  askedAt: null,
};

/** The client after a pass. `latest`: its latest results; null if the pass compared nothing. */
export const withPass = (
  client: KnownClient,
  { status, isComplete, endedAt }: EndedPass,
  latest: PassResult | null,
): KnownClient => ({
  ...client,
  lastPass: endedAt,
  ...(status !== 'failed' && { lastSuccess: endedAt }),
  ...(isComplete && { lastComplete: endedAt }),
  ...(latest !== null && {
    areFilesValid: latest.problems.every(({ severity }) => severity !== 'error'),
    templates: knownTemplates(latest.templates, client.templates),
  }),
});

const knownTemplates = (
  results: readonly TemplateResult[],
  before: KnownClient['templates'],
): KnownClient['templates'] =>
  new Map(
    [...groupBy(results, ({ template }) => template)].map(([template, ofName]) => {
      const status = statuses.findLast((one) => ofName.some((result) => result.status === one)) ?? 'in-sync';
      return [template, { status, counts: countsOf(ofName) ?? before.get(template)?.counts ?? null }];
    }),
  );

export const recordStates = ['in_sync', 'add', 'update', 'park', 'surplus', 'blocked'] as const;

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
