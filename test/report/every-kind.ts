import { assembleReport } from '../../src/report/assemble.ts';
import type { RecordData } from '../../src/model/record.ts';
import type { Add, Blocked, Difference, Surplus, Update } from '../../src/plan/difference.ts';
import {
  notAsked,
  type PassResult,
  type ServerResult,
  type SubdomainAnswers,
  type SubdomainDifference,
  type SubdomainResult,
  type TemplateResult,
} from '../../src/result.ts';

const commitAddress = 'https://git.example.net/dns/commit/4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345';

/** The only link of this report to another host. */
export const linkToCommit = `<a href="${commitAddress}">`;

const record = (type: string, name: string | null, content: string, more: Partial<RecordData> = {}) => ({
  type,
  name,
  content,
  priority: null,
  ttl: null,
  ...more,
});

const at = (line: number, file = 'templates/standard-web.yaml') => ({ file, line, column: 5 });

export const template = (more: Partial<TemplateResult>): TemplateResult => ({
  client: 'default',
  template: 'standard-web',
  id: 17,
  file: 'templates/standard-web.yaml',
  revision: null,
  status: 'in-sync',
  message: null,
  inSync: 0,
  parked: 0,
  ignored: 0,
  differences: [],
  subdomains: [],
  ...more,
});

const server = (name: string, status: ServerResult['status']): ServerResult => ({
  name: `${name}.example.net`,
  address: `192.0.2.${name.slice(2)}`,
  serial: 2026112001,
  status,
  message: null,
});

const everyAnswer: SubdomainAnswers = {
  status: 'drifted',
  servers: [
    server('ns1', 'drifted'),
    server('ns2', 'drifted'),
    { ...server('ns3', 'silent'), message: 'it refuses to answer' },
    { ...server('ns5', 'silent'), serial: null, message: 'it does not answer' },
    { ...server('ns6', 'failed'), address: '', serial: null, message: 'it has no address' },
  ],
  differences: [
    ...['ns1.example.net', 'ns2.example.net'].map((name) => ({
      kind: 'missing' as const,
      server: name,
      address: '203.0.113.53',
      name: 'api.shop.example.net',
      type: 'A',
      desired: [record('A', 'api', '203.0.113.20', { ttl: 3600 })],
      current: [],
    })),
    {
      kind: 'stale',
      server: 'ns1.example.net',
      address: '203.0.113.53',
      name: 'shop.example.net',
      type: 'MX',
      desired: [
        record('MX', null, 'mx1.example.net', { priority: 10, ttl: 3600 }),
        record('MX', null, 'mx2.example.net', { priority: 20, ttl: 3600 }),
      ],
      current: [record('MX', null, 'mx1.example.net', { priority: 10, ttl: 300 })],
    },
    {
      kind: 'dangling',
      server: 'resolver 192.0.2.53',
      address: '',
      name: 'app.shop.example.net',
      type: 'CNAME',
      desired: [record('CNAME', 'app', 'shop.azurewebsites.net', { ttl: 300 })],
      current: [record('CNAME', 'app', 'shop.azurewebsites.net', { ttl: 300 })],
      message: 'shop.azurewebsites.net does not exist',
    },
  ],
};

export const pass = (more: Partial<PassResult>): PassResult => ({
  client: 'default',
  run: '20261120-200000-1',
  trigger: 'command',
  startedAt: '2026-11-20T20:00:00.000Z',
  durationMs: 41,
  dryRun: true,
  holdReason: null,
  retryAfter: null,
  templates: [],
  problems: [],
  ...more,
});

const dkim = (key: string) =>
  `v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${key.repeat(12)}IDAQAB`;

const add = (line: number, desired: RecordData, more: Partial<Add> = {}): Add => ({
  action: 'add',
  desired,
  cause: 'edited',
  source: at(line),
  ...more,
});

type Change = Pick<Update, 'recordId' | 'current' | 'desired' | 'fields'> & Partial<Update>;
const update = (line: number, change: Change): Update => ({
  action: 'update',
  cause: 'edited',
  source: at(line),
  ...change,
});

const surplus = (recordId: number, current: RecordData, more: Partial<Surplus> = {}): Surplus => ({
  action: 'surplus',
  recordId,
  current,
  reason: 'unlisted',
  cause: 'unknown',
  ...more,
});

const blocked = (
  line: number,
  desired: RecordData,
  why: Pick<Blocked, 'reason' | 'message'> & Partial<Blocked>,
) => ({ action: 'blocked', desired, source: at(line), ...why }) as const;

