import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as model from '../../src/model/canonical.ts';
import { hasPriority, isRecordType, type RecordData } from '../../src/model/record.ts';
import * as parked from '../../src/plan/parked.ts';
import * as texts from '../../src/model/text.ts';
import * as judge from './canonical.ts';

const { constantFrom, string, oneof, array, tuple } = fc;

const sign = oneof(
  { arbitrary: constantFrom(...Array.from('aBz09-_*.@ \\"\t;:#%[]ßéİ例。')), weight: 8 },
  { arbitrary: string({ unit: 'grapheme', minLength: 1, maxLength: 1 }), weight: 1 },
);
const text = array(sign, { maxLength: 12 }).map((signs) => signs.join(''));
const quoted = array(
  oneof(
    constantFrom('"', '" "', '""', '\\"', '\\\\', '\\065', '\\195\\169', '\\300', '\\6', '\\255', ' '),
    sign,
  ),
  { maxLength: 8 },
).map((parts) => `"${parts.join('')}"`);
const group = constantFrom(...' 0 00 0000 1 0a DB8 2001 ffff 192.0.2.1 192.0.2.01'.split(' '));
const address = array(group, { minLength: 2, maxLength: 9 }).map((groups) => groups.join(':'));
const number = constantFrom('0', '5', '05', '5060', '99999999999', '-1', 'x');
const srv = tuple(number, constantFrom(' ', '  ', '\t'), number, text).map(
  ([weight, blank, port, target]) => `${weight}${blank}${port} ${target}`,
);
const version = tuple(
  constantFrom('v=spf1', 'V=Dmarc1', 'v=DKIM1', 'v=STSv1', 'v=TLSRPTv1', 'v=BIMI1', 'v=spf2', ''),
  constantFrom(' ', ';', '\t', '', 'x'),
  text,
).map((parts) => parts.join(''));
const record: fc.Arbitrary<RecordData> = fc.record({
  type: constantFrom('A', 'aaaa', 'AAAA', 'CNAME', 'Mx', 'PTR', 'SRV', 'TXT', 'txt', 'CAA', 'ns'),
  name: oneof(constantFrom(null, '', '@', 'WWW', 'www.', '##DOMAIN##', 'Bücher.x'), text),
  content: oneof(text, quoted, address, srv, version, constantFrom('.', 'a.', 'a..', '..', '@', '@.')),
  priority: constantFrom(null, 0, 10),
  ttl: constantFrom(null, 300),
});

/** Two independent implementations: if they disagree, one of them is wrong. */
const agreeOn = <T>(
  what: string,
  inputs: fc.Arbitrary<T>,
  judged: (input: T) => unknown,
  found: (input: T) => unknown,
): void =>
  test(`the judge and the program agree on ${what}`, () => {
    fc.assert(
      fc.property(inputs, (input) => {
        expect(judged(input)).toEqual(found(input));
      }),
      { numRuns: 3_000 },
    );
  });

const types = record.map(({ type }) => type);
const nameAndText = tuple(
  constantFrom('', 'www', '_dmarc', 'a._domainkey', 'a._bimi', '_mta-sts', '_smtp._tls'),
  oneof(version, text),
);
const parkedName = array(constantFrom('_parked-', '1', '23', '.', 'x', '-', '_parked', '', '١'), {
  maxLength: 4,
}).map((parts) => parts.join(''));

agreeOn('the canonical form of a record', record, judge.canonicalRecord, model.canonicalRecord);
agreeOn(
  'the types that are known',
  types,
  (type) => judge.isKnownType({ type }),
  (type) => isRecordType(model.canonicalType(type)),
);
agreeOn('those with a priority', types, judge.hasPriority, (type) => hasPriority(model.canonicalType(type)));
agreeOn(
  'the kind of a text',
  nameAndText,
  (given) => judge.textKind(...given),
  (given) => texts.textKind(...given),
);
agreeOn('parked names', parkedName, judge.isParkedName, parked.isParkedName);
