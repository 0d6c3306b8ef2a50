import { expect, test } from 'vitest';
import { loadFiles, standardWeb } from './load-files.ts';

test('a file with every key becomes one template with all values', async () => {
  const mail = 'records:\n  - {type: MX, content: mx1.example.net, priority: 10, ttl: "300"}\n';
  const state = await loadFiles({ 'web/standard-web.yaml': standardWeb, 'web/_mail.yaml': mail });
  expect([state.lines, state.files, state.templates.length]).toEqual([[], 1, 1]);
  const { records, ...policies } = state.templates[0]!;
  expect(policies).toEqual({
    template: 'standard-web',
    id: 17,
    source: { file: 'templates/web/standard-web.yaml', line: 1, column: 1 },
    fragments: ['templates/web/_mail.yaml'],
    mode: 'edits',
    surplus: 'park',
    adopt: true,
    limits: { maxAdds: 100, maxChangePercent: 60, minRecords: 10 },
    subdomains: ['shop.example.net'],
    answers: 'on',
    nameservers: ['ns1.example.net', '192.0.2.53:5353'],
    ignore: [{ type: 'TXT', name: '_acme-challenge*', content: null }],
  });
  const shown = records.map(({ type, name, content, priority, ttl, source: { file, line, column } }) =>
    [type, name ?? '@', content, priority ?? '-', ttl, `${file.slice(14)}:${line}:${column}`].join(' '),
  );
  expect(shown).toEqual([
    'MX @ mx1.example.net 10 300 _mail.yaml:2:5',
    'A @ 203.0.113.10 - 3600 standard-web.yaml:16:5',
    'A www 203.0.113.10 - 300 standard-web.yaml:17:36',
    'A www 203.0.113.11 - 300 standard-web.yaml:17:46',
    'SRV _sip._tcp 5 5060 sip.example.net 10 3600 standard-web.yaml:18:5',
    'SRV _sips._tcp 5 5061 sip.example.net 10 3600 standard-web.yaml:19:5',
    'TXT @ v=spf1 mx -all - 3600 standard-web.yaml:20:5',
    'CNAME @ shop.example.org - 3600 standard-web.yaml:21:5',
  ]);
});

test('values that the file does not state come from the settings, and its name from its id', async () => {
  const text = 'template: a\nrecords: [{type: A, content: 192.0.2.1}]\n';
  const { lines, templates } = await loadFiles({ 'a.yml': text, 'b.yaml': 'id: 17\nrecords: []\n' });
  const limits = { maxAdds: 100, maxChangePercent: 30, minRecords: 10 };
  const usual = { mode: 'enforce', surplus: 'report', adopt: false, limits };
  const names = [
    { template: 'a', id: null },
    { template: 'template-17', id: 17 },
  ];
  expect(lines).toEqual([]);
  expect(templates).toMatchObject(names.map((name) => ({ ...name, ...usual })));
  expect(templates[0]!.records).toMatchObject([{ name: null, priority: null, ttl: null }]);
});

const a = 'type: A, content: 192.0.2.1';
const srv = 'type: SRV, name: _a._tcp, priority: 1';
test.for<[record: string, expected: Record<string, unknown>]>([
  [`${a}, name: 10`, { name: '10' }],
  [`${a}, name: 010`, { name: '010' }],
  [`${a}, name: no`, { name: 'no' }],
  [`${a}, name: True`, { name: 'True' }],
  ...['', ', name: ""', ', name: null', ', name: ', ', name: "@"'].map(
    (name): [string, Record<string, unknown>] => [a + name, { name: null }],
  ),
  [`${a}, name: !!str null`, { name: 'null' }],
  [`${a}, name: "null"`, { name: 'null' }],
  [`${a}, name: "*.dev"`, { name: '*.dev' }],
  [`${a}, name: bücher`, { name: 'bücher' }],
  [`${a}, name: "##NAME##"`, { name: '##NAME##' }],
  [`${a}, ttl: 300`, { ttl: 300 }],
  [`${a}, ttl: "300"`, { ttl: 300 }],
  [`${a}, ttl: 1d`, { ttl: 86_400 }],
  [`${a}, ttl: 60000ms`, { ttl: 60 }],
  [`${a}, ttl: 2147483647, allow: [ttl-unusual]`, { ttl: 2_147_483_647 }],
  ['type: TXT, content: 1.10', { content: '1.10' }],
  ['type: TXT, content: 0x10', { content: '0x10' }],
  ['type: TXT, content: 2026-11-20', { content: '2026-11-20' }],
  ['type: TXT, content: "a \\"b\\" \\\\ c;"', { content: 'a "b" \\ c;' }],
  ['type: TXT, content: "$${x} $$${x} $x"', { content: '${x} $${x} $x' }],
  [`type: TXT, content: "${'x'.repeat(4_000)}"`, { content: 'x'.repeat(4_000) }],
  ['type: cname, name: www, content: a.example.net', { type: 'CNAME' }],
  ['type: CNAME, name: a._domainkey, content: a._domainkey.example.net', { name: 'a._domainkey' }],
  ['type: CNAME, name: "1", content: 1.0/25.2.0.192.in-addr.arpa', { name: '1' }],
  ['type: MX, content: ., priority: 0', { content: '.', priority: 0 }],
  ['type: MX, content: Mx.Example.NET., priority: 1', { content: 'Mx.Example.NET.' }],
  ['type: MX, content: "mail.{domain}", priority: 1', { content: 'mail.{domain}' }],
  [`${srv}, weight: 2, port: "3", target: .`, { content: '2 3 .', priority: 1 }],
  [`${srv}, content: " 2  3 a.example.net "`, { content: '2 3 a.example.net' }],
  [`${srv}, content: " a  b", allow: [srv-content]`, { content: ' a  b' }],
])('the values of a record %s', async ([record, expected]) => {
  const state = await loadFiles({ 'a.yaml': `template: a\nrecords:\n  - {${record}}\n` });
  expect(state.lines).toEqual([]);
  expect(state.templates[0]?.records).toEqual([expect.objectContaining(expected)]);
});

test('several documents in one file are several templates, of which one with an error is rejected', async () => {
  const state = await loadFiles({
    'a.yaml':
      '---\ntemplate: a\nid: 3\nrecords: [{type: A, content: x}]\n---\ntemplate: b\nrecords: []\n---\n# nothing more\n',
    'c.yaml': 'template: c\nrecords: []\n',
  });
  expect(state.templates.map(({ template, source }) => [template, source.line])).toEqual([
    ['b', 6],
    ['c', 1],
  ]);
  expect(state.unusable).toEqual([
    {
      file: 'templates/a.yaml',
      template: 'a',
      id: 3,
      message: '1 error in templates/a.yaml',
      fragments: ['templates/a.yaml'],
    },
  ]);
});

test.each([
  's3cret-token\n',
  '-----BEGIN KEY-----\nMIIs3cret\n-----END KEY-----\n',
  'root:x:0:0:s3cret:/root\n',
  '[default]\naws_key = s3cret\n',
  's3cret: [a',
  '@s3cret',
  '"s3cret',
  '*s3cret',
  '!s3cret a',
  '- s3cret: s3cret: a\n',
])('a file of another kind is not quoted: %j', async (text) => {
  const { problems } = await loadFiles({ 'token.yaml': text });
  expect(problems.length).toBeGreaterThan(0);
  expect(JSON.stringify(problems)).not.toContain('s3cret');
});
