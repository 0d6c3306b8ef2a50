import { describe, expect, test } from 'vitest';
import { loadFiles } from './load-files.ts';

const standardWeb = `template: standard-web
id: 17
ttl: 3600
mode: edits
surplus: park
adopt: true
limits: {maxChangePercent: 60}
subdomains: [shop.example.net]
answers: on
nameservers: [ns1.example.net, '192.0.2.53:5353']
vars: {web: 203.0.113.10}
include: [_mail.yaml]
ignore:
  - {type: txt, name: "_acme-challenge*"}
records:
  - {type: A, content: "\${web}"}
  - {type: a, name: www, content: ["\${web}", 203.0.113.11], ttl: 5m}
  - {type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net}
  - {type: SRV, name: _sips._tcp, priority: 10, content: "5  5061 sip.example.net"}
  - {type: TXT, content: "v=spf1 mx -all"}
  - {type: CNAME, content: shop.example.org, allow: [cname-apex]}
`;

test('a file with every key becomes one template with all values', async () => {
  const mail = 'records:\n  - {type: MX, content: mx1.example.net, priority: 10, ttl: "300"}\n';
  const state = await loadFiles({ 'web/standard-web.yaml': standardWeb, 'web/_mail.yaml': mail });
  expect(state.lines).toEqual([]);
  expect(state.files).toBe(1);
  const [{ records, ...others }] = state.templates as [(typeof state.templates)[number]];
  const inOrder = (one: object) =>
    Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => a.localeCompare(b)));
  const lines = [others, ...records].map((one) => JSON.stringify(inOrder(one)));
  expect(lines.join('\n')).toMatchSnapshot();
});

test('a name may be left out beside an id', async () => {
  const { lines, templates } = await loadFiles({ 'a.yaml': 'id: 17\nrecords: []\n' });
  expect(lines).toEqual([]);
  expect(templates).toMatchObject([{ template: 'template-17', id: 17 }]);
});

test('values that the file does not state come from the settings', async () => {
  const state = await loadFiles({ 'a.yml': 'template: a\nrecords: [{type: A, content: 192.0.2.1}]\n' });
  expect(state.templates).toEqual([
    {
      template: 'a',
      id: null,
      source: { file: 'templates/a.yml', line: 1, column: 1 },
      mode: 'enforce',
      surplus: 'report',
      adopt: false,
      limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
      subdomains: [],
      ignore: [],
      records: [
        {
          type: 'A',
          name: null,
          content: '192.0.2.1',
          priority: null,
          ttl: null,
          source: { file: 'templates/a.yml', line: 2, column: 11 },
        },
      ],
    },
  ]);
});

