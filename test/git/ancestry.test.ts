import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ancestryIn } from '../../src/git/ancestry.ts';
import type { Ancestry } from '../../src/model/published.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

/** Messages are alike, so that git packs most of them as deltas. */
const commit = (checkout: string, message: string): string => {
  git(checkout, 'commit', '--quiet', '--allow-empty', '-m', `${'words '.repeat(80)}${message}`);
  return git(checkout, 'rev-parse', 'HEAD');
};

const between = (checkout: string, one: string, other: string): Promise<Ancestry> =>
  ancestryIn(path.join(checkout, 'templates/web.yaml'), one, other);

/** A history with a branch that was merged, and one that was not. */
const branched = () => {
  const checkout = newCheckout();
  const first = git(checkout, 'rev-parse', 'HEAD');
  for (let count = 0; count < 30; count += 1) commit(checkout, `before ${count}`);
  const fork = git(checkout, 'rev-parse', 'HEAD');
  git(checkout, 'switch', '--quiet', '-c', 'side');
  const side = commit(checkout, `side\n\nparent ${'0'.repeat(40)}`);
  git(checkout, 'switch', '--quiet', '-c', 'lost', fork);
  const lost = commit(checkout, 'lost');
  git(checkout, 'switch', '--quiet', 'main');
  const main = commit(checkout, 'main');
  git(checkout, 'merge', '--quiet', '--no-ff', '-m', 'merge', 'side');
  const merge = git(checkout, 'rev-parse', 'HEAD');
  return { checkout, first, fork, side, lost, main, merge };
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
    const commits = [git(checkout, 'rev-parse', 'HEAD')];
    for (let count = 1; count < 40; count += 1) {
      const parents = [(count * 7) % commits.length, (count * 13) % commits.length].slice(0, 1 + (count % 2));
      const options = [...new Set(parents)].flatMap((at) => ['-p', commits[at]!]);
      commits.push(git(checkout, 'commit-tree', 'HEAD^{tree}', ...options, '-m', `commit ${count}`));
    }
    git(checkout, 'repack', '-adfq');
    const isAncestor = (one: string, other: string): boolean => {
      try {
        git(checkout, 'merge-base', '--is-ancestor', one, other);
        return true;
      } catch {
        return false;
      }
    };
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
