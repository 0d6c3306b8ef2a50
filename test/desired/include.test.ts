import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { rowsOf } from '../rows.ts';
import { directoryWith, loadFiles, options, write } from './load-files.ts';

const contentsIn = ({ templates }: Pick<DesiredState, 'templates'>): string[] =>
  templates.flatMap(({ records }) => records.map(({ content }) => content));

const text = (content: string): string => `  - {type: TXT, name: n, content: "${content}"}\n`;

/** Loads the same directories again and again. */
const loaderOf = (...paths: string[]): (() => Promise<DesiredState>) => {
  const loader = createTemplateLoader();
  return () => loader.load({ ...options, paths });
};

/**
 * What is said, files, a variable of the command line, and the contents of the records. `<x>` is a record with the content
 * `x`, `$x` in it a variable, which is `default` in the settings.
 */
const files = rowsOf(String.raw`
  a fragment is included once, for any number of paths to it | a.yaml template: a, include: [_1.yaml, _2.yaml, _1.yaml] | _1.yaml include: [_f.yaml] | _2.yaml include: [./_f.yaml] | _f.yaml include: [_1.yaml], records: [<x>] | x
  it is found by a key with an escape | a.yaml template: a, "\x69nclude": [_f.yaml], records: [<one>] | _f.yaml records: [<two>] | two one
  it is found by a key with another escape | a.yaml template: a, "\u0069nclude": [_f.yaml], records: [<one>] | _f.yaml records: [<two>] | two one
  it is found by a key in two lines | a.yaml template: a, ? "inc\<end>lude" : [_f.yaml], records: [<one>] | _f.yaml records: [<two>] | two one
  a variable is that of the settings, if no file defines it | a.yaml template: a, include: [_f.yaml], records: [<own-$x>] | _f.yaml records: [<f-$x>] | f-default own-default
  … that of a fragment, for the template too | a.yaml template: a, include: [_f.yaml], records: [<own-$x>] | _f.yaml vars: {x: f}, records: [<f-$x>] | f-f own-f
  … that of the file | a.yaml template: a, vars: {x: own}, include: [_f.yaml], records: [<own-$x>] | _f.yaml vars: {x: f}, records: [<f-$x>] | f-own own-own
  … that of the command line | x=call | a.yaml template: a, vars: {x: own}, include: [_f.yaml], records: [<own-$x>] | _f.yaml vars: {x: f}, records: [<f-$x>] | f-call own-call
  … in a fragment its own, before those of other fragments | a.yaml template: a, include: [_f.yaml, _g.yaml], records: [<$x>] | _f.yaml vars: {x: f}, records: [<f-$x>] | _g.yaml vars: {x: g}, records: [<g-$x>] | f-f g-g f`);

test.each(files)('%s', async (_, ...cells) => {
  const given = cells.slice(0, -1).map((cell): [string, string] => {
    const whole = cell.replaceAll('<end>', '\n ').replaceAll('$x', () => '${x}');
    const [name = '', content] = whole.split(/ (.*)/s);
    return [name, `{${content?.replaceAll(/<(.*?)>/g, '{type: TXT, name: n, content: "$1"}')}}`];
  });
  const override = Object.fromEntries(
    given.flatMap(([name]) => (name.includes('=') ? [name.split('=')] : [])),
  );
  const yaml = Object.fromEntries(given.filter(([name]) => !name.includes('=')));
  const state = await loadFiles(yaml, { variables: { override, defaults: { x: 'default' } } });
  expect([state.lines, contentsIn(state).join(' ')]).toEqual([[], cells.at(-1)]);
});

test('fragments give their records, TTL and ignore rules, each with its own position', async () => {
  const state = await loadFiles({
    'web/a.yaml': 'template: a\nttl: 1h\ninclude: [../_mail.yaml]\n',
    '_mail.yaml': `include: [deep/_more.yaml]\nrecords:\n${text('x')}`,
    'deep/_more.yaml': `ignore: [{name: z}]\nrecords:\n${text('y')}`,
  });
  expect(state.lines).toEqual([]);
  const [template] = state.templates;
  expect(template?.ignore).toEqual([{ type: null, name: 'z', content: null }]);
  expect(
    template?.records.map(({ content, ttl, source }) => [content, ttl, source.file, source.line]),
  ).toEqual([
    ['x', 3_600, 'templates/_mail.yaml', 3],
    ['y', 3_600, 'templates/deep/_more.yaml', 3],
  ]);
});

test('an error in a fragment holds the templates that include it, and no other', async () => {
  const state = await loadFiles({
    'a.yaml': 'template: a\ninclude: [_f.yaml, _g.yaml]\n',
    'b.yaml': 'template: b\nvars: {x: y}\ninclude: [_g.yaml]\n',
    'c.yaml': 'template: c\ninclude: [_f.yaml]\n',
    '_f.yaml': 'records:\n  - {type: A, contnet: x, content: 1.2.3}\n',
    '_g.yaml': `records:\n${text('${x}')}`,
  });
  expect(state.lines).toContainEqual(
    expect.stringMatching(/_g\.yaml:2:35: .* \(included by templates\/a\.yaml:2:20\)/),
  );
  expect(state.templates.map(({ template }) => template)).toEqual(['b']);
  expect(state.unusable.map(({ template, message }) => [template, message])).toEqual([
    ['a', '3 errors in templates/a.yaml and templates/_f.yaml and templates/_g.yaml'],
    ['c', '2 errors in templates/c.yaml and templates/_f.yaml'],
  ]);
});

