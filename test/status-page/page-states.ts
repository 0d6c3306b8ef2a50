import { Day } from '../../src/daemon/passes/day.ts';
import type { Difference } from '../../src/plan/difference.ts';
import {
  notAsked,
  type PassResult,
  type Status,
  type SubdomainResult,
  type TemplateResult,
} from '../../src/result.ts';
import type {
  ClientFacts,
  Facts,
  PassEntry,
  TemplateFacts,
  WriteEntry,
} from '../../src/status-page/facts.ts';
import { renderOverview } from '../../src/status-page/overview.ts';
import { everything, excerptOf, reportOf, type PageQuery, type Visit } from '../../src/status-page/query.ts';
import {
  add,
  at,
  behind,
  blocked,
  everyKind,
  pass,
  record,
  surplus,
  template,
  update,
} from '../report/every-kind.ts';

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

export const client = (rest: Partial<ClientFacts> = {}): ClientFacts => ({
  client: 'default',
  health: 'healthy',
  why: null,
  lastError: null,
  running: null,
  failures: 0,
  backoffUntil: null,
  nextScheduled: now + 240_000,
  lastPass: lastPass(),
  knownAt: null,
  ...rest,
});

/** The newest first. */
export const writes: readonly WriteEntry[] = Array.from({ length: 12 }, (_, index) => ({
  at: new Date(now - index * 450_000).toISOString(),
  client: 'default',
  template: `customer-${index % 5}`,
  action: index % 3 === 0 ? ('add' as const) : ('update' as const),
  recordId: 500 + index,
  before: index % 3 === 0 ? null : record(`www 3600 A 192.0.2.${index}`),
  after: record(`www A 203.0.113.${index}`),
  outcome: 'applied' as const,
  error: null,
}));

/** Somebody who may only look. */
export const visitor = (query: Partial<PageQuery> = {}): Visit => ({
  query: { ...everything, ...query },
  reader: { role: null, canAct: false },
  root: './',
  page: '',
});

export type State = Facts & { readonly results: readonly PassResult[] };

export const overviewOf = (state: State, query: Partial<PageQuery> = {}): string => {
  const seen = visitor(query);
  const report = reportOf(state.results, [], seen.query.client);
  return renderOverview({ ...state, ...seen }, excerptOf(report, seen.query));
};

/** The state after a pass of each client. */
export const factsOf = (results: readonly PassResult[], rest: Partial<Facts> = {}): State => {
  const history = new Day();
  for (let hour = 20; hour > 0; hour -= 3)
    history.add(lastPass({ startedAt: now - hour * 3_600_000, left: hour, written: hour % 4 }));
  return {
    version: 'v-1',
    now,
    clients: results.map((one) => client({ client: one.client })),
    results,
    day: history.slots(now),
    fleet: null,
    ...rest,
  };
};

const dmarc = 'rua=mailto:postmaster@example.net; fo=1; adkim=s; aspf=s; pct=100';

/** Records at the service, and in the file. */
const changes = [
  ['www 3600 A 192.0.2.7', 'www 3600 A 203.0.113.10'],
  ['@ 3600 AAAA 2001:db8::7', '@ 3600 AAAA 2001:db8:10::10'],
  [`_dmarc 3600 TXT v=DMARC1; p=none; ${dmarc}`, `_dmarc 3600 TXT v=DMARC1; p=reject; ${dmarc}`],
  ['mail 3600 MX 10 mx1.example.net', 'mail 3600 MX 10 mx2.example.net'],
  ['shop 3600 CNAME shops.example.com', 'shop 3600 CNAME bakery.shops.example.com'],
] as const;

const difference = (index: number, file: string): Difference => {
  const [from, to] = changes[index % 5] ?? changes[0];
  const source = at(index + 4, file);
  if (index % 17 === 5) {
    const why = 'a CNAME must be alone at its name (RFC 1034 §3.6.2)';
    return blocked('shop 3600 CNAME shops.example.com', 'cname-conflict', why, { source, conflicts: [173] });
  }
  if (index % 4 === 3) return surplus(300 + index, from);
  return index % 2 === 1 ? add(to, { source }) : update(170 + index, from, to, { source, cause: 'drifted' });
};

