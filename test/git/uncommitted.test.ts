import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createUncommitted } from '../../src/git/uncommitted.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

const fileIn = (checkout: string, name = 'web.yaml'): string => path.join(checkout, 'templates', name);

const edit = (checkout: string): void => appendFileSync(fileIn(checkout), '# edited\n');

const isUncommitted = (file: string): boolean => createUncommitted()()(file);

describe.each(['sha1', 'sha256'])('in a repository with %s', (format) => {
  const checkoutWith = (): string => {
    const checkout = newCheckout(format);
    mkdirSync(path.join(checkout, 'templates/more'));
    for (const name of ['more/a.yaml', 'other.yaml', 'zone.yaml'])
      writeFileSync(fileIn(checkout, name), `# ${name}\n`);
    git(checkout, 'add', '.');
    git(checkout, 'commit', '--quiet', '-m', 'two');
    return checkout;
  };

  test.each([false, true])('reports no committed file (packed: %s)', (isPacked) => {
    const checkout = checkoutWith();
    if (isPacked) git(checkout, 'gc', '--quiet');
    for (const name of ['web.yaml', 'more/a.yaml', 'other.yaml', 'zone.yaml'])
      expect([name, isUncommitted(fileIn(checkout, name))]).toEqual([name, false]);
  });

  test('reports an edit until it is committed, also if it was added, and not the files beside it', () => {
    const checkout = checkoutWith();
    const uncommitted = createUncommitted();
    const found = (): boolean[] =>
      ['web.yaml', 'zone.yaml'].map((name) => uncommitted()(fileIn(checkout, name)));
    expect(found()).toEqual([false, false]);
    edit(checkout);
    expect(found()).toEqual([true, false]);
    git(checkout, 'add', '.');
    expect(found()).toEqual([true, false]);
    git(checkout, 'commit', '--quiet', '-m', 'three');
    expect(found()).toEqual([false, false]);
  });

  test('reports a file that was never added', () => {
    const checkout = checkoutWith();
    writeFileSync(fileIn(checkout, 'new.yaml'), '');
    mkdirSync(path.join(checkout, 'templates/new'));
    writeFileSync(fileIn(checkout, 'new/new.yaml'), '');
    expect(isUncommitted(fileIn(checkout, 'new.yaml'))).toBe(true);
    expect(isUncommitted(fileIn(checkout, 'new/new.yaml'))).toBe(true);
  });
});

test.each<[string, boolean, (checkout: string) => void]>([
  ['that was touched', false, (checkout) => utimesSync(fileIn(checkout), new Date(), new Date(0))],
  [
    'that was restored',
    false,
    (checkout) => {
      edit(checkout);
      git(checkout, 'add', '.');
      git(checkout, 'restore', '--staged', '--worktree', '.');
    },
  ],
  [
    'whose edit was put away and taken back by hand',
    false,
    (checkout) => {
      const before = readFileSync(fileIn(checkout));
      edit(checkout);
      git(checkout, 'stash');
      git(checkout, 'stash', 'pop');
      writeFileSync(fileIn(checkout), before);
      git(checkout, 'add', '.');
    },
  ],
  [
    'whose edit was put away and comes back',
    true,
    (checkout) => {
      edit(checkout);
      git(checkout, 'stash');
      git(checkout, 'stash', 'pop');
    },
  ],
  [
    'with the line ends of Windows',
    false,
    (checkout) => {
      writeFileSync(path.join(checkout, '.gitattributes'), '*.yaml text eol=crlf\n');
      git(checkout, 'add', '.');
      git(checkout, 'commit', '--quiet', '-m', 'two');
      rmSync(fileIn(checkout));
      git(checkout, 'checkout', '--', 'templates/web.yaml');
      expect(readFileSync(fileIn(checkout), 'utf8')).toContain('\r\n');
    },
  ],
  [
    'of a merge that is not committed',
    true,
    (checkout) => {
      git(checkout, 'switch', '--quiet', '-c', 'side');
      edit(checkout);
      git(checkout, 'commit', '--quiet', '-am', 'side');
      git(checkout, 'switch', '--quiet', 'main');
      git(checkout, 'commit', '--quiet', '--allow-empty', '-m', 'two');
      git(checkout, 'merge', '--quiet', '--no-commit', 'side');
    },
  ],
  [
    'whose commit was taken back softly',
    true,
    (checkout) => {
      edit(checkout);
      git(checkout, 'commit', '--quiet', '-am', 'two');
      git(checkout, 'reset', '--quiet', '--soft', 'HEAD~1');
    },
  ],
  [
    'that git stores in another form',
    false,
    (checkout) => {
      const content = readFileSync(fileIn(checkout));
      writeFileSync(
        fileIn(checkout),
        `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\n`,
      );
      git(checkout, 'commit', '--quiet', '-am', 'two');
      writeFileSync(fileIn(checkout), content);
    },
  ],
])('a file %s: uncommitted is %s', (_, expected, change) => {
  const checkout = newCheckout();
  change(checkout);
  expect(isUncommitted(fileIn(checkout))).toBe(expected);
});

test('outside of a checkout, and before the first commit, nothing is reported', () => {
  const folder = newFolder();
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(fileIn(folder), '');
  expect(isUncommitted(fileIn(folder))).toBe(false);
  git(folder, 'init', '--quiet');
  expect(isUncommitted(fileIn(folder))).toBe(false);
});
