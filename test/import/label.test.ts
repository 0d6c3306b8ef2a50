import { expect, test } from 'vitest';
import { labelsOf } from '../../src/import/label.ts';
import { templateOf } from './written.ts';

/** By id, from 1 on: the name and the id that a file gives, and how it is called. */
const labelsFor = (...names: string[]): (string | number | null)[][] =>
  [...labelsOf(names.map((name, index) => ({ ...templateOf(), id: index + 1, name }))).values()].map(
    ({ name, id, fileName }) => [name, id, fileName],
  );

test.for([
  ['standard-web', 'standard-web.yaml'],
  ['Standard Web 2', 'standard-web-2.yaml'],
  ['Bücher & Brötchen', 'bucher-brotchen.yaml'],
  ['v1.2', 'v1.2.yaml'],
  ['web.yaml', 'web.yaml.yaml'],
  ['../../etc/passwd', 'etc-passwd.yaml'],
  ['C:\\autoexec.bat', 'c-autoexec.bat.yaml'],
  ['.hidden', 'hidden.yaml'],
  ['_fragment', 'fragment.yaml'],
  ['日本', 'template-1.yaml'],
  ['..', 'template-1.yaml'],
  ['${x}', 'x.yaml'],
  ['x'.repeat(300), `${'x'.repeat(100)}.yaml`],
])('the template %s is in %s, by its name alone', ([name, fileName]) => {
  expect(labelsFor(name!)).toEqual([[name, null, fileName]]);
});

test.for(['', 'a\nb', 'a\ud800'])('a name that a file cannot have: %j', (name) => {
  expect(labelsFor(name)).toEqual([['template-1', 1, 'template-1.yaml']]);
});

test('templates of one name state their ids, also in their file names', () => {
  expect(labelsFor('web', 'mail', 'web')).toEqual([
    ['web', 1, 'web@1.yaml'],
    ['mail', null, 'mail.yaml'],
    ['web', 3, 'web@3.yaml'],
  ]);
});

test('no two files have the same name, also without case', () => {
  expect(labelsFor('Web', 'web', 'web-2', 'WEB!')).toEqual([
    ['Web', null, 'web@1.yaml'],
    ['web', null, 'web@2.yaml'],
    ['web-2', null, 'web-2.yaml'],
    ['WEB!', null, 'web@4.yaml'],
  ]);
});

test('an invented name is not the name of another template', () => {
  expect(labelsFor('', 'template-1')).toEqual([
    ['template-1', 1, 'template-1@1.yaml'],
    ['template-1', 2, 'template-1@2.yaml'],
  ]);
});
