import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import { directoryWith, loadFiles, options, write } from './load-files.ts';

const contentsOf = async (
  files: Record<string, string>,
  settings: Parameters<typeof loadFiles>[1] = {},
): Promise<string[]> => {
  const state = await loadFiles(files, settings);
  expect(state.lines).toEqual([]);
  return state.templates.flatMap(({ records }) => records.map(({ content }) => content));
};

const text = (content: string, name = 'n'): string =>
  `  - {type: TXT, name: ${name}, content: "${content}"}\n`;

describe('fragments', () => {
  test('give their records and ignore rules, each with its own position', async () => {
    const state = await loadFiles({
      'web/a.yaml': 'template: a\ninclude: [../_mail.yaml]\n',
      '_mail.yaml': `include: [deep/_more.yaml]\nrecords:\n${text('x')}`,
      'deep/_more.yaml': `ignore: [{name: z}]\nrecords:\n${text('y')}`,
    });
    expect(state.lines).toEqual([]);
    const [template] = state.templates;
    expect(template?.ignore).toEqual([{ type: null, name: 'z', content: null }]);
    expect(template?.records.map(({ content, source }) => [content, source.file, source.line])).toEqual([
      ['x', 'templates/_mail.yaml', 3],
      ['y', 'templates/deep/_more.yaml', 3],
    ]);
  });

  test('are found for any spelling of the key', async () => {
    for (const key of ['include', '"\\x69nclude"', '"\\u0069nclude"', '? "inc\\\n  lude"\n']) {
      const web = `template: web\n${key}: [_a.yaml]\nrecords:\n${text('one')}`;
      const contents = await contentsOf({ 'web.yaml': web, '_a.yaml': `records:\n${text('two')}` });
      expect(contents.sort()).toEqual(['one', 'two']);
    }
  });

  test('take the TTL of the template', async () => {
    const state = await loadFiles({
      'a.yaml': 'template: a\nttl: 1h\ninclude: [_f.yaml]\n',
      '_f.yaml': `records:\n${text('x')}`,
    });
    expect(state.templates[0]?.records[0]?.ttl).toBe(3_600);
  });

  test('are included once, for any number of paths to them', async () => {
    const contents = await contentsOf({
      'a.yaml': 'template: a\ninclude: [_one.yaml, _two.yaml, _one.yaml]\n',
      '_one.yaml': 'include: [_shared.yaml]\n',
      '_two.yaml': 'include: [./_shared.yaml]\n',
      '_shared.yaml': `include: [_one.yaml]\nrecords:\n${text('x')}`,
    });
    expect(contents).toEqual(['x']);
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
      ['b', '2 errors in templates/a.yaml and templates/_f.yaml'.replace('a.yaml', 'b.yaml')],
    ]);
  });

  test('are checked for structure also when nothing includes them', async () => {
    const state = await loadFiles(
      { '_f.yaml': 'template: a\nrecord: []\n', '_g.yaml': 'records: [\n' },
      { allowEmpty: true },
    );
    expect(state.found).toEqual([
      '_f.yaml:1:1 _f.yaml:2:1 error unknown-key',
      '_g.yaml:2:1 error yaml-syntax',
    ]);
    expect(state.files).toBe(0);
  });

  test('are found from a file that is given alone', async () => {
    const directory = await directoryWith({
      'a.yaml': 'template: a\ninclude: [parts/_f.yaml]\n',
      'parts/_f.yaml': `records:\n${text('x')}`,
      'b.yaml': 'template: b\nrecords: []\n',
    });
    const state = await createTemplateLoader().load({ ...options, paths: [join(directory, 'a.yaml')] });
    expect(state.templates.map(({ records }) => records.length)).toEqual([1]);
  });

  test('outside the templates directory are refused, also through links', async () => {
    const directory = await directoryWith({
      'outside/_f.yaml': 'records: []\n',
      'templates/a.yaml': 'template: a\ninclude: [../outside/_f.yaml, _link.yaml, linked/_f.yaml]\n',
    });
    await symlink('../outside/_f.yaml', join(directory, 'templates/_link.yaml'));
    await symlink('../outside', join(directory, 'templates/linked'));
    const state = await createTemplateLoader().load({ ...options, paths: [join(directory, 'templates')] });
    const included = state.problems.filter(({ check }) => check === 'include');
    expect(included.map(({ line, column }) => [line, column])).toEqual([
      [2, 11],
      [2, 31],
      [2, 43],
    ]);
  });
});

test('a fragment may be a link to another of the given paths', async () => {
  const directory = await directoryWith({
    'fragments/_f.yaml': `records:\n${text('x')}`,
    'templates/a.yaml': 'template: a\ninclude: [_f.yaml]\n',
  });
  await symlink('../fragments/_f.yaml', join(directory, 'templates/_f.yaml'));
  const paths = [join(directory, 'templates'), join(directory, 'fragments')];
  const state = await createTemplateLoader().load({ ...options, paths });
  expect(state.problems).toEqual([]);
  expect(state.templates.map(({ records }) => records.length)).toEqual([1]);
});

