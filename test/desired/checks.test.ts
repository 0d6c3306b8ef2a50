import { expect, test } from 'vitest';
import { allowableChecks } from '../../src/desired/check-id.ts';
import { rowsOf } from '../rows.ts';
import { loadFiles } from './load-files.ts';

const fileOf = (records: readonly string[], head = ''): Record<string, string> => ({
  'a.yaml': `template: a\n${head}records:\n${records.map((record) => `  - ${record}\n`).join('')}`,
});

const checksIn = async (records: readonly string[], head = ''): Promise<string[]> => {
  const { problems } = await loadFiles(fileOf(records, head));
  return problems.map(({ check }) => check);
};

/** 253 octets. */
const long = `${`${'a'.repeat(50)}.`.repeat(4)}${'a'.repeat(49)}`;

/** Each check that can be switched off, a record that fails it, and what has to be beside that. */
const allowed = rowsOf(String.raw`
  empty-content | type: TXT, content: ""
  bad-ipv4 | type: A, content: "##IP##.1"
  bad-ipv6 | type: AAAA, content: "##IP##::"
  address-as-host | type: CNAME, name: a, content: 192.0.2.1
  bad-host | type: MX, content: a_b.example.net, priority: 1
  label-length | type: A, name: a..b, content: 192.0.2.1
  name-length | type: A, name: ${long}a, content: 192.0.2.1
  wildcard | type: A, name: "a.*", content: 192.0.2.1
  full-name | type: A, name: www., content: 192.0.2.1
  cname-alone | type: CNAME, name: a, content: a.example.net | {type: A, name: a, content: 192.0.2.1}
  cname-apex | type: CNAME, content: a.example.net
  name-required | type: PTR, content: a.example.net
  priority-required | type: MX, content: mx.example.net
  srv-content | type: SRV, name: _a._tcp, priority: 1, content: "1 2"
  null-mx-alone | type: MX, content: ., priority: 0 | {type: MX, content: mx.example.net, priority: 1}
  kind-twice | type: TXT, content: v=spf1 -all | {type: TXT, content: v=spf1 mx -all}
  invisible-character | type: A, name: "w\u200bw", content: 192.0.2.1
  txt-length | type: TXT, content: '"${'x'.repeat(300)}"'
  control-character | type: TXT, content: "a\tb"
  text-notation | type: TXT, content: 'v=x\; y'
  origin-in-name | type: A, name: www.example.net, content: 192.0.2.1
  mixed-ttl | type: A, ttl: 60, content: 192.0.2.1 | {type: A, content: 192.0.2.2, ttl: 61}
  ttl-unusual | type: A, ttl: 1, content: 192.0.2.1
  target-is-cname | type: MX, priority: 1, content: "a.{domain}" | {type: CNAME, name: a, content: b.example.net}
  srv-name | type: SRV, name: a, priority: 1, content: 1 2 a.example.net
  single-label-target | type: MX, priority: 1, content: mail
  spf-open | type: TXT, content: v=spf1 mx
  dmarc-place | type: TXT, content: v=DMARC1; p=none`);

test.for(allowed)('allow switches %s off for its own record', async ([check = '', record, ...others]) => {
  const head = check === 'origin-in-name' ? 'subdomains: [shop.example.net]\n' : '';
  expect(await checksIn([`{${record}}`, ...others], head)).toContain(check);
  expect(await checksIn([`{${record}, allow: [${check}]}`, ...others], head)).toEqual([]);
});

test('each check that can be switched off is among them, and other records are still checked', async () => {
  expect(allowed.map(([check]) => check)).toEqual(allowableChecks);
  const records = ['{type: A, content: x, allow: [bad-ipv4]}', '{type: A, content: y}'];
  expect(await checksIn(records)).toEqual(['bad-ipv4']);
});