const differences: readonly Difference[] = [
  add(9, record('A', 'www', '203.0.113.10', { ttl: 300 })),
  add(10, record('TXT', null, 'v=spf1 mx -all'), { cause: 'drifted', outcome: 'applied' }),
  add(3, record('SRV', '_sip._tcp', '5 5060 sip.example.net', { priority: 10 }), {
    cause: 'unknown',
    source: at(3, 'templates/_voice.yaml'),
    outcome: 'skipped',
    skippedBy: 'mode-edits',
    error: 'The mode of this template is edits: only what an edit of the file caused is written.',
  }),
  update(7, {
    recordId: 5,
    current: record('A', null, '203.0.113.1', { ttl: 3600 }),
    desired: record('A', null, '203.0.113.2', { ttl: 300 }),
    fields: ['content', 'ttl'],
    cause: 'both',
    outcome: 'applied',
  }),
  update(11, {
    recordId: 6,
    current: record('MX', null, 'mx1.example.net', { priority: 10, ttl: 3600 }),
    desired: record('MX', null, 'mx1.example.net', { priority: 20, ttl: 3600 }),
    fields: ['priority'],
    outcome: 'failed',
    error: 'The service answered 429.',
    retryAt: '2026-11-20T20:05:00.000Z',
  }),
  update(12, {
    recordId: 7,
    current: record('TXT', 'key._domainkey', dkim('qLm4Xw0Z')),
    desired: record('TXT', 'key._domainkey', dkim('qLm4Xw1Z')),
    fields: ['content'],
    cause: 'drifted',
    outcome: 'unknown',
    error: 'The connection was closed before the answer came.',
  }),
  update(13, {
    recordId: 8,
    current: record('AAAA', '_parked-8', '::'),
    desired: record('AAAA', 'ipv6', '2001:db8::10'),
    fields: ['name', 'content'],
    outcome: 'skipped',
    skippedBy: 'not-selected',
    error: 'not selected by --only',
  }),
  {
    action: 'park',
    recordId: 9,
    current: record('CNAME', 'old', 'old.example.org', { ttl: 3600 }),
    desired: record('CNAME', '_parked-9', 'parked.invalid', { ttl: 3600 }),
    cause: 'edited',
    outcome: 'skipped',
    skippedBy: 'mode-report',
    error: 'mode: report writes nothing',
  },
  surplus(21, record('CAA', null, '0 issue "ca.example.net"', { ttl: 3600 })),
  surplus(22, record('A', 'www', '203.0.113.10', { ttl: 3600 }), { reason: 'duplicate', cause: 'drifted' }),
  surplus(23, record('PTR', '10', 'host.example.net'), { cause: 'edited' }),
  blocked(14, record('CNAME', 'shop', 'shop.example.org'), {
    reason: 'cname-conflict',
    conflicts: [31, 32],
    message: 'Other records stand at this name, and a CNAME must stand alone.',
  }),
  blocked(15, record('MX', null, '.', { priority: 0 }), {
    reason: 'null-mx-conflict',
    recordId: 33,
    current: record('MX', null, 'mx3.example.net', { priority: 30 }),
    conflicts: [6],
    message: 'A null MX must be the only MX of its name.',
  }),
  blocked(16, record('A', 'api', '203.0.113.20'), {
    reason: 'vanished',
    retryAt: '2026-11-20T20:05:00.000Z',
    message: 'An add was sent at 2026-11-20T19:59:58.000Z and its outcome is not known.',
  }),
  blocked(17, record('A', 'ttl', '203.0.113.30', { ttl: 5 }), {
    reason: 'not-converging',
    recordId: 41,
    current: record('A', 'ttl', '203.0.113.30', { ttl: 60 }),
    message: 'The service stored ttl 60 where 5 was sent.',
  }),
  blocked(18, record('TXT', 'long', 'x'.repeat(300)), {
    reason: 'refused',
    retryAt: '2026-11-21T02:00:00.000Z',
    message: 'The service answered 422.',
    outcome: 'skipped',
    skippedBy: 'pass',
    error: 'It is not yet time to try again.',
  }),
  blocked(19, record('A', 'gone', '203.0.113.40'), {
    reason: 'vanished',
    message: 'It was added twice and is gone again.',
  }),
];

const subdomain = (name: string, more: Partial<SubdomainResult>): SubdomainResult => ({
  subdomain: `${name}.example.net`,
  status: 'in-sync',
  message: null,
  differences: [],
  answers: notAsked,
  ...more,
});

const missing = (id: number, desired: RecordData): SubdomainDifference => ({
  kind: 'missing',
  templateRecord: { id, ...desired },
  record: null,
  fields: [],
});

