import { expect, test } from 'vitest';
import { canonicalIPv6 } from '../../src/model/address.ts';

/* Node.js reads and writes the addresses; these are the forms that it has for itself, or that are easily taken for one. */

test.each([
  ['2001:0DB8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
  ['0:0:0:0:0:0:0:0', '::'],
  // RFC 5952 §4.2.2: one group is not shortened. §4.2.3: the longest run, the first of two.
  ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['::FFFF:192.0.2.1', '::ffff:192.0.2.1'],
  ['::ffff:c000:201', '::ffff:192.0.2.1'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['::192.0.2.1', '::c000:201'],
  ['::0.1.0.0', '::1:0'],
  ['::2', '::2'],
  ['::0.0.0.0', '::'],
])('%s is %s', (text, canonical) => {
  expect(canonicalIPv6(text)).toBe(canonical);
});

test.each([
  '',
  ':',
  ':::',
  '1',
  '1:2:3:4:5:6:7',
  '1::2::3',
  '12345::',
  '1.2.3.4',
  'fe80::1%eth0',
  '[::1]',
  ' ::1',
  '::1\0::2',
  '::1]/',
  'u@::1',
])('%j is none', (text) => {
  expect(canonicalIPv6(text)).toBeNull();
});