/** What it looks like, and the records, with what stands before them. */
const valid = rowsOf(String.raw`
  null MX alone | {type: MX, content: ., priority: 0}
  null MX at another name | {type: MX, name: a, content: ., priority: 0} | {type: MX, content: mx.example.net, priority: 1}
  SRV that says there is no service | {type: SRV, name: _a._tcp, priority: 0, content: 0 0 .}
  one SPF beside other texts | {type: TXT, content: v=spf1 redirect=example.net} | {type: TXT, content: v=spf10}
  SPF with a macro | {type: TXT, content: "v=spf1 exists:%{i}.example.net ?all"}
  DMARC of a name below | {type: TXT, name: _dmarc.shop, content: v=DMARC1; p=none}
  consent to DMARC reports | {type: TXT, name: "*._report._dmarc", content: v=DMARC1}
  CNAMEs at two names | {type: CNAME, name: a, content: x.example.net} | {type: CNAME, name: b, content: x.example.net}
  one MX with two priorities | {type: MX, content: mx.example.net, priority: 1} | {type: MX, content: mx.example.net, priority: 2}
  texts that differ in case | {type: TXT, content: a} | {type: TXT, content: A}
  several quoted strings | {type: TXT, content: '"${'x'.repeat(255)}" "${String.raw`\255`.repeat(255)}"'}
  a label of 63 octets | {type: A, name: ${'a'.repeat(63)}, content: 192.0.2.1}
  a name of 253 octets | {type: A, name: ${long}, content: 192.0.2.1}
  a wildcard below a name | {type: A, name: "*.a.b", content: 192.0.2.1}
  the same TTL, stated and inherited | ttl: 3600 | {type: A, content: 192.0.2.1, ttl: 1h} | {type: A, content: 192.0.2.2}
  TTLs of two types | {type: A, content: 192.0.2.1, ttl: 1h} | {type: AAAA, content: "::1", ttl: 2h}
  a TTL beside none | {type: A, content: 192.0.2.1, ttl: 1h} | {type: A, content: 192.0.2.2}
  a week | {type: A, content: 192.0.2.1, ttl: 7d}
  a wanted record beside an ignored one | ignore: [{type: TXT, name: b}] | {type: TXT, name: a, content: x}
  a placeholder as an address | {type: A, content: "<ip.web>"} | {type: AAAA, content: "%ipv6%"}
  a placeholder as a whole name | {type: CNAME, name: "%name%", content: "<target>"}
  a placeholder in an SRV | {type: SRV, name: "_a._tcp.{sub}", priority: 0, content: "0 0 {host}"}`);

test.for(valid)('a valid record that looks like a mistake: %s', async ([, ...cells]) => {
  const [head, ...records] = cells[0]!.startsWith('{')
    ? ['', ...cells]
    : [`${cells[0]}\n`, ...cells.slice(1)];
  expect(await checksIn(records, head)).toEqual([]);
});

test('an ignore rule with a mistake does not match everything', async () => {
  const records = ['{type: A, content: 192.0.2.1}'];
  expect(await checksIn(records, 'ignore: [{name: "${x}"}]\n')).toEqual(['undefined-variable']);
  expect(await checksIn(records, 'ignore: [{nmae: x}]\n')).toEqual(['unknown-key']);
  expect(await checksIn(records, 'ignore: [{type: AAA}]\n')).toEqual(['unknown-type']);
});

test('strict turns warnings into errors, and rejects the template', async () => {
  const files = fileOf(['{type: A, content: 192.0.2.1, ttl: 1}']);
  const lenient = await loadFiles(files);
  expect([lenient.templates.length, lenient.problems[0]?.severity]).toEqual([1, 'warning']);
  const strict = await loadFiles(files, { strict: true });
  expect(strict.templates).toEqual([]);
  expect(strict.unusable).toMatchObject([{ template: 'a', message: '1 error in templates/a.yaml' }]);
  expect(strict.found).toEqual(['3:40 error ttl-unusual']);
});

test('a template with a syntax error still has its name and id', async () => {
  const state = await loadFiles({ 'a.yaml': 'template: web\nid: 17\nrecords:\n  - {type: A, content: [\n' });
  expect(state.unusable).toMatchObject([{ template: 'web', id: 17 }]);
});