const stale = (
  [id, desired]: readonly [number, RecordData],
  [derivedId, derived]: readonly [number, RecordData],
  fields: SubdomainDifference['fields'],
): SubdomainDifference => ({
  kind: 'stale',
  templateRecord: { id, ...desired },
  record: { id: derivedId, templateRecordId: id, ...derived },
  fields,
});

const subdomains: readonly SubdomainResult[] = [
  subdomain('in-sync', {
    answers: { status: 'in-sync', servers: [server('ns1', 'in-sync')], differences: [] },
  }),
  subdomain('shop', {
    status: 'drifted',
    differences: [
      missing(51, record('A', 'api', '203.0.113.20', { ttl: 3600 })),
      stale(
        [5, record('A', null, '203.0.113.2', { ttl: 300 })],
        [905, record('A', 'shop.example.net', '203.0.113.1', { ttl: 3600 })],
        ['content', 'ttl'],
      ),
      stale(
        [52, record('AAAA', 'www', '2001:db8::10')],
        [906, record('A', 'web', '203.0.113.9')],
        ['type', 'name', 'content'],
      ),
      stale(
        [6, record('MX', null, 'mx1.example.net', { priority: 20 })],
        [908, record('MX', null, 'mx1.example.net', { priority: 10, ttl: 3600 })],
        ['priority'],
      ),
      {
        kind: 'foreign',
        templateRecord: null,
        record: { id: 907, templateRecordId: 4711, ...record('TXT', null, 'hello') },
        fields: [],
      },
    ],
    answers: everyAnswer,
  }),
  subdomain('new', {
    status: 'pending',
    message: 'Its template was written 2 minutes ago.',
    differences: [missing(51, record('A', 'api', '203.0.113.20'))],
    answers: {
      status: 'pending',
      servers: [{ ...server('ns1', 'in-sync'), serial: 2026112002 }, server('ns2', 'pending')],
      differences: [],
    },
  }),
  subdomain('gone', { status: 'failed', message: 'The service answered 404.' }),
  subdomain('dark', {
    answers: {
      status: 'failed',
      servers: [
        {
          name: 'resolver 192.0.2.1',
          address: '',
          serial: null,
          status: 'silent',
          message: 'the resolver does not answer',
        },
      ],
      differences: [],
    },
  }),
];

const problem = { client: 'default', file: null, line: null, column: null };
const revision = '4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345';

/** A pass that meets every action, reason, cause, outcome, status, kind of subdomain and problem at least once. */
export const everyKind: PassResult = pass({
  dryRun: false,
  templates: [
    template({
      template: 'parked-domains',
      id: 12,
      file: 'templates/parked.yaml',
      revision,
      inSync: 5,
      parked: 2,
      ignored: 1,
    }),
    template({ revision, status: 'drifted', inSync: 27, parked: 1, ignored: 2, differences, subdomains }),
    template({
      template: 'mail-only',
      id: 18,
      file: 'templates/mail.yaml',
      status: 'held',
      message: '120 adds are planned and limits.maxAdds is 100: look at them, then apply --force mail-only.',
      inSync: 40,
      differences: [
        add(4, record('TXT', '_dmarc', 'v=DMARC1; p=none'), {
          cause: 'unknown',
          source: at(4, 'templates/mail.yaml'),
          outcome: 'skipped',
          skippedBy: 'held',
        }),
      ],
    }),
    template({
      template: 'paused',
      id: 21,
      file: 'templates/paused.yaml',
      status: 'suspended',
      message: 'suspended by ana until 2026-11-21T20:00:00.000Z: moving the mail by hand',
      inSync: 3,
      suspension: {
        by: 'ana',
        reason: 'moving the mail by hand',
        since: '2026-11-20T18:00:00.000Z',
        until: '2026-11-21T20:00:00.000Z',
      },
    }),
    template({
      template: 'lost',
      id: null,
      file: 'templates/lost.yaml',
      status: 'failed',
      message: 'No template of this name belongs to the client.',
    }),
  ],
  problems: [
    {
      ...problem,
      severity: 'error',
      check: 'cname-alone',
      message: 'A CNAME must be the only record of its name; an A stands at line 2 too.',
      ...at(3, 'templates/broken.yaml'),
    },
    {
      ...problem,
      severity: 'warning',
      check: 'mixed-ttl',
      message: 'Records of one set have different TTLs.',
      ...at(9),
    },
    {
      ...problem,
      severity: 'error',
      check: 'include',
      message: 'The templates directory cannot be read.',
    },
  ],
  commits: [{ revision, url: commitAddress }],
  unmanaged: [
    { client: 'default', template: 'old-shop', id: 41, records: 6, hadFile: true },
    { client: 'default', template: 'trial', id: 43, records: 1, hadFile: false },
  ],
});

export const everyKindReport = assembleReport([everyKind]);
