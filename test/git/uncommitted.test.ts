import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createUncommitted } from '../../src/git/uncommitted.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

const fileIn = (checkout: string, name = 'web.yaml'): string => path.join(checkout, 'templates', name);

const edit = (checkout: string): void => appendFileSync(fileIn(checkout), '# edited\n');

describe.each([2, 3, 4])('an index of version %i', (version) => {
  const checkoutWith = (): string => {
    const checkout = newCheckout();
    mkdirSync(path.join(checkout, 'templates/more'));
    for (const name of ['more/a.yaml', 'other.yaml', 'zone.yaml'])
      writeFileSync(fileIn(checkout, name), `# ${name}\n`);
    git(checkout, 'add', '.');
    git(checkout, 'commit', '--quiet', '-m', 'two');
    git(checkout, 'update-index', '--index-version', String(version));
    return checkout;
  };

  test('reports no committed file', () => {
    const checkout = checkoutWith();
    const isUncommitted = createUncommitted();
    for (const name of ['web.yaml', 'more/a.yaml', 'other.yaml', 'zone.yaml'])
      expect([name, isUncommitted(fileIn(checkout, name))]).toEqual([name, false]);
  });

  test('reports an edit until it is committed', () => {
    const checkout = checkoutWith();
    const isUncommitted = createUncommitted();
    edit(checkout);
    expect([isUncommitted(fileIn(checkout)), isUncommitted(fileIn(checkout, 'zone.yaml'))]).toEqual([
      true,
      false,
    ]);
    git(checkout, 'commit', '--quiet', '-a', '-m', 'three');
    expect(isUncommitted(fileIn(checkout))).toBe(false);
  });

  test('reports an added edit, and not the files beside it', () => {
    const checkout = checkoutWith();
    const isUncommitted = createUncommitted();
    edit(checkout);
    const later = new Date(Date.now() + 2_000);
    utimesSync(fileIn(checkout), later, later);
    git(checkout, 'add', '.');
    expect([isUncommitted(fileIn(checkout)), isUncommitted(fileIn(checkout, 'zone.yaml'))]).toEqual([
      true,
      false,
    ]);
  });

  test('reports a file that was never added', () => {
    const checkout = checkoutWith();
    writeFileSync(fileIn(checkout, 'new.yaml'), '');
    expect(createUncommitted()(fileIn(checkout, 'new.yaml'))).toBe(true);
  });
});

test('a touched file without changes counts as committed', () => {
  const checkout = newCheckout();
  utimesSync(fileIn(checkout), new Date(), new Date(0));
  expect(createUncommitted()(fileIn(checkout))).toBe(false);
});

test.each<[string, (checkout: string) => void]>([
  ['no index', () => undefined],
  ['something else', (folder) => writeFileSync(path.join(folder, '.git/index'), 'x'.repeat(100))],
  [
    'half an index',
    (folder) =>
      writeFileSync(path.join(folder, '.git/index'), `DIRC\0\0\0\u0002\0\0\0\u0009${'\0'.repeat(40)}`),
  ],
])('with %s nothing is reported', (_, prepare) => {
  const folder = newFolder();
  mkdirSync(path.join(folder, '.git'));
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(fileIn(folder), '');
  prepare(folder);
  expect(createUncommitted()(fileIn(folder))).toBe(false);
});
