import { isIPv6 } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalIPv6 } from '../../src/model/ipv6.ts';

describe('an IPv6 address', () => {
  test.each([
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['::', '::'],
    ['1::', '1::'],
    ['::1', '::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    // RFC 5952 §4.2.2: one group is not shortened. §4.2.3: the longest run, the first of two.
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::ffff:c000:201', '::ffff:192.0.2.1'],
    ['::FFFF:192.0.2.1', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalIPv6(text)).toBe(canonical);
  });

  test.each([
    '',
    ':',
    ':::',
    '1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '1::2::3',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '12345::',
    'g::',
    '1.2.3.4',
    '1.2.3.4::',
    '::1.2.3',
    '::1.2.3.4:5',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::256.1.1.1',
    'fe80::1%eth0',
    '[::1]',
    ' ::1',
    '::1 ',
  ])('%j is none', (text) => {
    expect(canonicalIPv6(text)).toBeNull();
  });

  /** Of the pieces that addresses are made of, nearly right. */
  const nearly = fc
    .array(
      fc.constantFrom(':', '::', '0', '00', '1', 'ffff', 'FFFF', '12345', 'g', '192.0.2.1', '1.2', '.'),
      {
        maxLength: 17,
      },
    )
    .map((parts) => parts.join(''));
  const groups = fc
    .array(fc.constantFrom('0', '0000', '1', 'a0', 'FFFF'), { minLength: 8, maxLength: 8 })
    .map((parts) => parts.join(':'));

  test('is valid if Node.js accepts it, and is formatted as in a URL', () => {
    let addresses = 0;
    fc.assert(
      fc.property(fc.oneof(nearly, groups, fc.ipV6()), (text) => {
        const canonical = canonicalIPv6(text);
        expect(canonical !== null).toBe(isIPv6(text));
        if (canonical === null) return;
        addresses += 1;
        const { hostname } = new URL(`http://[${text}]`);
        expect(new URL(`http://[${canonical}]`).hostname).toBe(hostname);
        if (!canonical.includes('.')) expect(`[${canonical}]`).toBe(hostname);
        expect(canonicalIPv6(canonical)).toBe(canonical);
      }),
      { numRuns: 5_000 },
    );
    expect(addresses).toBeGreaterThan(1_000);
  });
});
