import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
const group = constantFrom(
  '',
  '0',
  '00',
  '0000',
  '1',
  '0a',
  'DB8',
  '2001',
  'ffff',
  '192.0.2.1',
  '192.0.2.01',
);
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
describe('the judge and the program agree on', () => {
  test('the canonical form of a record', () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(judge.canonicalRecord(one)).toEqual(model.canonicalRecord(one));
      }),
      { numRuns: 5_000 },
    );
  });

  test('known types and those that carry a priority', () => {
    fc.assert(
      fc.property(record, ({ type }) => {
        expect(judge.isKnownType({ type })).toBe(isRecordType(model.canonicalType(type)));
        expect(judge.hasPriority(type)).toBe(hasPriority(model.canonicalType(type)));
      }),
    );
  });

  test('the kind of a text', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('', 'www', '_dmarc', 'a._domainkey', 'a._bimi', '_mta-sts', '_smtp._tls'),
        oneof(version, text),
        (name, content) => {
          expect(judge.textKind(name, content)).toBe(texts.textKind(name, content));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('parked names', () => {
    const part = constantFrom('_parked-', '1', '23', '.', 'x', '-', '_parked', '', '١');
    fc.assert(
      fc.property(array(part, { maxLength: 4 }), (parts) => {
        expect(judge.isParkedName(parts.join(''))).toBe(parked.isParkedName(parts.join('')));
      }),
      { numRuns: 2_000 },
    );
  });
});
