import * as fc from 'fast-check';
import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';

const oneOf = (list: string): fc.Arbitrary<string> => fc.constantFrom(...list.split(' '));

/** What means something to YAML, to the template language, to a terminal or to nobody. */
const piece = fc.oneof(
  oneOf('${ $ { } " \' \\ ; # : - &a *a !!str % @ | >- é a 0 😀 👩‍💻'),
  fc.constantFrom(' ', ': ', '\n', '\r', '\t', '\0', '\x7f', '\x85', '\xa0', '\u2028', '\u202e', '\ufeff'),
  fc.constantFrom('\ufffe', '\ue000', '\ud800', '\udc00', '\u{e0001}'),
);

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.array(fc.nat(0xffff), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
  fc.array(piece, { maxLength: 12 }).map((parts) => parts.join('')),
);

const longText = fc.constantFrom(
  'x'.repeat(4_000),
  '\\;"'.repeat(1_300),
  '😀'.repeat(2_000),
  `"${'x'.repeat(300)}"`,
  'ü'.repeat(33_000),
);

/** Few enough that records meet at one name. */
const usualName = fc.constantFrom(null, '', '@', 'www', 'WWW', 'a.b', '_dmarc', '_sip._tcp', '*', '*.a');
const name = fc.oneof(
  { weight: 5, arbitrary: usualName },
  oneOf('no 010 1.10 null ~ y 0x1f 1e3 12:30 2001-12-14 << = .inf bücher xn--bcher-kva a..b . -a- a*b'),
  oneOf('##DOMAIN## {domain} <x> %d% ${www} $${www} $$${ _parked-7 _PARKED-8'),
  fc.constantFrom('x'.repeat(64), `${'x.'.repeat(130)}x`),
  anyText,
);

const content = fc.oneof(
  { weight: 10, arbitrary: oneOf('192.0.2.1 192.0.2.2 2001:db8::1 mx.example.net MX.example.net. .') },
  oneOf('2001:DB8:0::1 1.2.3 www localhost a.${b} ##DOMAIN## true 5 1.10'),
  fc.constantFrom('5 5060 sip.example.net', '5  5060\tsip.example.net ', '5 5060', '70000 1 x.y', '0 0 .'),
  fc.constantFrom(
    '00000000005  5060 x.y',
    '00000000005 5060 x.y',
    '05 5060 192.0.2.1',
    '5 5060 ${x}',
    ' ',
    '',
  ),
  fc.constantFrom('v=spf1 -all', 'v=spf1 mx -all', 'V=SPF1 mx', '"v=spf1 mx" " -all"', 'v=DMARC1; p=none'),
  fc.constantFrom('"a" "b"', '"ab"', 'ab', '"\\065b"', '"open'),
  longText,
  anyText,
);

const record = fc.record({
  type: fc.oneof(
    { weight: 6, arbitrary: oneOf('A AAAA CNAME MX PTR SRV TXT') },
    fc.constantFrom('a', 'Mx', 'CAA', 'NS', 'alias', '\u202eA', 'A\n# x', ''),
  ),
  name,
  content,
  priority: fc.constantFrom(null, 0, 10, 20, 65_535, 65_536, -1),
  ttl: fc.oneof(
    { weight: 3, arbitrary: fc.constant(3_600) },
    fc.constantFrom(null, 0, 59, 60, 300, 604_801, 2_147_483_647, 2_147_483_648, -1),
  ),
});

const withIds = (records: readonly Omit<ActualRecord, 'id'>[]): fc.Arbitrary<ActualRecord[]> =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: 999 }), { minLength: records.length, maxLength: records.length })
    .map((ids) => records.map((one, index) => ({ id: ids[index]!, ...one })));

const templateName = fc.oneof(
  { weight: 2, arbitrary: oneOf('web Web mail template-2 web-2') },
  oneOf(
    '../../etc/passwd /etc/passwd .hidden _fragment a/b a\\b CON nul.x .. ünï ${web} no 12 日本 web.yaml',
  ),
  fc.constantFrom('', 'x'.repeat(400), 'a\nb'),
  anyText,
);

/** The templates of one client, in all that a service could answer. */
export const serviceState: fc.Arbitrary<ActualTemplate[]> = fc
  .array(fc.record({ name: templateName, records: fc.array(record, { maxLength: 12 }).chain(withIds) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((templates) =>
    templates.map((template, index) => ({
      id: index + 1,
      ...template,
      publiclyAvailable: false,
      subdomains: 0,
    })),
  );