const follower: SubdomainResult = {
  subdomain: 'bakery.example.net',
  status: 'drifted',
  message: null,
  differences: [behind('stale', [5, changes[0][1]], [905, changes[0][0]], ['content'])],
  answers: notAsked,
};

/** `count` templates; those in `differing` have so many differences. */
const templates = (count: number, differing: Readonly<Record<number, number>>): TemplateResult[] =>
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
      subdomains: rows > 4 ? [follower] : [],
    });
  });

const twelve = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [index * 3, index < 4 ? 5 : 2.5]));

const unreachable = 'cannot reach https://panel.example.net/api/v1: connection refused (ECONNREFUSED)';

const down = (rest: Partial<ClientFacts> = {}): ClientFacts =>
  client({
    health: 'failing',
    why: unreachable,
    lastError: unreachable,
    failures: 3,
    backoffUntil: now + 64_000,
    lastPass: lastPass({ status: 'failed', error: unreachable, left: null }),
    knownAt: now - 360_000,
    ...rest,
  });

const sevenClients =
  'acme bakery-am-markt-und-weitere-filialen-in-der-region cafe dentist estate florist garage'.split(' ');

/** Without other templates. */
export const resultsOf = ({ templates: all, ...rest }: PassResult, name = 'standard-web'): PassResult[] => [
  { ...rest, templates: all.filter(({ template: one }) => one === name) },
];

/** Everything about a template with something of everything. */
export const templateState = (): { facts: Facts; of: TemplateFacts } => {
  const file = 'templates/standard-web.yaml';
  const records = Array.from({ length: 30 }, (_, index) => ({
    ...record(changes[index % 5]?.[1] ?? ''),
    source: at(index + 50, file),
  }));
  const open = everyKind.templates.flatMap(({ differences }) =>
    differences.flatMap((one) => ('source' in one ? { ...one.desired, source: one.source } : [])),
  );
  const desired = {
    template: 'standard-web',
    id: 17,
    source: { file, line: 1, column: 1 },
    mode: 'enforce',
    surplus: 'report',
    adopt: false,
    limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
    subdomains: [],
    ignore: [],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of its records are those of files
    records: [...open, ...records] as unknown as TemplateFacts['files'][number]['desired']['records'],
  } as const;
  return {
    facts: factsOf([everyKind]),
    of: {
      name: 'standard-web',
      files: [{ client: 'default', desired }],
      results: resultsOf(everyKind),
      writes,
    },
  };
};

export const states: Readonly<Record<string, () => State>> = {
  'in-sync': () => factsOf([pass({ templates: templates(40, {}) })]),
  '40-differences': () => factsOf([pass({ templates: templates(40, twelve) })]),
  'service-down': () => {
    const asOf = new Date(now - 360_000).toISOString();
    const unread = { status: 'failed', message: unreachable, asOf } as const;
    const some = templates(40, twelve).map((one) => {
      const { status, message } = one;
      return { ...one, ...unread, was: { status, message } };
    });
    return factsOf([pass({ templates: some })], { clients: [down()] });
  },
  'first-start': () =>
    factsOf([], {
      clients: [
        client({ health: 'starting', why: 'no pass has ended yet', lastPass: null, running: 'startup' }),
      ],
      day: new Day().slots(now),
    }),
  '7-clients': () => {
    const passes = sevenClients.map((name, index) => {
      const some = templates(6, index % 3 === 1 ? { 2: 2, 4: 1 } : {});
      return pass({ client: name, templates: some.map((one) => ({ ...one, client: name })) });
    });
    const { clients } = factsOf(passes);
    return factsOf(passes, { clients: clients.with(5, down({ client: sevenClients[5]! })) });
  },
  '500-templates': () => factsOf([pass({ templates: templates(500, { 217: 1 }) })]),
  '7000-records': () =>
    factsOf([
      pass({
        templates: templates(500, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [index, 14]))),
      }),
    ]),
  'every-kind': () => factsOf([everyKind]),
};
