import { expect, test } from 'vitest';
import { parseSize, sizeText } from '../../src/model/size.ts';

test.for<[string, number]>([
  ['1B', 1],
  ['512KiB', 524_288],
  ['64MiB', 67_108_864],
  ['1GiB', 1_073_741_824],
])('%s is %d bytes, and is written so', ([text, bytes]) => {
  expect(parseSize(text)).toBe(bytes);
  expect(sizeText(bytes)).toBe(text);
});

test('a size is formatted in the largest unit that divides it', () => {
  expect([sizeText(1_536), sizeText(1_000), sizeText(0)]).toEqual(['1536B', '1000B', '0B']);
});

test.for(['', '64', 'MiB', '64MB', '64mib', '64 MiB', '6.4MiB', '-1MiB', '1e3B'])('%j is no size', (text) => {
  expect(parseSize(text)).toBeNull();
});
