import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { directoryWith, options } from '../desired/load-files.ts';

const template = (name: string): string => `template: ${name}\nrecords: []\n`;

const load = (...paths: string[]): Promise<DesiredState> =>
  createTemplateLoader().load({ ...options, paths });

const namesIn = ({ templates }: DesiredState): string[] => templates.map((one) => one.template);

/** What was found wrong, by the last parts of its path. */
const checksIn = ({ problems }: DesiredState, directory: string): (string | undefined)[] =>
  problems.map(({ check, file }) => `${file?.replace(`${directory}/`, '')} ${check}`);

/** Files and links, the paths that are given, and what comes of it: the names of templates, and what is wrong. */
test.each([
  [
    'a link out of the given directories is refused',
    'secret.yaml, templates/a.yaml, templates/b.yaml -> ../secret.yaml',
    'templates',
    'a, templates/b.yaml outside',
  ],
  [
    'so is one to a file of the kernel that never ends',
    'a.yaml, k.yaml -> /proc/kallsyms, z.yaml -> /dev/zero',
    '.',
    'a, k.yaml outside, z.yaml outside',
  ],
  [
    'so is one to a directory, also to the root of the file system',
    'other/x.yaml, t/a.yaml, t/all -> /, t/other -> ../other, t/up -> ..',
    't',
    'a, t/all outside, t/other outside, t/up outside',
  ],
  [
    'so is one to a sibling directory with the same name prefix',
    't/a.yaml, t-old/b.yaml, t/b.yaml -> ../t-old/b.yaml',
    't',
    'a, t/b.yaml outside',
  ],
  [
    'so is one through another link inside',
    'secret.yaml, t/deep/a.yaml, t/deep/.way -> ../../secret.yaml, t/b.yaml -> deep/.way',
    't',
    'a, t/b.yaml outside',
  ],
  [
    'one without the name of a template is ignored',
    'README.md, t/a.yaml, t/README.md -> ../README.md',
    't',
    'a',
  ],
  [
    'a link inside is followed, and one to another of the given paths',
    'one/deep/a.yaml, two/b.yaml, three/c.yaml, one/z.yaml -> deep/a.yaml, one/two -> ../two, one/c.yaml -> ../three/c.yaml',
    'one two three/c.yaml',
    'a, b, c',
  ],
  [
    'so is a given path that is a link itself: the tree of git-sync, and a file',
    'git/tree/zones/a.yaml, store/b.yaml, git/current -> tree, b.yaml -> store/b.yaml, with/link -> ../git/current/zones',
    'with/link b.yaml',
    'a, b',
  ],
  [
    'so are those of a ConfigMap, through ..data',
    'root/..2026_11/a.yaml, root/..data -> ..2026_11, root/a.yaml -> ..data/a.yaml',
    'root',
    'a',
  ],
  [
    'also if one file of it is given',
    'root/..2026_11/a.yaml, root/..data -> ..2026_11, root/a.yaml -> ..data/a.yaml',
    'root/a.yaml',
    'a',
  ],
])('%s', async (_, files, given, expected) => {
  const entries = files.split(', ').map((one) => {
    const [name = '', link] = one.split(' -> ');
    return [name, link === undefined ? template(basename(name, '.yaml')) : { link }] as const;
  });
  const directory = await directoryWith(Object.fromEntries(entries));
  const state = await load(...given.split(' ').map((name) => join(directory, name)));
  expect([...namesIn(state).toSorted(), ...checksIn(state, directory)].join(', ')).toBe(expected);
});

test('a file that is refused is not read, and holds the template of its name', async () => {
  const directory = await directoryWith({
    'secret.yaml': 'a secret that no message may quote\n',
    'templates/a.yaml': template('a'),
    'templates/b.yaml': { link: '../secret.yaml' },
  });
  const state = await load(join(directory, 'templates'));
  expect(state.unusable.map(({ file }) => file)).toEqual([join(directory, 'templates/b.yaml')]);
  expect(JSON.stringify(state)).not.toContain('a secret');
});