describe('the values of a record', () => {
  const scenarios: [what: string, record: string, expected: Record<string, unknown>][] = [
    ['a name that looks like a number', '{type: A, name: 10, content: 192.0.2.1}', { name: '10' }],
    ['a name with a leading zero', '{type: A, name: 010, content: 192.0.2.1}', { name: '010' }],
    ['a name that looks like a truth', '{type: A, name: no, content: 192.0.2.1}', { name: 'no' }],
    ['a name that is true', '{type: A, name: True, content: 192.0.2.1}', { name: 'True' }],
    ['a text that looks like a float', '{type: TXT, name: x, content: 1.10}', { content: '1.10' }],
    ['a text that looks like hex', '{type: TXT, name: x, content: 0x10}', { content: '0x10' }],
    ['a text that looks like a date', '{type: TXT, name: x, content: 2026-11-20}', { content: '2026-11-20' }],
    ['a quoted text', '{type: TXT, name: x, content: "a \\"b\\" \\\\ c;"}', { content: 'a "b" \\ c;' }],
    ['no name', '{type: A, content: 192.0.2.1}', { name: null }],
    ['an empty name', '{type: A, name: "", content: 192.0.2.1}', { name: null }],
    ['a null name', '{type: A, name: null, content: 192.0.2.1}', { name: null }],
    ['a name left out', '{type: A, name: , content: 192.0.2.1}', { name: null }],
    ['the name @', '{type: A, name: "@", content: 192.0.2.1}', { name: null }],
    ['the name null as a text', '{type: A, name: !!str null, content: 192.0.2.1}', { name: 'null' }],
    ['the name "null" in quotes', '{type: A, name: "null", content: 192.0.2.1}', { name: 'null' }],
    ['a type in lower case', '{type: cname, name: www, content: a.example.net}', { type: 'CNAME' }],
    ['a TTL in seconds', '{type: A, content: 192.0.2.1, ttl: 300}', { ttl: 300 }],
    ['a quoted TTL', '{type: A, content: 192.0.2.1, ttl: "300"}', { ttl: 300 }],
    ['a TTL in days', '{type: A, content: 192.0.2.1, ttl: 1d}', { ttl: 86_400 }],
    ['a TTL in milliseconds that are seconds', '{type: A, content: 192.0.2.1, ttl: 60000ms}', { ttl: 60 }],
    [
      'the greatest TTL',
      '{type: A, content: 192.0.2.1, ttl: 2147483647, allow: [ttl-unusual]}',
      { ttl: 2_147_483_647 },
    ],
    ['a priority of 0', '{type: MX, content: ., priority: 0}', { content: '.', priority: 0 }],
    ['a wildcard', '{type: A, name: "*.dev", content: 192.0.2.1}', { name: '*.dev' }],
    [
      'an absolute target',
      '{type: MX, content: Mx.Example.NET., priority: 1}',
      { content: 'Mx.Example.NET.' },
    ],
    ['an international name', '{type: A, name: bücher, content: 192.0.2.1}', { name: 'bücher' }],
    ['a placeholder in the name', '{type: A, name: "##NAME##", content: 192.0.2.1}', { name: '##NAME##' }],
    [
      'a placeholder in the target',
      '{type: MX, content: "mail.{domain}", priority: 1}',
      { content: 'mail.{domain}' },
    ],
    [
      'a target below an underscore',
      '{type: CNAME, name: a._domainkey, content: a._domainkey.example.net}',
      { name: 'a._domainkey' },
    ],
    ['a reverse zone', '{type: CNAME, name: "1", content: 1.0/25.2.0.192.in-addr.arpa}', { name: '1' }],
    [
      'SRV parts',
      '{type: SRV, name: _a._tcp, priority: 1, weight: 2, port: "3", target: .}',
      { content: '2 3 .', priority: 1 },
    ],
    [
      'SRV content',
      '{type: SRV, name: _a._tcp, priority: 1, content: " 2  3 a.example.net "}',
      { content: '2 3 a.example.net' },
    ],
    [
      'SRV content of another form',
      '{type: SRV, name: _a._tcp, priority: 1, content: " a  b", allow: [srv-content]}',
      { content: ' a  b' },
    ],
    ['an escaped variable', '{type: TXT, content: "$${x} $$${x} $x"}', { content: '${x} $${x} $x' }],
    ['a long text', `{type: TXT, content: "${'x'.repeat(4_000)}"}`, { content: 'x'.repeat(4_000) }],
  ];
  test.for(scenarios)('%s', async ([, record, expected]) => {
    const state = await loadFiles({ 'a.yaml': `template: a\nrecords:\n  - ${record}\n` });
    expect(state.lines).toEqual([]);
    expect(state.templates[0]?.records).toEqual([expect.objectContaining(expected)]);
  });
});

test('several documents in one file are several templates', async () => {
  const state = await loadFiles({
    'a.yaml': '---\ntemplate: a\nrecords: []\n---\ntemplate: b\nrecords: []\n---\n# nothing more\n',
  });
  expect(state.lines).toEqual([]);
  expect(state.templates.map(({ template, source }) => [template, source.line])).toEqual([
    ['a', 2],
    ['b', 5],
  ]);
});

test('a template with an error is rejected, and the others stay', async () => {
  const state = await loadFiles({
    'a.yaml': 'template: a\nid: 3\nrecords: [{type: A, content: x}]\n---\ntemplate: b\nrecords: []\n',
    'c.yaml': 'template: c\nrecords: []\n',
  });
  expect(state.templates.map(({ template }) => template)).toEqual(['b', 'c']);
  expect(state.unusable).toEqual([
    { file: 'templates/a.yaml', template: 'a', id: 3, message: '1 error in templates/a.yaml' },
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
