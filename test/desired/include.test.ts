import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { directoryWith, loadFiles, options, write } from './load-files.ts';

const contentsIn = ({ templates }: Pick<DesiredState, 'templates'>): string[] =>
  templates.flatMap(({ records }) => records.map(({ content }) => content));

const text = (content: string, name = 'n'): string =>
  `  - {type: TXT, name: ${name}, content: "${content}"}\n`;

/** A loader of directories. */
const loaderOf = (...paths: string[]): (() => Promise<DesiredState>) => {
  const loader = createTemplateLoader();
  return () => loader.load({ ...options, paths });
};

describe('fragments', () => {
  test('give their records, TTL and ignore rules, each with its own position', async () => {
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

  test.for(['include', '"\\x69nclude"', '"\\u0069nclude"', '? "inc\\\n  lude"\n'])(
    'are found by the key spelled %s',
    async (key) => {
      const web = `template: web\n${key}: [_a.yaml]\nrecords:\n${text('one')}`;
      const state = await loadFiles({ 'web.yaml': web, '_a.yaml': `records:\n${text('two')}` });
      expect(contentsIn(state)).toEqual(['two', 'one']);
    },
  );

  test('are included once, for any number of paths to them', async () => {
    const state = await loadFiles({
      'a.yaml': 'template: a\ninclude: [_one.yaml, _two.yaml, _one.yaml]\n',
      '_one.yaml': 'include: [_shared.yaml]\n',
      '_two.yaml': 'include: [./_shared.yaml]\n',
      '_shared.yaml': `include: [_one.yaml]\nrecords:\n${text('x')}`,
    });
    expect([state.lines, contentsIn(state)]).toEqual([[], ['x']]);
  });

  test('with an error invalidate every template that includes them, and no other', async () => {
    const state = await loadFiles({
      'a.yaml': 'template: a\ninclude: [_f.yaml]\n',
      'b.yaml': 'template: b\ninclude: [_f.yaml]\n',
      'c.yaml': 'template: c\nrecords: []\n',
      '_f.yaml': 'records:\n  - {type: A, contnet: x, content: 1.2.3}\n',
    });
    expect(state.found).toEqual(['_f.yaml:2:15 error unknown-key', '_f.yaml:2:36 error bad-ipv4']);
    expect(state.templates.map(({ template }) => template)).toEqual(['c']);
    expect(state.unusable.map(({ template, message }) => [template, message])).toEqual([
      ['a', '2 errors in templates/a.yaml and templates/_f.yaml'],
      ['b', '2 errors in templates/b.yaml and templates/_f.yaml'],
    ]);
  });

  test('are checked for structure also when nothing includes them', async () => {
    const files = { '_f.yaml': 'template: a\nrecord: []\n', '_g.yaml': 'records: [\n' };
    const state = await loadFiles(files, { allowEmpty: true });
    expect(state.found).toEqual([
      '_f.yaml:1:1 _f.yaml:2:1 error unknown-key',
      '_g.yaml:2:1 error yaml-syntax',
    ]);
    expect(state.files).toBe(0);
  });

  test('outside the templates directory are refused, also through links', async () => {
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
});

describe('a fragment in another of the given directories', () => {
  const files = {
    'common/mail/_mail.yaml': `include: [../_spf.yaml]\nrecords:\n${text('x')}`,
    'common/_spf.yaml': `records:\n${text('y')}`,
    'acme/web/a.yaml': 'template: a\ninclude: [../../common/mail/_mail.yaml]\n',
  };

  test('is included by its path, from a directory or a file', async () => {
    const cwd = await directoryWith(files);
    for (const own of ['acme', 'acme/web/a.yaml']) {
      const paths = [own, 'common'];
      const { problems, templates } = await createTemplateLoader().load({ ...options, paths, cwd });
      expect(problems).toEqual([]);
      expect(contentsIn({ templates })).toEqual(['x', 'y']);
      expect(templates[0]?.fragments).toEqual(['common/mail/_mail.yaml', 'common/_spf.yaml']);
    }
  });

  test('may be a link', async () => {
    const directory = await directoryWith({
      ...files,
      'acme/b.yaml': 'template: b\ninclude: [_link.yaml]\n',
      'acme/_link.yaml': { link: '../common/_spf.yaml' },
    });
    const { templates } = await loaderOf(join(directory, 'acme'), join(directory, 'common'))();
    expect(templates.find(({ template }) => template === 'b')?.records).toHaveLength(1);
  });

  test('is found where a link leads, and changes with it', async () => {
    const directory = await directoryWith(
      Object.fromEntries(Object.entries(files).map(([name, content]) => [`one/${name}`, content])),
    );
    await symlink('one/acme', join(directory, 'acme'));
    await symlink('one/common', join(directory, 'common'));
    const load = loaderOf(join(directory, 'acme'), join(directory, 'common'));
    expect(contentsIn(await load())).toEqual(['x', 'y']);
    await write(directory, { 'one/common/_spf.yaml': `records:\n${text('z')}` });
    expect(contentsIn(await load())).toEqual(['x', 'z']);
  });

  test('is refused if the directory is not given', async () => {
    const { problems } = await loaderOf(join(await directoryWith(files), 'acme'))();
    expect(problems.map(({ check }) => check)).toEqual(['include']);
  });
});

describe('variables', () => {
  test.for<
    [what: string, own: string, fragment: string, override: Record<string, string>, expected: string[]]
  >([
    ['the settings, if no file defines them', '', '', {}, ['f default', 'own default']],
    ['a fragment, for the template too', '', 'vars: {x: f}\n', {}, ['f f', 'own f']],
    ['the file', 'vars: {x: own}\n', 'vars: {x: f}\n', {}, ['f own', 'own own']],
    ['the command line', 'vars: {x: own}\n', 'vars: {x: f}\n', { x: 'call' }, ['f call', 'own call']],
  ])('are those of %s', async ([, own, fragment, override, expected]) => {
    const files = {
      'a.yaml': `template: a\n${own}include: [_f.yaml]\nrecords:\n${text('own ${x}', 'own')}`,
      '_f.yaml': `${fragment}records:\n${text('f ${x}')}`,
    };
    const state = await loadFiles(files, { variables: { override, defaults: { x: 'default' } } });
    expect([state.lines, contentsIn(state)]).toEqual([[], expected]);
  });

  test('of a fragment come before those of other fragments', async () => {
    const state = await loadFiles({
      'a.yaml': `template: a\ninclude: [_f.yaml, _g.yaml]\nrecords:\n${text('${x}')}`,
      '_f.yaml': `vars: {x: f}\nrecords:\n${text('${x}', 'f')}`,
      '_g.yaml': `vars: {x: g}\nrecords:\n${text('${x}', 'g')}`,
    });
    expect(contentsIn(state)).toEqual(['f', 'g', 'f']);
  });

  test('work in every value of a record, and keep their spelling', async () => {
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
    expect(state.templates).toMatchObject([
      {
        template: 'test-web',
        subdomains: ['shop.example.net'],
        ignore: [{ name: '1.10-*' }],
        records: [{ name: '1.10', content: 'mx.example.net', priority: 10, ttl: 300 }],
      },
    ]);
  });

  test('that are undefined in a fragment are reported with the including template', async () => {
    const state = await loadFiles({
      'a.yaml': 'template: a\ninclude: [_f.yaml]\n',
      'b.yaml': 'template: b\nvars: {x: y}\ninclude: [_f.yaml]\n',
      '_f.yaml': `records:\n${text('${x}')}`,
    });
    expect(state.lines).toEqual([
      expect.stringMatching(/_f\.yaml:2:35: .* \(included by templates\/a\.yaml:2:11\)/),
    ]);
    expect(state.templates.map(({ template }) => template)).toEqual(['b']);
  });
});

test('a change of a fragment reaches the templates that include it', async () => {
  const directory = await directoryWith({
    'a.yaml': 'template: a\ninclude: [_f.yaml]\n',
    '_f.yaml': `records:\n${text('before')}`,
  });
  const load = loaderOf(directory);
  expect(contentsIn(await load())).toEqual(['before']);
  await write(directory, { '_f.yaml': `records:\n${text('after')}` });
  expect(contentsIn(await load())).toEqual(['after']);
});

test('a missing fragment is reported again for another reason', async () => {
  const directory = await directoryWith({ 'a.yaml': 'template: a\ninclude: [_f.yaml]\n' });
  const load = loaderOf(directory);
  const reason = async (): Promise<string | undefined> => (await load()).problems[0]?.message;
  expect(await reason()).toBe('cannot include `_f.yaml`: it does not exist');
  await mkdir(join(directory, '_f.yaml'));
  expect(await reason()).toBe('cannot include `_f.yaml`: it is not a regular file');
});
