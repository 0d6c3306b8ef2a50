import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

describe('a link that leads out of the directories given as templates', () => {
  test('is refused unread, and holds the template of its name', async () => {
    const directory = await directoryWith({
      'secret.yaml': 'a secret that no message may quote\n',
      'templates/a.yaml': template('a'),
    });
    await symlink('../secret.yaml', join(directory, 'templates/b.yaml'));
    const state = await load(join(directory, 'templates'));
    expect(namesIn(state)).toEqual(['a']);
    expect(checksIn(state, directory)).toEqual(['templates/b.yaml outside']);
    expect(state.unusable.map(({ file }) => file)).toEqual([join(directory, 'templates/b.yaml')]);
    expect(JSON.stringify(state)).not.toContain('a secret');
  });

  test('to a file of the kernel that never ends is refused', async () => {
    const directory = await directoryWith({ 'a.yaml': template('a') });
    await symlink('/proc/kallsyms', join(directory, 'k.yaml'));
    await symlink('/dev/zero', join(directory, 'z.yaml'));
    expect(checksIn(await load(directory), directory)).toEqual(['k.yaml outside', 'z.yaml outside']);
  });

  test('to a directory is not followed, also to the root of the file system', async () => {
    const directory = await directoryWith({
      'elsewhere/x.yaml': template('x'),
      'templates/a.yaml': template('a'),
    });
    await symlink('/', join(directory, 'templates/all'));
    await symlink('../elsewhere', join(directory, 'templates/other'));
    await symlink('..', join(directory, 'templates/up'));
    const state = await load(join(directory, 'templates'));
    expect(namesIn(state)).toEqual(['a']);
    expect(checksIn(state, directory)).toEqual([
      'templates/all outside',
      'templates/other outside',
      'templates/up outside',
    ]);
  });

  test('to a sibling directory with the same name prefix is refused too', async () => {
    const directory = await directoryWith({
      'templates/a.yaml': template('a'),
      'templates-old/b.yaml': template('b'),
    });
    await symlink('../templates-old/b.yaml', join(directory, 'templates/b.yaml'));
    expect(checksIn(await load(join(directory, 'templates')), directory)).toEqual([
      'templates/b.yaml outside',
    ]);
  });

  test('without the name of a template is ignored', async () => {
    const directory = await directoryWith({ 'README.md': 'text', 'templates/a.yaml': template('a') });
    await symlink('../README.md', join(directory, 'templates/README.md'));
    expect((await load(join(directory, 'templates'))).problems).toEqual([]);
  });

  test('through another link inside is refused', async () => {
    const directory = await directoryWith({ 'secret.yaml': 'x', 'templates/deep/a.yaml': template('a') });
    await symlink('../../secret.yaml', join(directory, 'templates/deep/.way'));
    await symlink('deep/.way', join(directory, 'templates/b.yaml'));
    expect(checksIn(await load(join(directory, 'templates')), directory)).toEqual([
      'templates/b.yaml outside',
    ]);
  });
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

describe('links that are followed', () => {
  test('a link inside, and one to another of the given paths', async () => {
    const directory = await directoryWith({
      'one/deep/a.yaml': template('a'),
      'two/b.yaml': template('b'),
      'three/c.yaml': template('c'),
    });
    await symlink('deep/a.yaml', join(directory, 'one/z.yaml'));
    await symlink('../two', join(directory, 'one/two'));
    await symlink('../three/c.yaml', join(directory, 'one/c.yaml'));
    const state = await load(...['one', 'two', 'three/c.yaml'].map((name) => join(directory, name)));
    expect(state.problems).toEqual([]);
    expect(namesIn(state).toSorted()).toEqual(['a', 'b', 'c']);
  });

  test('a given path that is a link itself: the tree of git-sync, and a file', async () => {
    const directory = await directoryWith({
      'git/tree/zones/a.yaml': template('a'),
      'store/b.yaml': template('b'),
    });
    await symlink('tree', join(directory, 'git/current'));
    await symlink('store/b.yaml', join(directory, 'b.yaml'));
    await mkdir(join(directory, 'with'));
    await symlink(join(directory, 'git/current/zones'), join(directory, 'with/link'));
    const state = await load(join(directory, 'with/link'), join(directory, 'b.yaml'));
    expect(state.problems).toEqual([]);
    expect(namesIn(state)).toEqual(['a', 'b']);
  });

  test('a ConfigMap: files that are links through ..data', async () => {
    const directory = await directoryWith({ 'root/..2026_11/a.yaml': template('a') });
    await symlink('..2026_11', join(directory, 'root/..data'));
    await symlink('..data/a.yaml', join(directory, 'root/a.yaml'));
    for (const given of ['root', 'root/a.yaml']) {
      const state = await load(join(directory, given));
      expect([state.problems, namesIn(state)]).toEqual([[], ['a']]);
    }
  });
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
