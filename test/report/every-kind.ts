import { assembleReport } from '../../src/report/assemble.ts';
import type { RecordData } from '../../src/model/record.ts';
import type { Add, Blocked, Difference, SkipCause, Surplus, Update } from '../../src/plan/difference.ts';
import {
  notAsked,
  type PassResult,
  type ServerResult,
  type SubdomainAnswers,
  type SubdomainDifference,
  type SubdomainResult,
  type TemplateResult,
} from '../../src/result.ts';
import { parseRecord } from '../scenarios/records.ts';

const commitAddress = 'https://git.example.net/dns/commit/4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345';

/** The only link of this report to another host. */
export const linkToCommit = `<a href="${commitAddress}">`;

/** Records are said as in scenarios: `www 300 A 192.0.2.1`. */
export const record = (line: string): RecordData => {
  const { ttl, ...values } = parseRecord(line);
  return { ...values, ttl: ttl === null ? null : Number(ttl) };
};

export const at = (line: number, file = 'templates/standard-web.yaml') => ({ file, line, column: 5 });

export const add = (desired: string, more: Partial<Add> = {}): Add => ({
  action: 'add',
  desired: record(desired),
  cause: 'edited',
  source: at(9),
  ...more,
});

/** A TTL or priority that the file does not state is no difference. */
const changedFields = (current: RecordData, desired: RecordData): Update['fields'] =>
  (['name', 'content', 'priority', 'ttl'] as const).filter(
    (field) => desired[field] !== current[field] && (field === 'name' || desired[field] !== null),
  );

export const update = (
  recordId: number,
  current: string,
  desired: string,
  more: Partial<Update> = {},
): Update => {
  const [before, after] = [record(current), record(desired)];
  return {
    action: 'update',
    recordId,
    current: before,
    desired: after,
    fields: changedFields(before, after),
    cause: 'edited',
    source: at(9),
    ...more,
  };
};

export const surplus = (recordId: number, current: string, more: Partial<Surplus> = {}): Surplus => ({
  action: 'surplus',
  recordId,
  current: record(current),
  reason: 'unlisted',
  cause: 'unknown',
  ...more,
});

export const blocked = (
  desired: string,
  reason: Blocked['reason'],
  message: string,
  more: Partial<Blocked> = {},
): Blocked => ({ action: 'blocked', desired: record(desired), source: at(9), reason, message, ...more });

export const problem = (
  severity: 'error' | 'warning',
  message: string,
  more: Partial<PassResult['problems'][number]> = {},
) => ({
  severity,
  check: 'include',
  message,
  client: 'default',
  file: null,
  line: null,
  column: null,
  ...more,
});

const skipped = (skippedBy: SkipCause, error?: string) =>
  ({ outcome: 'skipped', skippedBy, ...(error === undefined ? {} : { error }) }) as const;

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

const differences: readonly Difference[] = [
  add('www 300 A 203.0.113.10'),
  add('@ TXT v=spf1 mx -all', { source: at(10), cause: 'drifted', outcome: 'applied' }),
  add('_sip._tcp SRV 10 5 5060 sip.example.net', {
    cause: 'unknown',
    source: at(3, 'templates/_voice.yaml'),
    ...skipped(
      'mode-edits',
      'The mode of this template is edits: only what an edit of the file caused is written.',
    ),
  }),
  update(5, '@ 3600 A 203.0.113.1', '@ 300 A 203.0.113.2', {
    source: at(7),
    cause: 'both',
    outcome: 'applied',
  }),
  update(6, '@ 3600 MX 10 mx1.example.net', '@ 3600 MX 20 mx1.example.net', {
    source: at(11),
    outcome: 'failed',
    error: 'The service answered 429.',
    retryAt: '2026-11-20T20:05:00.000Z',
  }),
  update(7, `key._domainkey TXT ${dkim('qLm4Xw0Z')}`, `key._domainkey TXT ${dkim('qLm4Xw1Z')}`, {
    source: at(12),
    cause: 'drifted',
    outcome: 'unknown',
    error: 'The connection was closed before the answer came.',
  }),
  update(8, '_parked-8 AAAA ::', 'ipv6 AAAA 2001:db8::10', {
    source: at(13),
    ...skipped('not-selected', 'not selected by --only'),
  }),
  {
    action: 'park',
    recordId: 9,
    current: record('old 3600 CNAME old.example.org'),
    desired: record('_parked-9 3600 CNAME parked.invalid'),
    cause: 'edited',
    ...skipped('mode-report', 'mode: report writes nothing'),
  },
  surplus(21, '@ 3600 CAA 0 issue "ca.example.net"'),
  surplus(22, 'www 3600 A 203.0.113.10', { reason: 'duplicate', cause: 'drifted' }),
  surplus(23, '10 PTR host.example.net', { cause: 'edited' }),
  blocked(
    'shop CNAME shop.example.org',
    'cname-conflict',
    'Other records stand at this name, and a CNAME must stand alone.',
    { source: at(14), conflicts: [31, 32] },
  ),
  blocked('@ MX 0 .', 'null-mx-conflict', 'A null MX must be the only MX of its name.', {
    source: at(15),
    recordId: 33,
    current: record('@ MX 30 mx3.example.net'),
    conflicts: [6],
  }),
  blocked(
    'api A 203.0.113.20',
    'vanished',
    'An add was sent at 2026-11-20T19:59:58.000Z and its outcome is not known.',
    { source: at(16), retryAt: '2026-11-20T20:05:00.000Z' },
  ),
  blocked('ttl 5 A 203.0.113.30', 'not-converging', 'The service stored ttl 60 where 5 was sent.', {
    source: at(17),
    recordId: 41,
    current: record('ttl 60 A 203.0.113.30'),
  }),
  blocked(`long TXT ${'x'.repeat(300)}`, 'refused', 'The service answered 422.', {
    source: at(18),
    retryAt: '2026-11-21T02:00:00.000Z',
    ...skipped('pass', 'It is not yet time to try again.'),
  }),
  blocked('gone A 203.0.113.40', 'vanished', 'It was added twice and is gone again.', { source: at(19) }),
];

