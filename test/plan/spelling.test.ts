import { expect, test } from 'vitest';
import { entryOf } from '../../src/plan/entry.ts';
import { mayBe } from '../../src/plan/spelling.ts';

const record = (text: string) => {
  const [name = '', type = '', content = ''] = text.split(' ');
  return entryOf({ type, name: name === '@' ? null : name, content, priority: null, ttl: null });
};

test.each([
  ['www A 192.0.2.1', 'www.example.net A 192.0.2.1', true],
  ['www A 192.0.2.1', 'www.##DOMAIN## A 192.0.2.1', true],
  ['@ A 192.0.2.1', 'example.net A 192.0.2.1', true],
  ['@ A 192.0.2.1', 'example.net. A 192.0.2.1', true],
  ['@ A 192.0.2.1', '##DOMAIN## A 192.0.2.1', true],
  ['@ A 192.0.2.1', '##DOMAIN##. A 192.0.2.1', true],
  ['_sip._tcp TXT one', 'sip.tcp TXT two', true],
  ['www A 192.0.2.1', 'www.example.net A 192.0.2.2', false],
  ['www A 192.0.2.1', 'www.example.net AAAA 2001:db8::1', false],
  ['www A 192.0.2.1', 'www2 A 192.0.2.1', false],
  ['www A 192.0.2.1', 'old.www A 192.0.2.1', false],
  ['@ A 192.0.2.1', 'www A 192.0.2.1', false],
  ['@ A 192.0.2.1', 'www. A 192.0.2.1', false],
  ['@ A 192.0.2.1', 'www.##DOMAIN## A 192.0.2.1', false],
  ['@ A 192.0.2.1', '*.##DOMAIN## A 192.0.2.1', false],
  ['@ A 192.0.2.1', '*.example.net A 192.0.2.1', false],
  ['www A 192.0.2.1', 'www A 192.0.2.1', false],
])('whether %s may be stored as %s: %s', (one, other, expected) => {
  expect(mayBe(record(one), record(other))).toBe(expected);
  expect(mayBe(record(other), record(one))).toBe(expected);
});
