import { expect, it } from 'vitest';
import { matchesPattern, parseRecordPattern, patternOf } from '../../src/plan/record-pattern.ts';
import { data } from './records.ts';

/** Whether the patterns match a record of this name and type, or what is wrong with the first that is none. */
const matches = (patterns: readonly string[], record: string): boolean | string => {
  const parsed = patterns.map(parseRecordPattern);
  const known = parsed.filter((one) => typeof one !== 'string');
  const problem = parsed.find((one) => typeof one === 'string');
  return problem ?? matchesPattern(known, data(`${record} x`));
};

it.each([
  ['www A', 'www A', 'www AAAA, www.shop A'],
  ['  WWW   a ', 'www A', ''],
  ['www A', 'www a', ''],
  ['@ MX', '@ MX', 'mail MX'],
  ['* TXT', '@ TXT, _dmarc TXT', 'www A'],
  ['www *', 'www CAA', '@ A'],
  ['*.shop A', 'www.shop A', ''],
])('%j matches %j, and not %j', (text, matching, others) => {
  const found = `${matching}, ${others}`
    .split(', ')
    .filter((one) => one !== '' && matches([text], one) === true);
  expect(found.join(', ')).toBe(matching);
});

it('takes a name with a blank, one of several, and none of none', () => {
  const blank = [parseRecordPattern('my web A')].filter((one) => typeof one !== 'string');
  expect(matchesPattern(blank, { name: 'my web', type: 'A' })).toBe(true);
  expect(matches(['@ MX', 'www A'], 'www A')).toBe(true);
  expect(matches([], 'www A')).toBe(false);
});

const form = "expected a name and a type, such as 'www A', '@ MX' or '* TXT'";
const types = 'is no record type; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT, and * for any';

it.each([
  ['', `\`\`: ${form}`],
  ['www', `\`www\`: ${form}`],
  ['A www', `\`A www\`: \`www\` ${types}`],
  ['* T*', `\`* T*\`: \`T*\` ${types}`],
])('refuses `%s`', (text, problem) => {
  expect(matches([text], 'www A')).toBe(problem);
});

it('is made of a record', () => {
  expect(patternOf({ name: 'www', type: 'A' })).toBe('www A');
  expect(patternOf({ name: null, type: 'MX' })).toBe('@ MX');
});