const subdomain = (name: string, more: Partial<SubdomainResult>): SubdomainResult => ({
  subdomain: `${name}.example.net`,
  status: 'in-sync',
  message: null,
  differences: [],
  answers: notAsked,
  ...more,
});

/** The record of the template, and the one that is derived from it: each with its id. */
export const behind = (
  kind: SubdomainDifference['kind'],
  templateRecord: readonly [id: number, line: string] | null,
  derived: readonly [id: number, line: string, from?: number] | null = null,
  fields: SubdomainDifference['fields'] = [],
): SubdomainDifference => {
  const [id = 0, line = ''] = templateRecord ?? [];
  const [derivedId = 0, derivedLine = '', from = id] = derived ?? [];
  return {
    kind,
    templateRecord: templateRecord && { id, ...record(line) },
    record: derived && { id: derivedId, templateRecordId: from, ...record(derivedLine) },
    fields,
  };
};

const server = (name: string, status: ServerResult['status']): ServerResult => ({
  name: `${name}.example.net`,
  address: `192.0.2.${name.slice(2)}`,
  serial: 2026112001,
  status,
  message: null,
});

/** What a server answers of `shop.example.net` and below. */
const answer = (
  kind: 'missing' | 'stale' | 'dangling',
  by: string,
  desired: string,
  ...current: string[]
) => {
  const [wanted, there] = [desired.split(' | ').map(record), current.map(record)];
  const { type, name } = wanted[0]!;
  return {
    kind,
    server: by,
    address: '203.0.113.53',
    name: name === null ? 'shop.example.net' : `${name}.shop.example.net`,
    type,
    desired: wanted,
    current: there,
  };
};

const app = 'app 300 CNAME shop.azurewebsites.net';

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
    answer('missing', 'ns1.example.net', 'api 3600 A 203.0.113.20'),
    answer('missing', 'ns2.example.net', 'api 3600 A 203.0.113.20'),
    answer(
      'stale',
      'ns1.example.net',
      '@ 3600 MX 10 mx1.example.net | @ 3600 MX 20 mx2.example.net',
      '@ 300 MX 10 mx1.example.net',
    ),
    {
      ...answer('dangling', 'resolver 192.0.2.53', app, app),
      address: '',
      message: 'shop.azurewebsites.net does not exist',
    },
  ],
};

const subdomains: readonly SubdomainResult[] = [
  subdomain('in-sync', {
    answers: { status: 'in-sync', servers: [server('ns1', 'in-sync')], differences: [] },
  }),
  subdomain('shop', {
    status: 'drifted',
    differences: [
      behind('missing', [51, 'api 3600 A 203.0.113.20']),
      behind(
        'stale',
        [5, '@ 300 A 203.0.113.2'],
        [905, 'shop.example.net 3600 A 203.0.113.1'],
        ['content', 'ttl'],
      ),
      behind('stale', [52, 'www AAAA 2001:db8::10'], [906, 'web A 203.0.113.9'], ['type', 'name', 'content']),
      behind('stale', [6, '@ MX 20 mx1.example.net'], [908, '@ 3600 MX 10 mx1.example.net'], ['priority']),
      behind('foreign', null, [907, '@ TXT hello', 4711]),
    ],
    answers: everyAnswer,
  }),
  subdomain('new', {
    status: 'pending',
    message: 'Its template was written 2 minutes ago.',
    differences: [behind('missing', [51, 'api A 203.0.113.20'])],
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
          ...server('', 'silent'),
          name: 'resolver 192.0.2.1',
          address: '',
          serial: null,
          message: 'the resolver does not answer',
        },
      ],
      differences: [],
    },
  }),
];

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
        add('_dmarc TXT v=DMARC1; p=none', {
          cause: 'unknown',
          source: at(4, 'templates/mail.yaml'),
          ...skipped('held'),
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
    problem('error', 'A CNAME must be the only record of its name; an A stands at line 2 too.', {
      check: 'cname-alone',
      ...at(3, 'templates/broken.yaml'),
    }),
    problem('warning', 'Records of one set have different TTLs.', { check: 'mixed-ttl', ...at(9) }),
    problem('error', 'The templates directory cannot be read.'),
  ],
  commits: [{ revision, url: commitAddress }],
  unmanaged: [
    { client: 'default', template: 'old-shop', id: 41, records: 6, hadFile: true },
    { client: 'default', template: 'trial', id: 43, records: 1, hadFile: false },
  ],
});

export const everyKindReport = assembleReport([everyKind]);