describe('a fragment in another of the given directories', () => {
  const files = {
    'common/mail/_mail.yaml': `include: [../_spf.yaml]\nrecords:\n${text('x')}`,
    'common/_spf.yaml': `records:\n${text('y')}`,
    'acme/web/a.yaml': 'template: a\ninclude: [../../common/mail/_mail.yaml]\n',
  };

  test('is included by its path', async () => {
    const directory = await directoryWith(files);
    const paths = ['acme', 'common'].map((name) => join(directory, name));
    const { problems, templates } = await createTemplateLoader().load({ ...options, paths });
    expect(problems).toEqual([]);
    expect(templates.map(({ records }) => records.map(({ content }) => content))).toEqual([['x', 'y']]);
    const relative = await createTemplateLoader().load({
      ...options,
      paths: ['acme', 'common'],
      cwd: directory,
    });
    expect(relative.templates.map(({ fragments }) => fragments)).toEqual([
      ['common/mail/_mail.yaml', 'common/_spf.yaml'],
    ]);
  });

  test('is found where a link leads, and changes with it', async () => {
    const directory = await directoryWith(
      Object.fromEntries(Object.entries(files).map(([name, content]) => [`one/${name}`, content])),
    );
    await symlink('one/acme', join(directory, 'acme'));
    await symlink('one/common', join(directory, 'common'));
    const paths = ['acme', 'common'].map((name) => join(directory, name));
    const loader = createTemplateLoader();
    const load = async (): Promise<string | undefined> =>
      (await loader.load({ ...options, paths })).templates[0]?.records[1]?.content;
    expect(await load()).toBe('y');
    await write(directory, { 'one/common/_spf.yaml': `records:\n${text('z')}` });
    expect(await load()).toBe('z');
  });

  test('is refused if the directory is not given', async () => {
    const directory = await directoryWith(files);
    const state = await createTemplateLoader().load({ ...options, paths: [join(directory, 'acme')] });
    expect(state.problems.map(({ check, message }) => [check, message])).toEqual([
      [
        'include',
        'cannot include `../../common/mail/_mail.yaml`: it is outside of the directories given as templates',
      ],
    ]);
  });
});

describe('variables', () => {
  const files = (template: string, fragment: string): Record<string, string> => ({
    'a.yaml': `template: a\n${template}include: [_f.yaml]\nrecords:\n${text('own ${x}', 'own')}`,
    '_f.yaml': `${fragment}records:\n${text('fragment ${x}', 'f')}`,
  });
  const settings = { variables: { override: {}, defaults: { x: 'default' } } };

  test('of the settings apply if no file defines them', async () => {
    expect(await contentsOf(files('', ''), settings)).toEqual(['fragment default', 'own default']);
  });

  test('of a fragment override the defaults, for the template too', async () => {
    expect(await contentsOf(files('', 'vars: {x: f}\n'), settings)).toEqual(['fragment f', 'own f']);
  });

  test('of the file override the fragment', async () => {
    const contents = await contentsOf(files('vars: {x: own}\n', 'vars: {x: f}\n'), settings);
    expect(contents).toEqual(['fragment own', 'own own']);
  });

  test('of the command line override everything', async () => {
    const variables = { override: { x: 'call' }, defaults: { x: 'default' } };
    const contents = await contentsOf(files('vars: {x: own}\n', 'vars: {x: f}\n'), { variables });
    expect(contents).toEqual(['fragment call', 'own call']);
  });

  test('of a fragment come before those of other fragments', async () => {
    const contents = await contentsOf({
      'a.yaml': `template: a\ninclude: [_f.yaml, _g.yaml]\nrecords:\n${text('${x}')}`,
      '_f.yaml': `vars: {x: f}\nrecords:\n${text('${x}', 'f')}`,
      '_g.yaml': `vars: {x: g}\nrecords:\n${text('${x}', 'g')}`,
    });
    expect(contents).toEqual(['f', 'g', 'f']);
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
    expect(state.found).toEqual(['_f.yaml:2:35 error undefined-variable']);
    expect(state.templates.map(({ template }) => template)).toEqual(['b']);
  });
});

test('a change of a fragment reaches the templates that include it', async () => {
  const directory = await directoryWith({
    'a.yaml': 'template: a\ninclude: [_f.yaml]\n',
    '_f.yaml': `records:\n${text('before')}`,
  });
  const loader = createTemplateLoader();
  const load = async (): Promise<string | undefined> => {
    const state = await loader.load({ ...options, paths: [directory] });
    return state.templates[0]?.records[0]?.content;
  };
  expect(await load()).toBe('before');
  await write(directory, { '_f.yaml': `records:\n${text('after')}` });
  expect(await load()).toBe('after');
});

test('a missing fragment is reported again for another reason', async () => {
  const directory = await directoryWith({ 'a.yaml': 'template: a\ninclude: [_f.yaml]\n' });
  const loader = createTemplateLoader();
  const load = async (): Promise<string | undefined> => {
    const state = await loader.load({ ...options, paths: [directory] });
    return state.problems[0]?.message;
  };
  expect(await load()).toBe('cannot include `_f.yaml`: it does not exist');
  await mkdir(join(directory, '_f.yaml'));
  expect(await load()).toBe('cannot include `_f.yaml`: it is not a regular file');
});
