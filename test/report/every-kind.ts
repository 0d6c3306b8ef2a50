import { assembleReport } from '../../src/report/assemble.ts';
import type { RecordData } from '../../src/model/record.ts';
import {
  notAsked,
  type PassResult,
  type ServerResult,
  type SubdomainAnswers,
  type TemplateResult,
} from '../../src/result.ts';

const commitAddress = 'https://git.example.net/dns/commit/4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345';

/** The only link of this report to another host. */
export const linkToCommit = `<a href="${commitAddress}">`;

/** A pass that meets every action, reason, cause, outcome, status, kind of subdomain and problem at least once. */

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

export const everyKind: PassResult = pass({
  dryRun: false,
  templates: [
    template({
      template: 'parked-domains',
      id: 12,
      file: 'templates/parked.yaml',
      revision: '4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345',
      inSync: 5,
      parked: 2,
      ignored: 1,
    }),
    template({
      revision: '4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345',
      status: 'drifted',
      inSync: 27,
      parked: 1,
      ignored: 2,
      differences: [
        {
          action: 'add',
          desired: record('A', 'www', '203.0.113.10', { ttl: 300 }),
          cause: 'edited',
          source: at(9),
        },
        {
          action: 'add',
          desired: record('TXT', null, 'v=spf1 mx -all'),
          cause: 'drifted',
          source: at(10),
          outcome: 'applied',
        },
        {
          action: 'add',
          desired: record('SRV', '_sip._tcp', '5 5060 sip.example.net', { priority: 10 }),
          cause: 'unknown',
          source: at(3, 'templates/_voice.yaml'),
          outcome: 'skipped',
          skippedBy: 'mode-edits',
          error: 'The mode of this template is edits: only what an edit of the file caused is written.',
        },
        {
          action: 'update',
          recordId: 5,
          current: record('A', null, '203.0.113.1', { ttl: 3600 }),
          desired: record('A', null, '203.0.113.2', { ttl: 300 }),
          fields: ['content', 'ttl'],
          cause: 'both',
          source: at(7),
          outcome: 'applied',
        },
        {
          action: 'update',
          recordId: 6,
          current: record('MX', null, 'mx1.example.net', { priority: 10, ttl: 3600 }),
          desired: record('MX', null, 'mx1.example.net', { priority: 20, ttl: 3600 }),
          fields: ['priority'],
          cause: 'edited',
          source: at(11),
          outcome: 'failed',
          error: 'The service answered 429.',
          retryAt: '2026-11-20T20:05:00.000Z',
        },
        {
          action: 'update',
          recordId: 7,
          current: record('TXT', 'key._domainkey', dkim('qLm4Xw0Z')),
          desired: record('TXT', 'key._domainkey', dkim('qLm4Xw1Z')),
          fields: ['content'],
          cause: 'drifted',
          source: at(12),
          outcome: 'unknown',
          error: 'The connection was closed before the answer came.',
        },
        {
          action: 'update',
          recordId: 8,
          current: record('AAAA', '_parked-8', '::'),
          desired: record('AAAA', 'ipv6', '2001:db8::10'),
          fields: ['name', 'content'],
          cause: 'edited',
          source: at(13),
          outcome: 'skipped',
          skippedBy: 'not-selected',
          error: 'not selected by --only',
        },
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
        {
          action: 'surplus',
          recordId: 21,
          current: record('CAA', null, '0 issue "ca.example.net"', { ttl: 3600 }),
          reason: 'unlisted',
          cause: 'unknown',
        },
        {
          action: 'surplus',
          recordId: 22,
          current: record('A', 'www', '203.0.113.10', { ttl: 3600 }),
          reason: 'duplicate',
          cause: 'drifted',
        },
        {
          action: 'surplus',
          recordId: 23,
          current: record('PTR', '10', 'host.example.net'),
          reason: 'unlisted',
          cause: 'edited',
        },
        {
          action: 'blocked',
          reason: 'cname-conflict',
          desired: record('CNAME', 'shop', 'shop.example.org'),
          source: at(14),
          conflicts: [31, 32],
          message: 'Other records stand at this name, and a CNAME must stand alone.',
        },
        {
          action: 'blocked',
          reason: 'null-mx-conflict',
          desired: record('MX', null, '.', { priority: 0 }),
          source: at(15),
          recordId: 33,
          current: record('MX', null, 'mx3.example.net', { priority: 30 }),
          conflicts: [6],
          message: 'A null MX must be the only MX of its name.',
        },
        {
          action: 'blocked',
          reason: 'vanished',
          desired: record('A', 'api', '203.0.113.20'),
          source: at(16),
          retryAt: '2026-11-20T20:05:00.000Z',
          message: 'An add was sent at 2026-11-20T19:59:58.000Z and its outcome is not known.',
        },
        {
          action: 'blocked',
          reason: 'not-converging',
          desired: record('A', 'ttl', '203.0.113.30', { ttl: 5 }),
          source: at(17),
          recordId: 41,
          current: record('A', 'ttl', '203.0.113.30', { ttl: 60 }),
          message: 'The service stored ttl 60 where 5 was sent.',
        },
        {
          action: 'blocked',
          reason: 'refused',
          desired: record('TXT', 'long', 'x'.repeat(300)),
          source: at(18),
          retryAt: '2026-11-21T02:00:00.000Z',
          message: 'The service answered 422.',
          outcome: 'skipped',
          skippedBy: 'pass',
          error: 'It is not yet time to try again.',
        },
        {
          action: 'blocked',
          reason: 'vanished',
          desired: record('A', 'gone', '203.0.113.40'),
          source: at(19),
          message: 'It was added twice and is gone again.',
        },
      ],
      subdomains: [
        {
          subdomain: 'in-sync.example.net',
          status: 'in-sync',
          message: null,
          differences: [],
          answers: { status: 'in-sync', servers: [server('ns1', 'in-sync')], differences: [] },
        },
        {
          subdomain: 'shop.example.net',
          status: 'drifted',
          message: null,
          differences: [
            {
              kind: 'missing',
              templateRecord: { id: 51, ...record('A', 'api', '203.0.113.20', { ttl: 3600 }) },
              record: null,
              fields: [],
            },
            {
              kind: 'stale',
              templateRecord: { id: 5, ...record('A', null, '203.0.113.2', { ttl: 300 }) },
              record: {
                id: 905,
                templateRecordId: 5,
                ...record('A', 'shop.example.net', '203.0.113.1', { ttl: 3600 }),
              },
              fields: ['content', 'ttl'],
            },
            {
              kind: 'stale',
              templateRecord: { id: 52, ...record('AAAA', 'www', '2001:db8::10') },
              record: { id: 906, templateRecordId: 52, ...record('A', 'web', '203.0.113.9') },
              fields: ['type', 'name', 'content'],
            },
            {
              kind: 'stale',
              templateRecord: { id: 6, ...record('MX', null, 'mx1.example.net', { priority: 20 }) },
              record: {
                id: 908,
                templateRecordId: 6,
                ...record('MX', null, 'mx1.example.net', { priority: 10, ttl: 3600 }),
              },
              fields: ['priority'],
            },
            {
              kind: 'foreign',
              templateRecord: null,
              record: { id: 907, templateRecordId: 4711, ...record('TXT', null, 'hello') },
              fields: [],
            },
          ],
          answers: everyAnswer,
        },
        {
          subdomain: 'new.example.net',
          status: 'pending',
          message: 'Its template was written 2 minutes ago.',
          differences: [
            {
              kind: 'missing',
              templateRecord: { id: 51, ...record('A', 'api', '203.0.113.20') },
              record: null,
              fields: [],
            },
          ],
          answers: {
            status: 'pending',
            servers: [
              { ...server('ns1', 'in-sync'), serial: 2026112002 },
              {
                ...server('ns2', 'pending'),
                message: null,
              },
            ],
            differences: [],
          },
        },
        {
          subdomain: 'gone.example.net',
          status: 'failed',
          message: 'The service answered 404.',
          differences: [],
          answers: notAsked,
        },
        {
          subdomain: 'dark.example.net',
          status: 'in-sync',
          message: null,
          differences: [],
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
        },
      ],
    }),
    template({
      template: 'mail-only',
      id: 18,
      file: 'templates/mail.yaml',
      status: 'held',
      message: '120 adds are planned and limits.maxAdds is 100: look at them, then apply --force mail-only.',
      inSync: 40,
      differences: [
        {
          action: 'add',
          desired: record('TXT', '_dmarc', 'v=DMARC1; p=none'),
          cause: 'unknown',
          source: at(4, 'templates/mail.yaml'),
          outcome: 'skipped',
          skippedBy: 'held',
        },
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
      severity: 'error',
      check: 'cname-alone',
      message: 'A CNAME must be the only record of its name; an A stands at line 2 too.',
      client: 'default',
      file: 'templates/broken.yaml',
      line: 3,
      column: 5,
    },
    {
      severity: 'warning',
      check: 'mixed-ttl',
      message: 'Records of one set have different TTLs.',
      client: 'default',
      file: 'templates/standard-web.yaml',
      line: 9,
      column: 5,
    },
    {
      severity: 'error',
      check: 'include',
      message: 'The templates directory cannot be read.',
      client: 'default',
      file: null,
      line: null,
      column: null,
    },
  ],
  commits: [
    {
      revision: '4f2c1ab09d3e5f60718293a4b5c6d7e8f9012345',
      url: commitAddress,
    },
  ],
  unmanaged: [
    { client: 'default', template: 'old-shop', id: 41, records: 6, hadFile: true },
    { client: 'default', template: 'trial', id: 43, records: 1, hadFile: false },
  ],
});

export const everyKindReport = assembleReport([everyKind]);
