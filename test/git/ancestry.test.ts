import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ancestryIn } from '../../src/git/ancestry.ts';
import type { Ancestry } from '../../src/model/published.ts';
import { git, gitWith, newCheckout, newFolder } from './checkout.ts';

interface Imported {
  readonly parents: readonly number[];
  readonly words?: string;
}

/** Adds commits by one process, each with its number as its branch; parents are given by their numbers, from 1, 0 is HEAD. */
const withCommits = (checkout: string, commits: readonly Imported[]): string[] => {
  const head = git(checkout, 'rev-parse', 'HEAD');
  const nameOf = (number: number): string => (number === 0 ? head : `:${number}`);
  const stream = commits.map(({ parents: [first = 0, ...others], words = '' }, index) => {
    // Messages are alike, so that git packs most of them as deltas.
    const message = `${'words '.repeat(80)}${words}${index}`;
    return [
      `commit refs/heads/${index + 1}`,
      `mark :${index + 1}`,
      `committer a <a@example.net> ${1_700_000_000 + index} +0000`,
      `data ${message.length}`,
      message,
      `from ${nameOf(first)}`,
      ...others.map((other) => `merge ${nameOf(other)}`),
      '',
    ].join('\n');
  });
  const input = `${stream.join('\n')}\n${commits.map((_, index) => `get-mark :${index + 1}\n`).join('')}`;
  return [head, ...gitWith(checkout, input, 'fast-import', '--quiet').split('\n')];
};

const between = (checkout: string, one: string, other: string): Promise<Ancestry> =>
  ancestryIn(path.join(checkout, 'templates/web.yaml'), one, other);

/** A history with a branch that was merged, and one that was not. */
const branched = () => {
  const checkout = newCheckout();
  const line = Array.from({ length: 30 }, (_, index) => ({ parents: [index] }));
  const ids = withCommits(checkout, [
    ...line,
    { parents: [30], words: `side\n\nparent ${'0'.repeat(40)}` },
    { parents: [30], words: 'lost' },
    { parents: [30], words: 'main' },
    { parents: [33, 31], words: 'merge' },
  ]);
  git(checkout, 'reset', '--quiet', '--hard', ids[34]!);
  const [first, fork, side, lost, main, merge] = [0, 30, 31, 32, 33, 34].map((at) => ids[at]!);
  return { checkout, first: first!, fork: fork!, side: side!, lost: lost!, main: main!, merge: merge! };
};

describe('how commits stand to each other', () => {
  test.each<[string, (checkout: string) => string]>([
    ['loose', (checkout) => checkout],
    [
      'packed with deltas',
      (checkout) => {
        git(checkout, 'repack', '-adfq', '--depth=50', '--window=50');
        const pack =
          readdirSync(path.join(checkout, '.git/objects/pack')).find((name) => name.endsWith('.idx')) ?? '';
        const entries = git(checkout, 'verify-pack', '-v', path.join('.git/objects/pack', pack)).split('\n');
        expect(
          entries.filter((line) => /^\w+ commit/.test(line) && line.split(/ +/).length === 7),
        ).not.toEqual([]);
        return checkout;
      },
    ],
    [
      'packed with references as bases',
      (checkout) => {
        git(checkout, '-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq', '--window=50');
        return checkout;
      },
    ],
    [
      'in a worktree',
      (checkout) => {
        const worktree = path.join(newFolder(), 'worktree');
        git(checkout, 'worktree', 'add', '--quiet', '-b', 'other', worktree);
        return worktree;
      },
    ],
    [
      'borrowed from another repository',
      (checkout) => {
        const clone = path.join(newFolder(), 'clone');
        git(checkout, 'clone', '--quiet', '--shared', checkout, clone);
        return clone;
      },
    ],
    [
      'behind a link, without git’s own program',
      (checkout) => {
        const link = path.join(newFolder(), 'current');
        symlinkSync(checkout, link);
        return link;
      },
    ],
  ])('%s', async (_, change) => {
    const { checkout, first, fork, side, lost, main, merge } = branched();
    const place = change(checkout);
    const pairs: [string, string, Ancestry][] = [
      [merge, merge, 'same'],
      [merge, first, 'descends'],
      [merge, side, 'descends'],
      [merge, main, 'descends'],
      [first, merge, 'precedes'],
      [fork, side, 'precedes'],
      [side, main, 'unrelated'],
    ];
    for (const [one, other, expected] of pairs) expect(await between(place, one, other)).toBe(expected);
    expect(['unrelated', 'unknown']).toContain(await between(place, lost, merge));
    expect(await between(place, merge, '1'.repeat(40))).toBe('unknown');
  });

  test('are as git has it, in a history at random', async () => {
    const checkout = newCheckout();
    const commits = withCommits(
      checkout,
      Array.from({ length: 39 }, (_, index) => {
        const count = index + 1;
        const parents = [(count * 7) % count, (count * 13) % count].slice(0, 1 + (count % 2));
        return { parents: [...new Set(parents)] };
      }),
    );
    git(checkout, 'repack', '-adfq');
    const descendants = new Map(
      commits.map((id) => [
        id,
        git(checkout, 'for-each-ref', `--contains=${id}`, '--format=%(objectname)').split('\n'),
      ]),
    );
    const isAncestor = (one: string, other: string): boolean => descendants.get(one)!.includes(other);
    for (let at = 1; at < commits.length; at += 1) {
      const [one, other] = [commits[at]!, commits[(at * 11) % commits.length]!];
      const expected =
        one === other
          ? 'same'
          : isAncestor(other, one)
            ? 'descends'
            : isAncestor(one, other)
              ? 'precedes'
              : 'unrelated';
      expect(await between(checkout, one, other)).toBe(expected);
    }
  });

  test('are not known in a checkout without its history, except of a parent', async () => {
    const { checkout, main, merge, first } = branched();
    const shallow = path.join(newFolder(), 'shallow');
    git(checkout, 'clone', '--quiet', '--depth=1', `file://${checkout}`, shallow);
    expect(await between(shallow, merge, main)).toBe('descends');
    expect(await between(shallow, merge, first)).toBe('unknown');
    expect(await between(shallow, first, merge)).toBe('unknown');
  });

  test('are not known outside of a checkout, nor in a broken one', async () => {
    const folder = newFolder();
    mkdirSync(path.join(folder, 'templates'));
    writeFileSync(path.join(folder, 'templates/web.yaml'), 'template: web\n');
    expect(await between(folder, '1'.repeat(40), '2'.repeat(40))).toBe('unknown');
    const { checkout, first, merge } = branched();
    const copy = path.join(newFolder(), 'copy');
    cpSync(checkout, copy, { recursive: true });
    rmSync(path.join(copy, '.git/objects'), { recursive: true });
    expect(await between(copy, merge, first)).toBe('unknown');
  });
});
