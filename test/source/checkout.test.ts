import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openCheckouts } from '../../src/source/checkout.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

const revisionAt = (folder: string): string | null =>
  openCheckouts()(path.join(folder, 'templates/web.yaml'))?.commit ?? null;

const isAtHead = (folder: string): void => expect(revisionAt(folder)).toBe(git(folder, 'rev-parse', 'HEAD'));

test('a file has the commit of its checkout, however that is named', () => {
  const checkout = newCheckout();
  isAtHead(checkout);
  for (const command of ['pack-refs --all', 'switch --quiet -c feature/one', 'checkout --quiet --detach']) {
    git(checkout, ...command.split(' '));
    isAtHead(checkout);
  }
  const [worktree, link] = [path.join(newFolder(), 'worktree'), path.join(newFolder(), 'current')];
  git(checkout, 'worktree', 'add', '--quiet', '-b', 'other', worktree);
  git(worktree, 'commit', '--quiet', '--allow-empty', '-m', 'two');
  isAtHead(worktree);
  symlinkSync(worktree, link);
  isAtHead(link);
  expect(openCheckouts()(path.join(checkout, 'templates/gone.yaml'))).toBeNull();
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
  const [commit, checkoutOf] = [git(checkout, 'rev-parse', 'HEAD'), openCheckouts()];
  expect(checkoutOf(file)).toEqual({ root: checkout, commit });
  git(checkout, 'commit', '--quiet', '--allow-empty', '-m', 'two');
  expect(checkoutOf(path.join(checkout, 'templates/mail.yaml'))?.commit).toBe(commit);
  isAtHead(checkout);
});

test('HEAD with a path out of the folder of references is no commit', () => {
  const checkout = newCheckout();
  for (const folder of [checkout, path.dirname(checkout), path.join(checkout, '.git')])
    writeFileSync(path.join(folder, 'secret'), `${'1'.repeat(40)}\n`);
  const ways = '../../secret refs/../../secret refs/heads/../../../secret /etc/secret'.split(' ');
  for (const text of [...ways.map((way) => `ref: ${way}`), '../secret']) {
    writeFileSync(path.join(checkout, '.git/HEAD'), `${text}\n`);
    expect([text, revisionAt(checkout)]).toEqual([text, null]);
  }
});
