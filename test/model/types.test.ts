import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalContent, canonicalName } from '../../src/model/canonical.ts';
import { recordTypes, type RecordType } from '../../src/model/record.ts';
import { definitionOf } from '../../src/model/types/table.ts';
import { isParkedName, parkedForm } from '../../src/plan/parked.ts';
import { anyText } from '../any-text.ts';

/** In spellings that have a canonical form of another look, and one that has none. */
const contents: Readonly<Record<RecordType, readonly string[]>> = {
  A: ['192.0.2.1', '##IP##'],
  AAAA: ['2001:DB8:0:0::1', '::FFFF:c000:201', 'fe80::1%eth0'],
  CNAME: ['Web.Example.net.', 'Bücher.example', '{host}.'],
  MX: ['MX1.example.net.', '.', '10 MX1.example.net'],
  PTR: ['Host.example.net.', '##Host##'],
  SRV: ['05  5060\tSIP.example.net.', '0 0 .', 'SIP.example.net'],
  TXT: ['Free  Text', '"v=spf1 " "-all"', String.raw`"\"a\" \"b\""`, '"not closed'],
};

const complaintsOf = (type: RecordType, content: string): string[] =>
  definitionOf(type)
    .checks.filter(({ at }) => at === 'content')
    .flatMap(({ find }) => find({ name: 'www', content, canonical: { name: 'www', content } }, String) ?? []);

describe.for(recordTypes)('%s', (type) => {
  const definition = definitionOf(type);
  const record = { id: 7, type, name: 'www', content: contents[type][0]!, priority: null, ttl: 300 };

  test('a canonical form is its own canonical form, except a text with quotes inside quotes', () => {
    const anyContent = fc.oneof(fc.constantFrom(...contents[type]), anyText());
    fc.assert(
      fc.property(anyContent, (content) => {
        const canonical = canonicalContent(type, content);
        if (type === 'TXT' && canonical.startsWith('"')) return;
        expect(canonicalContent(type, canonical)).toBe(canonical);
      }),
    );
  });

  test('a canonical content matches itself as a pattern, apart from ignored case', () => {
    for (const content of contents[type].map((one) => canonicalContent(type, one))) {
      if (type === 'TXT' && content.startsWith('"')) continue;
      const expected = definition.ignoresCase ? content.toLowerCase() : content;
      expect(definition.canonicalPattern(content)).toBe(expected);
    }
  });

  test('a parked record is canonical, inert, and does not change when it is parked again', () => {
    const parked = parkedForm(record, type);
    expect(canonicalContent(type, parked.content)).toBe(parked.content);
    expect(canonicalName(parked.name)).toBe(parked.name);
    expect(parked.name).toSatisfy(isParkedName);
    expect(parked.content).toMatch(/^(?:0\.0\.0\.0|::|parked|(?:0 0 )?parked\.invalid)$/);
    expect(contents[type].map((content) => canonicalContent(type, content))).not.toContain(parked.content);
    expect(parkedForm({ ...parked, id: record.id }, type)).toEqual(parked);
  });

  test('a parked record has the required fields of its type, and causes no conflict beyond those of the type', () => {
    const parked = parkedForm(record, type);
    expect(parked.priority).toBe(definition.hasPriority ? 0 : null);
    expect(definition.conflictKind(parked.content)).not.toBe('null MX');
    expect(complaintsOf(type, parked.content)).toEqual([]);
    expect(definition.target?.in(parked.content)).toBe(definition.target ? 'parked.invalid' : undefined);
  });

  test('a valid content passes all checks', () => {
    const canonical = canonicalContent(type, contents[type][0]!);
    expect(complaintsOf(type, canonical)).toEqual([]);
  });

  test('a content in parts equals its parts joined', () => {
    if (definition.parts === null) return;
    const joined = definition.parts.joined(contents[type][0]!);
    const { weight, port, target } = definition.parts.of(joined)!;
    expect(canonicalContent(type, `${weight} ${port} ${target}`)).toBe(canonicalContent(type, joined));
  });
});

test('a record of an unknown type is never parked: it would stay in service under another name', () => {
  const record = {
    id: 7,
    type: 'NAPTR',
    name: 'www',
    content: '100 10 "u" "E2U+sip" "" .',
    priority: null,
    ttl: null,
  };
  expect(() => parkedForm(record, 'NAPTR')).toThrow('record 7 has type NAPTR');
});
