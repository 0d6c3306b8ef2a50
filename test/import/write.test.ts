import { describe, expect, test } from 'vitest';
import { loadFiles } from '../desired/load-files.ts';
import { writeTemplate } from '../../src/import/write.ts';
import { templateOf, textFor, type Stated } from './written.ts';

const a = { type: 'A', content: '192.0.2.1' };
const linesFor = async (...records: Stated[]): Promise<string[]> => {
  const text = await textFor(templateOf(...records));
  return text.replace(policy, '').trimEnd().split('\n');
};

/** What every file says. */
const policy =
  '# The service cannot delete a record: one whose entry is removed here is renamed to _parked-ID instead.\nsurplus: park\n';

/** What stands after the head that all these files share. */
const entriesFor = async (...records: Stated[]): Promise<string[]> => {
  const [template, ttl, head, ...entries] = await linesFor(...records);
  expect([template, ttl, head]).toEqual(['template: web', 'ttl: 3600', 'records:']);
  return entries;
};

test('a template without records gets an empty list', async () => {
  expect(await textFor(templateOf())).toBe(`template: web\n${policy}records: []\n`);
});

describe('an entry', () => {
  test.for<[string, Stated, string]>([
    ['of the subdomain itself has no name', { ...a, name: '@' }, '{ type: A, content: 192.0.2.1 }'],
    [
      'has the type in upper case',
      { ...a, type: 'a', name: 'WWW' },
      '{ type: A, name: WWW, content: 192.0.2.1 }',
    ],
    [
      'of MX has its priority',
      { type: 'MX', content: 'mx.example.net.', priority: 10 },
      '{ type: MX, content: mx.example.net., priority: 10 }',
    ],
    [
      'of another type has none, whatever the service says',
      { ...a, priority: 10 },
      '{ type: A, content: 192.0.2.1 }',
    ],
    [
      'of SRV is in parts',
      { type: 'SRV', name: '_sip._tcp', priority: 0, content: '5  5060 Sip.example.net' },
      '{ type: SRV, name: _sip._tcp, priority: 0, weight: 5, port: 5060, target: Sip.example.net }',
    ],
    [
      'of SRV that is not in order is as it is',
      { type: 'SRV', name: '_sip._tcp', priority: 0, content: '70000 1 sip.example.net' },
      "{ type: SRV, name: _sip._tcp, content: '70000 1 sip.example.net', priority: 0, allow: [srv-content] }",
    ],
    [
      'escapes what would be a variable',
      { type: 'TXT', content: '$${a} ${' },
      "{ type: TXT, content: '$$${a} $${' }",
    ],
    [
      'allows what a check refuses',
      { type: 'CNAME', content: 'shop.example.org' },
      '{ type: CNAME, content: shop.example.org, allow: [cname-apex] }',
    ],
    [
      'allows a full name, where the service stores names so',
      { ...a, name: 'www.example.net.' },
      '{ type: A, name: www.example.net., content: 192.0.2.1, allow: [full-name] }',
    ],
    [
      'allows what a check warns of',
      { type: 'MX', content: 'mail', priority: 10 },
      '{ type: MX, content: mail, priority: 10, allow: [single-label-target] }',
    ],
  ])('%s', async ([, record, entry]) => {
    expect(await entriesFor(record)).toEqual([`  - ${entry}`]);
  });
});

describe('a text', () => {
  test.for<[string, string]>([
    ['mx.example.net', 'mx.example.net'],
    ['192.0.2.1', '192.0.2.1'],
    ['Null', "'Null'"],
    ['1.10', "'1.10'"],
    ['2001:db8::1', "'2001:db8::1'"],
    ["it's", "it's"],
    [`'"`, `'''"'`],
    ['größe 😀', 'größe 😀'],
    ['a\tb\n"\\', String.raw`"a\tb\n\"\\"`],
    ['\x00\x7f\x85', String.raw`"\u0000\u007f\u0085"`],
    ['a\u202eb\u00a0\ufeff\ud800', String.raw`"a\u202eb\u00a0\ufeff\ud800"`],
    ['\u{e0001}', String.raw`"\U000e0001"`],
  ])('%j is written %s', async ([content, written]) => {
    expect((await entriesFor({ type: 'TXT', content }))[0]).toContain(`content: ${written}`);
  });
});

test('records are sorted by type, then by name from its end, numbers by their value', async () => {
  const names = ['b', '10', 'a.b', 'www', '9', null, 'a'];
  const records = names.map((name) => ({ type: 'PTR', name, content: 'host.example.net' }));
  const sorted = [undefined, undefined, '9', '10', 'a', 'b', 'a.b', 'www', undefined];
  const entries = await entriesFor({ type: 'TXT', content: 'x' }, ...records, a);
  expect(entries.map((entry) => /type: \w+, (?:name: '?([^',]+))?/.exec(entry)?.[1])).toEqual(sorted);
  expect(entries[0]).toContain('type: A');
  expect(entries.at(-1)).toContain('type: TXT');
});

