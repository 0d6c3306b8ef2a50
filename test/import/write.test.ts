import { expect, test } from 'vitest';
import { writeTemplate } from '../../src/import/write.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { loadFiles } from '../desired/load-files.ts';
import { rowsOf } from '../rows.ts';
import { served, templateOf, textFor, type Stated } from './written.ts';

/** What every file says. */
const policy =
  '# The service cannot delete a record: one whose entry is removed here is renamed to _parked-ID instead.\nsurplus: park\n';

const linesFor = async (template: ActualTemplate): Promise<string[]> =>
  (await textFor(template)).replace(policy, '').trimEnd().split('\n');

/** What stands after the head that all files with the usual TTL share. */
const entriesFor = async (...records: Stated[]): Promise<string[]> => {
  const [template, ttl, head, ...entries] = await linesFor(templateOf(...records));
  expect([template, ttl, head]).toEqual(['template: web', 'ttl: 3600', 'records:']);
  return entries;
};

const a = { type: 'A', content: '192.0.2.1' };
const srv = { type: 'SRV', name: '_sip._tcp', priority: 0 };

test.for<[string, Stated, string]>([
  ['of the subdomain itself has no name', { ...a, name: '@' }, '{ type: A, content: 192.0.2.1 }'],
  [
    'has its type in capitals',
    { ...a, type: 'a', name: 'WWW' },
    '{ type: A, name: WWW, content: 192.0.2.1 }',
  ],
  [
    'of MX has its priority',
    { type: 'MX', content: 'mx.example.net.', priority: 10 },
    '{ type: MX, content: mx.example.net., priority: 10 }',
  ],
  ['of another type has none, whatever is said', { ...a, priority: 10 }, '{ type: A, content: 192.0.2.1 }'],
  [
    'of SRV is in parts',
    { ...srv, content: '5  5060 Sip.example.net' },
    '{ type: SRV, name: _sip._tcp, priority: 0, weight: 5, port: 5060, target: Sip.example.net }',
  ],
  [
    'of SRV that is not in order is as it is',
    { ...srv, content: '70000 1 sip.example.net' },
    "{ type: SRV, name: _sip._tcp, content: '70000 1 sip.example.net', priority: 0, allow: [srv-content] }",
  ],
  [
    'escapes what would be a variable',
    { type: 'TXT', content: '$${a} ${' },
    "{ type: TXT, content: '$$${a} $${' }",
  ],
  [
    'allows what a check refuses, or warns of',
    { type: 'CNAME', content: 'shop' },
    '{ type: CNAME, content: shop, allow: [cname-apex, single-label-target] }',
  ],
  [
    'allows a full name, where the service stores names so',
    { ...a, name: 'www.example.net.' },
    '{ type: A, name: www.example.net., content: 192.0.2.1, allow: [full-name] }',
  ],
])('an entry %s', async ([, record, entry]) => {
  expect(await entriesFor(record)).toEqual([`  - ${entry}`]);
});

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
])('the text %j is written %s', async ([content, written]) => {
  expect((await entriesFor({ type: 'TXT', content }))[0]).toContain(`content: ${written}`);
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

/** Records at the service, and what stands in the file: its TTL, and that of each record with what it allows. */
const ttls = rowsOf(`
  that most records have is stated once | @ 300 A 192.0.2.1 | www 60 A 192.0.2.1 | @ 60 TXT x | ttl: 60, ttl: 300, none, none
  is not stated for all if a record has none | @ 3600 A 192.0.2.1 | www 3600 A 192.0.2.1 | x A 192.0.2.2 | ttl: 3600, ttl: 3600, none
  with a warning is stated where it can be allowed | @ 0 A 192.0.2.1 | www 0 A 192.0.2.1 | ttl: 0 ttl-unusual, ttl: 0 ttl-unusual
  of one set may differ | @ 3600 A 192.0.2.1 | @ 300 A 192.0.2.2 | @ 3600 A 192.0.2.3 | ttl: 3600, none, ttl: 300 mixed-ttl, none`);

test.each(ttls)('a TTL %s', async (_, ...cells) => {
  const [template, ...lines] = await linesFor(served(...cells.slice(0, -1)));
  expect(template).toBe('template: web');
  const told = lines.flatMap((line) => {
    if (line === 'records:') return [];
    const [ttl = 'none'] = /\bttl: \d+/.exec(line) ?? [];
    const [, allow] = /allow: \[(.*)\]/.exec(line) ?? [];
    return allow === undefined ? ttl : `${ttl} ${allow}`;
  });
  expect(told.join(', ')).toBe(cells.at(-1));
});

test('what a file cannot describe is in comments', async () => {
  const template = templateOf(
    { ...a, id: 30, content: '192.0.2.001' },
    { ...a, id: 12, ttl: 300 },
    { ...a, id: 11 },
    { type: 'CAA', id: 8, content: '0 issue "ca.example.net"\n# x', ttl: null },
    { ...a, id: 9, name: '_parked-9' },
    { type: 'MX', id: 10, content: 'mx.example.net', priority: 70_000 },
  );
  expect(await linesFor(template)).toEqual([
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
  expect(await textFor(templateOf())).toBe(`template: web\n${policy}records: []\n`);
  const lines = await linesFor(templateOf({ ...a, ttl: -1 }));
  expect(lines[2]).toBe('  - { type: A, content: 192.0.2.1 }');
  expect(lines.at(-1)).toBe(
    '# - record 1 has a TTL that a file cannot state, and is listed without one: { type: A, content: 192.0.2.1, ttl: -1 }',
  );
});

test('an error that nothing can allow is the reason why there is no file', async () => {
  const contents = { name: 'web', id: null, records: templateOf(a).records, header: '' };
  const place = { file: '', line: 1, column: 1 };
  const problems = [{ severity: 'error', check: 'outside', message: 'no', ...place }] as const;
  const load = () => Promise.resolve({ templates: [], unusable: [], problems, files: 1 });
  await expect(writeTemplate(contents, load)).rejects.toThrow('described by a file: no [outside]');
});

test('records with too many problems to list are written nevertheless', async () => {
  const lines = Array.from({ length: 1_200 }, (_, index) => `n${index} CNAME single`);
  const text = await textFor(served(...lines));
  const { templates, lines: problems } = await loadFiles({ 'web.yaml': text }, { strict: true });
  expect(problems).toEqual([]);
  expect(templates[0]?.records).toHaveLength(1_200);
});