test('a fragment that nothing includes is checked for its structure', async () => {
  const fragments = { '_f.yaml': 'template: a\nrecord: []\n', '_g.yaml': 'records: [\n' };
  const { found, files: count } = await loadFiles(fragments, { allowEmpty: true });
  const wrong = ['_f.yaml:1:1 _f.yaml:2:1 error unknown-key', '_g.yaml:2:1 error yaml-syntax'];
  expect([found, count]).toEqual([wrong, 0]);
});

test('variables work in every value of a record, and keep their spelling', async () => {
  const state = await loadFiles({
    'a.yaml': `template: "\${env}-web"
vars: {env: test, ttl: 5m, prio: 010, name: 1.10, target: "mx.\${domain}", domain: example.net}
ttl: "\${ttl}"
subdomains: ["shop.\${domain}"]
ignore: [{name: "\${name}-*"}]
records:
  - {type: MX, name: "\${name}", content: "\${target}", priority: "\${prio}"}
`,
  });
  expect(state.lines).toEqual([]);
  const records = [{ name: '1.10', content: 'mx.example.net', priority: 10, ttl: 300 }];
  const [subdomains, ignore] = [['shop.example.net'], [{ name: '1.10-*' }]];
  expect(state.templates).toMatchObject([{ template: 'test-web', subdomains, ignore, records }]);
});

test('a fragment outside of the given directories is refused, also through links', async () => {
  const directory = await directoryWith({
    'outside/_f.yaml': 'records: []\n',
    'templates/a.yaml': 'template: a\ninclude: [../outside/_f.yaml, _link.yaml, linked/_f.yaml]\n',
    'templates/_link.yaml': { link: '../outside/_f.yaml' },
    'templates/linked': { link: '../outside' },
  });
  const { problems } = await loaderOf(join(directory, 'templates'))();
  const included = problems.filter(({ check }) => check === 'include');
  expect(included.map(({ column }) => column)).toEqual([11, 31, 43]);
});

describe('a fragment in another of the given directories', () => {
  const shared = {
    'common/mail/_mail.yaml': `include: [../_spf.yaml]\nrecords:\n${text('x')}`,
    'common/_spf.yaml': `records:\n${text('y')}`,
    'acme/web/a.yaml': 'template: a\ninclude: [../../common/mail/_mail.yaml]\n',
  };

  test('is included by its path, from a directory or a file; refused if the directory is not given', async () => {
    const cwd = await directoryWith(shared);
    for (const own of ['acme', 'acme/web/a.yaml']) {
      const paths = [own, 'common'];
      const { problems, templates } = await createTemplateLoader().load({ ...options, paths, cwd });
      expect(problems).toEqual([]);
      expect(contentsIn({ templates })).toEqual(['x', 'y']);
      expect(templates[0]?.fragments).toEqual(['common/mail/_mail.yaml', 'common/_spf.yaml']);
    }
    const { problems } = await loaderOf(join(cwd, 'acme'))();
    expect(problems.map(({ check }) => check)).toEqual(['include']);
  });

  test('is found where links lead, and changes with it', async () => {
    const directory = await directoryWith({
      ...Object.fromEntries(Object.entries(shared).map(([name, content]) => [`one/${name}`, content])),
      'one/acme/b.yaml': 'template: b\ninclude: [_link.yaml]\n',
      'one/acme/_link.yaml': { link: '../common/_spf.yaml' },
    });
    for (const name of ['acme', 'common']) await symlink(`one/${name}`, join(directory, name));
    const load = loaderOf(join(directory, 'acme'), join(directory, 'common'));
    expect(contentsIn(await load())).toEqual(['y', 'x', 'y']);
    await write(directory, { 'one/common/_spf.yaml': `records:\n${text('z')}` });
    expect(contentsIn(await load())).toEqual(['z', 'x', 'z']);
  });
});

test('a change of a fragment reaches the templates that include it, and a missing one its reasons', async () => {
  const directory = await directoryWith({
    'a.yaml': 'template: a\ninclude: [_f.yaml, _g.yaml]\n',
    'b.yaml': 'template: b\ninclude: [_f.yaml]\n',
    '_f.yaml': `records:\n${text('before')}`,
  });
  const load = loaderOf(directory);
  const found = async (): Promise<string[]> => {
    const state = await load();
    return [...contentsIn(state), ...state.problems.map(({ message }) => message)];
  };
  expect(await found()).toEqual(['before', 'cannot include `_g.yaml`: it does not exist']);
  await write(directory, { '_f.yaml': `records:\n${text('after')}` });
  await mkdir(join(directory, '_g.yaml'));
  expect(await found()).toEqual(['after', 'cannot include `_g.yaml`: it is not a regular file']);
});