describe('a given path in a checkout of git', () => {
  const scene = async (): Promise<string> => {
    const directory = realpathSync(
      await directoryWith({
        'secrets/b.yaml': 'a secret that no message may quote\n',
        shadow: 'a secret that no message may quote\n',
        'checkout/.git/HEAD': 'ref: refs/heads/main\n',
        'checkout/zones/a.yaml': template('a'),
      }),
    );
    await symlink('../secrets', join(directory, 'checkout/templates'));
    await symlink('../shadow', join(directory, 'checkout/dns.yaml'));
    await symlink('zones', join(directory, 'checkout/inside'));
    await symlink('checkout', join(directory, 'current'));
    return directory;
  };

  test.each(['templates', 'dns.yaml', 'templates/b.yaml'])(
    'may not lead out of it by a link: %s',
    async (name) => {
      const directory = await scene();
      const state = await load(join(directory, 'checkout', name));
      expect(checksIn(state, directory)).toEqual([`checkout/${name} outside`]);
      expect(state.problems[0]?.message).toContain('its links lead out of the git checkout in which it lies');
      expect(JSON.stringify(state)).not.toContain('a secret');
    },
  );

  test('opens no way for links below another given path', async () => {
    const directory = await scene();
    await symlink('../../secrets/b.yaml', join(directory, 'checkout/zones/b.yaml'));
    const state = await load(join(directory, 'checkout/zones'), join(directory, 'checkout/templates'));
    expect(namesIn(state)).toEqual(['a']);
    expect(checksIn(state, directory)).toEqual([
      'checkout/templates outside',
      'checkout/zones/b.yaml outside',
    ]);
  });

  test.each(['checkout/inside', 'current/zones', 'current/inside'])(
    'may be a link inside of it, and be reached by one to the checkout: %s',
    async (name) => {
      const state = await load(join(await scene(), name));
      expect({ names: namesIn(state), problems: state.problems }).toEqual({ names: ['a'], problems: [] });
    },
  );
});

test('lost+found is no directory of templates, and a name in capitals is said', async () => {
  const directory = await directoryWith({
    'a.yaml': template('a'),
    'b.YAML': template('b'),
    'old.YML/c.yaml': template('c'),
    'lost+found/d.yaml': 'no template',
  });
  const state = await load(directory);
  expect(namesIn(state)).toEqual(['a', 'c']);
  expect(checksIn(state, directory)).toEqual(['b.YAML unreadable']);
  expect(state.problems[0]?.message).toContain('its name has to end in .yaml or .yml, in small letters');
});

test('a given path that is a pipe or a device is refused without a wait', async () => {
  const directory = await directoryWith({});
  execFileSync('mkfifo', [join(directory, 'pipe.yaml')]);
  const state = await load(join(directory, 'pipe.yaml'), '/dev/zero');
  expect(state.problems.map(({ check, message }) => `${check} ${message.split(': ')[1]}`)).toEqual([
    'unreadable it is not a regular file',
    'unreadable it is not a regular file',
  ]);
});

test('a given file of the kernel, which claims to be empty, is read up to the size limit', async () => {
  const state = await load(realpathSync('/proc/kallsyms'));
  expect(state.templates).toEqual([]);
  expect(state.problems.length).toBeGreaterThan(0);
});

test('too many directories end the scan with an error at the given path', async () => {
  const directory = await directoryWith({});
  for (let index = 0; index <= 10_000; index += 1) mkdirSync(join(directory, String(index)));
  expect((await load(directory)).problems).toMatchObject([
    { check: 'unreadable', file: directory, message: expect.stringContaining('more than 10000 directories') },
  ]);
});

test('directories are read to any depth', async () => {
  const directory = await directoryWith({ 'a.yaml': template('a') });
  const deepest = join(directory, 'd/'.repeat(300));
  await mkdir(deepest, { recursive: true });
  await writeFile(join(deepest, 'b.yaml'), template('b'));
  const state = await load(directory);
  expect([namesIn(state), state.problems]).toEqual([['a', 'b'], []]);
});

test('a link that replaces a file during the scan is not read', async () => {
  const directory = await directoryWith({
    'secret.yaml': 'a secret that no message may quote\n',
    'templates/a.yaml': template('a'),
  });
  const templates = join(directory, 'templates');
  const flip = `
    const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
    for (;;) {
      symlinkSync('../secret.yaml', '.link');
      renameSync('.link', 'a.yaml');
      writeFileSync('.file', 'records: []');
      renameSync('.file', 'a.yaml');
    }`;
  const flipper = spawn(process.execPath, ['-e', flip], { cwd: templates });
  onTestFinished(() => void flipper.kill('SIGKILL'));
  await vi.waitFor(async () => expect((await lstat(join(templates, 'a.yaml'))).isSymbolicLink()).toBe(true), {
    interval: 0,
    timeout: 60_000,
  });
  for (let loads = 0; loads < 15; loads += 1)
    expect(JSON.stringify(await load(templates))).not.toContain('a secret');
});
