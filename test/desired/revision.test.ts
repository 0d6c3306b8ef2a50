import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRevisions } from '../../src/desired/revision.ts';

const newFolder = (): string => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'dns-template-sync-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Without the settings of whoever runs this. */
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.net', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  }).trim();

/** With a template in a folder of it, and one commit. */
const newCheckout = (): string => {
  const folder = path.join(newFolder(), 'repository');
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  writeFileSync(path.join(folder, 'templates/web.yaml'), 'template: web\nrecords: []\n');
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'one');
  return folder;
};

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

test('a file outside of any checkout has none, nor has one before the first commit', () => {
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
