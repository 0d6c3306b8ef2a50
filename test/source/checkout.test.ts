import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openCheckouts } from '../../src/source/checkout.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

const revisionAt = (folder: string): string | null =>
  openCheckouts()(path.join(folder, 'templates/web.yaml'))?.commit ?? null;

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
  const [first, checkoutOf] = [git(checkout, 'rev-parse', 'HEAD'), openCheckouts()];
  expect(checkoutOf(file)).toEqual({ root: checkout, commit: first });
  git(checkout, 'commit', '--quiet', '--allow-empty', '-m', 'two');
  expect(checkoutOf(path.join(checkout, 'templates/mail.yaml'))?.commit).toBe(first);
  expect(revisionAt(checkout)).toBe(git(checkout, 'rev-parse', 'HEAD'));
});

test('a file that is gone has none', () => {
  expect(openCheckouts()(path.join(newCheckout(), 'templates/gone.yaml'))).toBeNull();
});

test.each([
  'ref: ../../secret',
  'ref: refs/../../secret',
  'ref: refs/heads/../../../secret',
  '../secret',
  'ref: /etc/secret',
])('HEAD with `%s` is no commit', (text) => {
  const checkout = newCheckout();
  for (const folder of [checkout, path.dirname(checkout), path.join(checkout, '.git')])
    writeFileSync(path.join(folder, 'secret'), `${'1'.repeat(40)}\n`);
  writeFileSync(path.join(checkout, '.git/HEAD'), `${text}\n`);
  expect(revisionAt(checkout)).toBeNull();
});
