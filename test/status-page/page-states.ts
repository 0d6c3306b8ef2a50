import type { Difference } from '../../src/plan/difference.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { PassHistory } from '../../src/daemon/passes/pass-history.ts';
import {
  notAsked,
  withoutApplied,
  type PassResult,
  type Status,
  type SubdomainResult,
  type TemplateResult,
} from '../../src/result.ts';
import { excerptOf } from '../../src/status-page/excerpt.ts';
import {
  type ClientSummary,
  type PageFacts,
  type PassEntry,
  type TemplateSummary,
  type WriteEntry,
  recordStates,
} from '../../src/status-page/facts.ts';
import { everything } from '../../src/status-page/query.ts';
import { everyKind, pass, template } from '../report/every-kind.ts';

/** The states in which people meet the page, as many records as there are in earnest. */

export const now = Date.parse('2026-11-20T20:01:00.000Z');

export const lastPass = (rest: Partial<PassEntry> = {}): PassEntry => ({
  client: 'default',
  trigger: 'file-change',
  startedAt: now - 60_000,
  durationMs: 1_234,
  status: 'drifted',
  written: 2,
  left: 7,
  error: null,
  ...rest,
});

export const client = (rest: Partial<ClientSummary> = {}): ClientSummary => ({
  client: 'default',
  health: 'healthy',
  why: null,
  running: null,
  waiting: null,
  failures: 0,
  backoffUntil: null,
  nextScheduled: now + 240_000,
  lastPass: lastPass(),
  trouble: null,
  ...rest,
});

/** The newest first. */
export const writes: readonly WriteEntry[] = Array.from({ length: 12 }, (_, index) => ({
  at: new Date(now - index * 450_000).toISOString(),
  client: 'default',
  template: `customer-${index % 5}`,
  action: index % 3 === 0 ? ('add' as const) : ('update' as const),
  recordId: 500 + index,
  before:
    index % 3 === 0
      ? null
      : { type: 'A', name: 'www', content: `192.0.2.${index}`, priority: null, ttl: 3600 },
  after: { type: 'A', name: 'www', content: `203.0.113.${index}`, priority: null, ttl: null },
  outcome: 'applied' as const,
  error: null,
}));

/** The facts of a page on which nothing is filtered. */
const pageOf = (passes: readonly PassResult[], rest: Partial<PageFacts> = {}): PageFacts => {
  const passHistory = new PassHistory();
  for (let hour = 20; hour > 0; hour -= 3)
    passHistory.add(lastPass({ startedAt: now - hour * 3_600_000, left: hour, written: hour % 4 }));
  const { query = everything } = rest;
  return {
    version: 'v-1',
    reader: { role: null, canAct: false },
    notice: null,
    root: './',
    page: '',
    now,
    timeZone: 'UTC',
    query,
    fleet: null,
    newest: excerptOf(assembleReport(passes), query),
    clients: [client()],
    day: passHistory.day(now),
    passes: passHistory.recent,
    ...rest,
  };
};

const record = (index: number, content: string) => ({
  type: (['A', 'AAAA', 'TXT', 'MX', 'CNAME'] as const)[index % 5] ?? 'A',
  name: (['www', null, '_dmarc', 'mail', 'shop'] as const)[index % 5] ?? null,
  content,
  priority: index % 5 === 3 ? 10 : null,
  ttl: 3600,
});

const contents = [
  ['192.0.2.7', '203.0.113.10'],
  ['2001:db8::7', '2001:db8:10::10'],
  [
    'v=DMARC1; p=none; rua=mailto:postmaster@example.net; fo=1; adkim=s; aspf=s; pct=100',
    'v=DMARC1; p=reject; rua=mailto:postmaster@example.net; fo=1; adkim=s; aspf=s; pct=100',
  ],
  ['mx1.example.net', 'mx2.example.net'],
  ['shops.example.com', 'bakery.shops.example.com'],
] as const;

const difference = (index: number, file: string): Difference => {
  const [from, to] = contents[index % 5] ?? contents[0];
  const source = { file, line: index + 4, column: 5 };
  const kinds: readonly Difference[] = [
    {
      action: 'update',
      recordId: 170 + index,
      current: record(index, from),
      desired: record(index, to),
      fields: ['content'],
      cause: 'drifted',
      source,
    },
    { action: 'add', desired: record(index, to), cause: 'edited', source },
    {
      action: 'surplus',
      recordId: 300 + index,
      current: record(index, from),
      reason: 'unlisted',
      cause: 'unknown',
    },
  ];
  if (index % 17 === 5) {
    return {
      action: 'blocked',
      reason: 'cname-conflict',
      desired: record(4, to),
      source,
      conflicts: [173],
      message: 'a CNAME must be alone at its name (RFC 1034 §3.6.2)',
    };
  }
  return kinds[index % 4 === 3 ? 2 : index % 2] ?? kinds[0]!;
};

const behind: SubdomainResult = {
  subdomain: 'bakery.example.net',
  status: 'drifted',
  message: null,
  differences: [
    {
      kind: 'stale',
      templateRecord: { id: 5, ...record(0, '203.0.113.10') },
      record: { id: 905, templateRecordId: 5, ...record(0, '192.0.2.7') },
      fields: ['content'],
    },
  ],
  answers: notAsked,
};

