import { describe, expect, it } from 'vitest';
import {
  matchesPattern,
  parseRecordPattern,
  patternOf,
  type RecordPattern,
} from '../../src/plan/record-pattern.ts';

const parsed = (text: string): RecordPattern => {
  const pattern = parseRecordPattern(text);
  if (typeof pattern === 'string') throw new Error(pattern);
  return pattern;
};

describe('a pattern of records', () => {
  it.each([
    ['www A', 'www', 'A', true],
    ['www A', 'www', 'AAAA', false],
    ['www A', 'www.shop', 'A', false],
    ['  WWW   a ', 'www', 'A', true],
    ['www A', 'www', 'a', true],
    ['@ MX', null, 'MX', true],
    ['@ MX', '', 'MX', true],
    ['@ MX', '@', 'MX', true],
    ['@ MX', 'mail', 'MX', false],
    ['* TXT', null, 'TXT', true],
    ['* TXT', '_dmarc', 'TXT', true],
    ['* TXT', 'www', 'A', false],
    ['www *', 'www', 'CAA', true],
    ['www *', null, 'A', false],
    ['*.shop A', 'www.shop', 'A', true],
    ['my web A', 'my web', 'A', true],
  ])('%s for %s %s: %s', (text, name, type, expected) => {
    expect(matchesPattern([parsed(text)], { name, type })).toBe(expected);
  });

  it('matches if one of several does, and none does for no patterns', () => {
    const record = { name: 'www', type: 'A' };
    expect(matchesPattern([parsed('@ MX'), parsed('www A')], record)).toBe(true);
    expect(matchesPattern([], record)).toBe(false);
  });

  it.each([
    ['', "``: expected a name and a type, such as 'www A', '@ MX' or '* TXT'"],
    ['www', "`www`: expected a name and a type, such as 'www A', '@ MX' or '* TXT'"],
    [
      'A www',
      '`A www`: `www` is no record type; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT, and * for any',
    ],
    ['* T*', '`* T*`: `T*` is no record type; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT, and * for any'],
  ])('refuses `%s`', (text, problem) => {
    expect(parseRecordPattern(text)).toBe(problem);
  });

  it('is made of a record', () => {
    expect(patternOf({ name: 'www', type: 'A' })).toBe('www A');
    expect(patternOf({ name: null, type: 'MX' })).toBe('@ MX');
  });
});
