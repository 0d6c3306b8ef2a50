import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readCommit } from '../../src/git/commit.ts';
import { git, newCheckout } from './checkout.ts';

const fileIn = (checkout: string): string => path.join(checkout, 'templates/web.yaml');

const commit = (checkout: string, message: string, ...options: string[]): string => {
  git(checkout, ...options, 'commit', '--quiet', '--allow-empty', '-m', message);
  return git(checkout, 'rev-parse', 'HEAD');
};

test.each(['sha1', 'sha256'])('a commit has its author and the first line of its message, %s', (format) => {
  const checkout = newCheckout(format);
  const id = commit(checkout, 'Move the shop\n\nIts old host is gone.', '-c', 'user.name=Anna Example');
  const words = { author: 'Anna Example', subject: 'Move the shop' };
  expect(readCommit(fileIn(checkout), id)).toEqual(words);
  git(checkout, 'gc', '--quiet', '--prune=now');
  expect(readCommit(fileIn(checkout), id)).toEqual(words);
});

test('a subject over two lines is one', () => {
  const checkout = newCheckout();
  expect(readCommit(fileIn(checkout), commit(checkout, 'Move\nthe shop\n\nWhy.'))?.subject).toBe(
    'Move the shop',
  );
});

test('another encoding is read', () => {
  const checkout = newCheckout();
  const message = path.join(checkout, 'message');
  writeFileSync(message, 'Für den Laden', 'latin1');
  git(checkout, '-c', 'i18n.commitEncoding=ISO-8859-1', 'commit', '--quiet', '--allow-empty', '-F', message);
  const id = git(checkout, 'rev-parse', 'HEAD');
  expect(readCommit(fileIn(checkout), id)).toEqual({ author: 'a', subject: 'Für den Laden' });
});

test('long names and subjects are cut', () => {
  const checkout = newCheckout();
  const id = commit(checkout, 'x'.repeat(100_000), '-c', `user.name=${'y'.repeat(5_000)}`);
  const { author = '', subject = '' } = readCommit(fileIn(checkout), id) ?? {};
  expect([author.length, subject.length]).toEqual([100, 200]);
});

test('a commit that is not there, as in a pruned repository, and what is no commit, have none', () => {
  const checkout = newCheckout();
  const [id, tree] = [git(checkout, 'rev-parse', 'HEAD'), git(checkout, 'rev-parse', 'HEAD^{tree}')];
  expect(readCommit(fileIn(checkout), '1'.repeat(40))).toBeNull();
  expect(readCommit(fileIn(checkout), tree)).toBeNull();
  rmSync(path.join(checkout, '.git/objects'), { recursive: true });
  expect(readCommit(fileIn(checkout), id)).toBeNull();
});