describe('a TTL', () => {
  const other = { ...a, name: 'www' };

  test('that most records have is stated once', async () => {
    expect(
      await linesFor({ ...a, ttl: 300 }, { ...other, ttl: 60 }, { type: 'TXT', content: 'x', ttl: 60 }),
    ).toEqual([
      'template: web',
      'ttl: 60',
      'records:',
      '  - { type: A, content: 192.0.2.1, ttl: 300 }',
      '  - { type: A, name: www, content: 192.0.2.1 }',
      '  - { type: TXT, content: x }',
    ]);
  });

  test('is not stated for all if a record has none', async () => {
    expect(await linesFor(a, other, { ...other, content: '192.0.2.2', ttl: null })).toEqual([
      'template: web',
      'records:',
      '  - { type: A, content: 192.0.2.1, ttl: 3600 }',
      '  - { type: A, name: www, content: 192.0.2.1, ttl: 3600 }',
      '  - { type: A, name: www, content: 192.0.2.2 }',
    ]);
  });

  test('with a warning is stated where it can be allowed', async () => {
    expect((await linesFor({ ...a, ttl: 0 }, { ...other, ttl: 0 })).slice(1)).toEqual([
      'records:',
      '  - { type: A, content: 192.0.2.1, ttl: 0, allow: [ttl-unusual] }',
      '  - { type: A, name: www, content: 192.0.2.1, ttl: 0, allow: [ttl-unusual] }',
    ]);
  });

  test('that a file cannot state is left out, with a remark', async () => {
    const lines = await linesFor({ ...a, ttl: -1 });
    expect(lines[2]).toBe('  - { type: A, content: 192.0.2.1 }');
    expect(lines.at(-1)).toBe(
      '# - record 1 has a TTL that a file cannot state, and is listed without one: { type: A, content: 192.0.2.1, ttl: -1 }',
    );
  });
});

describe('conflicting records get an allow', () => {
  const cname = { type: 'CNAME', name: 'www', content: 'a.example.net' };
  const spf = (text: string) => ({ type: 'TXT', content: `v=spf1 ${text}` });

  test.for<[string, Stated[], string[]]>([
    ['a CNAME beside a text', [cname, { ...spf('-all'), name: 'www' }], ['[cname-alone]', '']],
    ['two CNAMEs', [cname, { ...cname, content: 'b.example.net' }], ['', '[cname-alone]']],
    ['two SPF texts', [spf('-all'), spf('mx -all')], ['', '[kind-twice]']],
    [
      'a null MX beside another',
      [
        { type: 'MX', content: '.', priority: 0 },
        { type: 'MX', content: 'mx.example.net', priority: 10 },
      ],
      ['[null-mx-alone]', ''],
    ],
    [
      'TTLs of one set',
      [a, { ...a, content: '192.0.2.2', ttl: 300 }, { ...a, content: '192.0.2.3' }],
      ['', '[mixed-ttl]', ''],
    ],
    ['a name that is none', [{ ...a, name: '-a..b' }], ['[bad-host, label-length]']],
  ])('%s', async ([, records, allowed]) => {
    const entries = await entriesFor(...records);
    expect(entries.map((entry) => /allow: (\[.*\])/.exec(entry)?.[1] ?? '')).toEqual(allowed);
  });
});

test('records that a file cannot describe are in comments', async () => {
  const lines = await linesFor(
    { ...a, id: 30, content: '192.0.2.001' },
    { ...a, id: 12, ttl: 300 },
    { ...a, id: 11 },
    { type: 'CAA', id: 8, content: '0 issue "ca.example.net"\n# x', ttl: null },
    { ...a, id: 9, name: '_parked-9' },
    { type: 'MX', id: 10, content: 'mx.example.net', priority: 70_000 },
  );
  expect(lines).toEqual([
    'template: web',
    'ttl: 3600',
    'records:',
    "  - { type: A, content: '192.0.2.001', allow: [bad-ipv4] }",
    '  - { type: A, content: 192.0.2.1 }',
    '',
    '# What this file cannot say:',
    String.raw`# - record 8 has a type that a file cannot describe: { type: CAA, content: "0 issue \"ca.example.net\"\n# x" }`,
    '# - record 9 is parked: { type: A, name: _parked-9, content: 192.0.2.1, ttl: 3600 }',
    '# - record 10 has a priority that a file cannot state: { type: MX, content: mx.example.net, priority: 70000, ttl: 3600 }',
    '# - record 12 is a copy of record 11: { type: A, content: 192.0.2.1, ttl: 300 }',
  ]);
});

test('an error that nothing can allow is the reason why there is no file', async () => {
  const contents = { name: 'web', id: null, records: templateOf(a).records, header: '' };
  const place = { file: '', line: 1, column: 1 };
  const problems = [{ severity: 'error', check: 'outside', message: 'no', ...place }] as const;
  const load = () => Promise.resolve({ templates: [], unusable: [], problems, files: 1 });
  await expect(writeTemplate(contents, load)).rejects.toThrow('described by a file: no [outside]');
});

test('records with too many problems to list are written nevertheless', async () => {
  const records = Array.from({ length: 2_500 }, (_, index) => ({
    type: 'CNAME',
    name: `n${index}`,
    content: 'single',
  }));
  const text = await textFor(templateOf(...records));
  const { templates, lines } = await loadFiles({ 'web.yaml': text }, { strict: true });
  expect(lines).toEqual([]);
  expect(templates[0]?.records).toHaveLength(2_500);
});