/** `count` templates; those in `differing` have so many differences. */
const templates = (
  count: number,
  differing: Readonly<Record<number, number>>,
  more: Partial<TemplateResult> = {},
): TemplateResult[] =>
  Array.from({ length: count }, (_, index) => {
    const rows = differing[index] ?? 0;
    const file = `templates/customers/customer-${index}.yaml`;
    const status: Status = rows > 0 ? 'drifted' : 'in-sync';
    return template({
      template: `customer-${index}`,
      id: 1_000 + index,
      file,
      revision: '4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345',
      status,
      inSync: 14,
      differences: Array.from({ length: rows }, (__, row) => difference(index + row * 3, file)),
      subdomains: rows > 4 ? [behind] : [],
      ...(rows > 0 ? more : {}),
    });
  });

const twelve = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [index * 3, index < 4 ? 5 : 2.5]));

const held = {
  status: 'held',
  message: '120 adds are planned and limits.maxAdds is 100: look at them, then `apply --force customer-3`',
} as const;

const unreachable = 'cannot reach https://panel.example.net/api/v1: connection refused (ECONNREFUSED)';

const down = (knownAt: number | null): ClientSummary =>
  client({
    health: 'failing',
    why: unreachable,
    failures: 3,
    backoffUntil: now + 64_000,
    lastPass: lastPass({ status: 'failed', error: unreachable, left: null }),
    trouble: { why: unreachable, knownAt, unknown: knownAt === null ? 40 : 0 },
  });

const sevenClients = [
  'acme',
  'bakery-am-markt-und-weitere-filialen-in-der-region',
  'cafe',
  'dentist',
  'estate',
  'florist',
  'garage',
];

/** The page of a template with something of everything. */
export const templateState = (): TemplateSummary => {
  const [, whole] = everyKind.templates;
  if (whole === undefined) throw new Error('no template');
  const frame = pageOf([]);
  const file = 'templates/standard-web.yaml';
  const records = Array.from({ length: 30 }, (_, index) => ({
    ...record(index, contents[index % 5]?.[1] ?? ''),
    type: 'A' as const,
    source: { file, line: index + 5, column: 5 },
  }));
  return {
    ...frame,
    reader: { role: 'act', canAct: true },
    root: '../',
    page: 'templates/standard-web',
    name: whole.template,
    hasSeveralClients: false,
    templates: [
      {
        template: withoutApplied(whole),
        href: 'templates/standard-web',
        more: 0,
        records: recordStates(records, { inSync: 1, differences: [] }),
        recordsOf: 'file',
        moreRecords: 0,
        dryRun: false,
        pastes: [
          {
            at: 0,
            place: `${file}:5`,
            before: record(0, '192.0.2.1'),
            yaml: '  - { type: A, name: www, content: 203.0.113.9 }',
          },
          { at: 1, place: `${file}:6`, before: record(1, '192.0.2.2'), yaml: null },
          {
            at: 2,
            place: file,
            before: null,
            yaml: `  - type: TXT\n    name: selector._domainkey\n    content: ${'x'.repeat(300)}`,
          },
        ],
        morePastes: 3,
      },
    ],
    problems: [],
    commits: everyKind.commits ?? [],
    writes,
  };
};

export const states: Readonly<Record<string, () => PageFacts>> = {
  'in-sync': () => pageOf([pass({ templates: templates(40, {}) })]),
  '40-differences': () => pageOf([pass({ templates: templates(40, twelve) })]),
  held: () =>
    pageOf([
      pass({
        templates: templates(40, { 3: 12, 20: 1 }, held).map((one) => ({
          ...one,
          differences: one.differences.map((open) =>
            open.action === 'surplus' || open.action === 'blocked'
              ? open
              : { ...open, outcome: 'skipped', error: `held: ${held.message}` },
          ),
        })),
      }),
    ]),
  failed: () =>
    pageOf([
      pass({
        templates: [
          ...templates(38, { 7: 2 }),
          template({
            template: 'lost',
            id: null,
            status: 'failed',
            message:
              'no template of this name belongs to the client: create it at the service, or correct the name',
          }),
          template({
            template: 'lost-too',
            id: null,
            status: 'failed',
            message:
              'no template of this name belongs to the client: create it at the service, or correct the name',
          }),
        ],
        problems: everyKind.problems,
      }),
    ]),
  'service-down': () =>
    pageOf([pass({ templates: templates(40, twelve) })], { clients: [down(now - 360_000)] }),
  'never-up': () =>
    pageOf([pass({})], { clients: [down(null)], passes: [], day: new PassHistory().day(now) }),
  'first-start': () =>
    pageOf([], {
      clients: [
        client({ health: 'starting', why: 'no pass has ended yet', lastPass: null, running: 'startup' }),
      ],
      passes: [],
      day: new PassHistory().day(now),
    }),
  '7-clients': () =>
    pageOf(
      sevenClients.map((name, index) =>
        pass({
          client: name,
          templates: templates(6, index % 3 === 1 ? { 2: 2, 4: 1 } : {}).map((one) => ({
            ...one,
            client: name,
          })),
        }),
      ),
      {
        clients: sevenClients.map((name, index) =>
          index === 5
            ? { ...down(now - 360_000), client: name }
            : client({ client: name, lastPass: lastPass({ client: name }) }),
        ),
      },
    ),
  '500-templates': () => pageOf([pass({ templates: templates(500, { 217: 1 }) })]),
  '7000-records': () =>
    pageOf([
      pass({
        templates: templates(500, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [index, 14]))),
      }),
    ]),
  'every-kind': () => pageOf([everyKind]),
};
