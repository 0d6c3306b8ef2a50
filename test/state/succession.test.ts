import { describe, expect, it } from 'vitest';
import type { Ancestry } from '../../src/model/published.ts';
import { successionOf, type Succession, type SuccessionFacts } from '../../src/state/succession.ts';

/** Files that were never published, in no order that git knows, beside published ones that somebody has. */
const unknown: SuccessionFacts = {
  isSame: false,
  ancestry: 'unknown',
  hasLeft: false,
  wasPublished: false,
  isAbandoned: false,
};

const rows: readonly [string, Partial<SuccessionFacts>, Succession][] = [
  ['the same files', { isSame: true }, 'same'],
  ['the same files at the same commit', { isSame: true, ancestry: 'same' }, 'same'],
  ['the same files at a later commit', { isSame: true, ancestry: 'descends' }, 'advances'],
  ['the same files at an earlier commit', { isSame: true, ancestry: 'precedes' }, 'same'],
  ['files of a later commit', { ancestry: 'descends' }, 'succeeds'],
  ['files of a later commit, published once', { ancestry: 'descends', wasPublished: true }, 'succeeds'],
  ['files of an earlier commit', { ancestry: 'precedes' }, 'older'],
  [
    'files of an earlier commit, of a process that has had the published ones',
    { ancestry: 'precedes', hasLeft: true, isAbandoned: true },
    'older',
  ],
  ['files that were changed after the published ones', { hasLeft: true }, 'succeeds'],
  ['files that somebody has put back', { hasLeft: true, wasPublished: true }, 'succeeds'],
  ['files that were published once', { wasPublished: true }, 'older'],
  [
    'files that were published once, and nobody has the newer ones',
    { wasPublished: true, isAbandoned: true },
    'older',
  ],
  ['files that nobody knows', {}, 'waits'],
  ['files that nobody knows, and nobody has the published ones', { isAbandoned: true }, 'succeeds'],
];

describe('which files take the place of the published ones', () => {
  it.each(rows)('%s: %o: %s', (_, facts, expected) => {
    expect(successionOf({ ...unknown, ...facts })).toBe(expected);
  });

  it.each<Ancestry>(['same', 'unrelated', 'unknown'])('an order that says nothing: %s', (ancestry) => {
    expect(successionOf({ ...unknown, ancestry })).toBe('waits');
    expect(successionOf({ ...unknown, ancestry, hasLeft: true })).toBe('succeeds');
    expect(successionOf({ ...unknown, ancestry, wasPublished: true })).toBe('older');
  });
});
