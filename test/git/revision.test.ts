import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRevisions } from '../../src/git/revision.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

const revisionAt = (folder: string): string | null =>
  createRevisions()(path.join(folder, 'templates/web.yaml'));

test.each<[string, (checkout: string) => string]>([
  ['a branch', (checkout) => checkout],
  [
    'a branch whose name is among the packed ones',
    (checkout) => {
      git(checkout, 'pack-refs', '--all');
      return checkout;
    },
  ],
  [
    'a branch with a slash in its name',
    (checkout) => {
      git(checkout, 'switch', '--quiet', '-c', 'feature/one');
      return checkout;
    },
  ],
  [
    'no branch',
    (checkout) => {
      git(checkout, 'checkout', '--quiet', '--detach');
      return checkout;
    },
  ],
  [
    'a worktree',
    (checkout) => {
      const worktree = path.join(newFolder(), 'worktree');
      git(checkout, 'worktree', 'add', '--quiet', '-b', 'other', worktree);
      git(worktree, 'commit', '--quiet', '--allow-empty', '-m', 'two');
      return worktree;
    },
  ],
  [
    'what a link leads to',
    (checkout) => {
      const link = path.join(newFolder(), 'current');
      symlinkSync(checkout, link);
      return link;
    },
  ],
])('a file has the commit of its checkout: %s', (_, change) => {
  const checkout = change(newCheckout());
  expect(revisionAt(checkout)).toBe(git(checkout, 'rev-parse', 'HEAD'));
});

test('a file outside of a checkout has none, and neither has one before the first commit', () => {
  const folder = newFolder();
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(path.join(folder, 'templates/web.yaml'), 'template: web\n');
  expect(revisionAt(folder)).toBeNull();
  git(folder, 'init', '--quiet');
  expect(revisionAt(folder)).toBeNull();
});

test('a pass sees one commit for all files of a folder, and the next pass the new one', () => {
  const checkout = newCheckout();
  const file = path.join(checkout, 'templates/web.yaml');
  const [first, revisionOf] = [git(checkout, 'rev-parse', 'HEAD'), createRevisions()];
  expect(revisionOf(file)).toBe(first);
  git(checkout, 'commit', '--quiet', '--allow-empty', '-m', 'two');
  expect(revisionOf(path.join(checkout, 'templates/mail.yaml'))).toBe(first);
  expect(revisionAt(checkout)).toBe(git(checkout, 'rev-parse', 'HEAD'));
});

test('a file that is gone has none', () => {
  expect(createRevisions()(path.join(newCheckout(), 'templates/gone.yaml'))).toBeNull();
});
