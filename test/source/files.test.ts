import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { rowsOf } from '../rows.ts';
import { directoryWith, options, write, type FileContent } from '../desired/load-files.ts';

const template = (name: string): string => `template: ${name}\nrecords: []\n`;

const load = (...paths: string[]): Promise<DesiredState> =>
  createTemplateLoader().load({ ...options, paths });

/** Loads the same files again and again. */
const loaderOf = (path: string) => {
  const loader = createTemplateLoader();
  return (more = {}, signal?: AbortSignal): Promise<DesiredState> =>
    loader.load({ ...options, ...more, paths: [path] }, signal);
};

const namesIn = ({ templates }: DesiredState): string[] => templates.map((one) => one.template);

/** A directory of files with the template of their name or another one, and of links: `a.yaml, b.yaml=c, d.yaml -> a.yaml`. */
const directoryOf = async (files: string, more: Record<string, FileContent> = {}): Promise<string> => {
  const entries = files.split(', ').map((one): [string, FileContent] => {
    const [path = '', link] = one.split(' -> ');
    const [name = '', of = basename(name).split('.')[0]!] = path.split('=');
    return [name, link === undefined ? template(of) : { link }];
  });
  return realpathSync(await directoryWith({ ...Object.fromEntries(entries), ...more }));
};

/** The templates, and what is wrong, by the last parts of its path. */
const foundIn = (state: DesiredState, directory: string): string =>
  [
    ...namesIn(state),
    ...state.problems.map(({ check, file }) => `${relative(directory, file ?? '')} ${check}`),
  ].join(', ');

/** Files and links, the paths that are given, and what comes of it: the names of templates, and what is wrong. */
const tree = rowsOf(`
  those that end in .yaml and .yml, to any depth, in the order of their names | z.yaml, a.yml, m/deep/er/b.yaml, notes.txt, a.yaml.bak | . | a, b, z
  none that are hidden, and none of the file system's own | a.yaml, .h.yaml, .git/x.yaml, m/..data_tmp/x.yaml, lost+found/l.yaml | . | a
  none whose name ends in capitals, which is said | a.yaml, b.YAML, old.YML/c.yaml | . | a, c, b.YAML unreadable
  what is there, and it is said what is missing | a.yaml | gone . gone.yaml | a, gone unreadable, gone.yaml unreadable
  no broken link, which is said | a.yaml, b.yaml -> nowhere, c -> nowhere | . | a, b.yaml unreadable
  no link that cannot be followed, which is said: it may lead to many files | a.yaml, c -> ${'n'.repeat(300)} | . | a, c unreadable
  each once, also with links in a circle | one/a.yaml, one/b.yaml, one/up -> ../one, one/same.yaml -> a.yaml, one/loop -> loop | one one/b.yaml | a, b
  no link out of the given directories | secret.yaml, t/a.yaml, t/b.yaml -> ../secret.yaml | t | a, t/b.yaml outside
  nor one to a file that never ends | a.yaml, k.yaml -> /proc/kallsyms, z.yaml -> /dev/zero | . | a, k.yaml outside, z.yaml outside
  nor one to a directory | other/x.yaml, t/a.yaml, t/all -> /, t/other -> ../other, t/up -> .. | t | a, t/all outside, t/other outside, t/up outside
  nor one to a sibling with the same name prefix | t/a.yaml, t-old/b.yaml, t/b.yaml -> ../t-old/b.yaml | t | a, t/b.yaml outside
  nor one through another link inside | secret.yaml, t/a.yaml, t/.way -> ../secret.yaml, t/b.yaml -> .way | t | a, t/b.yaml outside
  no link without the name of a template | README.md, t/a.yaml, t/README.md -> ../README.md | t | a
  what a link inside leads to | deep/a.yaml, z.yaml -> deep/a.yaml | . | a
  what a link to another given path leads to | one/b -> ../two, two/b.yaml, three/c.yaml, one/c.yaml -> ../three/c.yaml | one two three/c.yaml | b, c
  a given path that is a link | git/tree/zones/a.yaml, git/current -> tree, with/link -> ../git/current/zones | with/link | a
  a given file that is a link | store/b.yaml, b.yaml -> store/b.yaml | b.yaml | b
  those of a ConfigMap, through ..data | root/..2026_11/a.yaml, root/..data -> ..2026_11, root/a.yaml -> ..data/a.yaml | root | a
  also if one file of it is given | root/..2026_11/a.yaml, root/..data -> ..2026_11, root/a.yaml -> ..data/a.yaml | root/a.yaml | a`);

test.each(tree)('files that are read: %s', async (_, files = '', given = '', expected = '') => {
  const directory = await directoryOf(files);
  const state = await load(...given.split(' ').map((name) => join(directory, name)));
  expect(foundIn(state, directory)).toBe(expected);
});

test('a file that is refused is not read, and holds the template of its name', async () => {
  const secret = { 'secret.yaml': 'a secret that no message may quote\n' };
  const directory = await directoryOf('templates/a.yaml, templates/b.yaml -> ../secret.yaml', secret);
  const state = await load(join(directory, 'templates'));
  expect(state.unusable.map(({ file }) => file)).toEqual([join(directory, 'templates/b.yaml')]);
  expect(JSON.stringify(state)).not.toContain('a secret');
});

test('a problem says the path as it was given, and what to do', async () => {
  const directory = await directoryOf('b.YAML', { 'web/a.yaml': 'template: a\n' });
  const given = relative(process.cwd(), directory);
  writeFileSync(Buffer.from(`${directory}/m\xfcller.yaml`, 'latin1'), '');
  const { problems } = await load(`${given}/./`, join(directory, 'gone'));
  expect(problems.map(formatProblem)).toEqual([
    expect.stringMatching(`^${given}/b.YAML: .* its name has to end in .yaml or .yml, in small letters`),
    expect.stringMatching('ller.yaml cannot be read: its name is not UTF-8: rename it'),
    expect.stringMatching(`^${given}/web/a.yaml:1:1: error: `),
    expect.stringMatching(String.raw`/gone cannot be read: it does not exist \[unreadable]$`),
  ]);
  // It writes into the first one.
  const alone = await load(join(directory, 'gone'));
  expect(alone.problems.map(formatProblem)).toEqual([
    expect.stringMatching('/gone cannot be read: it does not exist; `import` makes it'),
  ]);
});

test.each([
  ['checkout/templates', 'checkout/templates outside'],
  ['checkout/dns.yaml', 'checkout/dns.yaml outside'],
  ['checkout/templates/b.yaml', 'checkout/templates/b.yaml outside'],
  // Neither is it a way for links below another given path.
  ['checkout/zones checkout/templates', 'a, checkout/templates outside, checkout/zones/b.yaml outside'],
  ['checkout/inside', 'a'],
  ['current/more', 'a'],
  ['current/inside', 'a'],
])('a given path in a checkout of git may lead to a place inside of it only: %s', async (given, expected) => {
  const directory = await directoryOf(
    [
      'checkout/more/a.yaml, checkout/zones/a.yaml, checkout/zones/b.yaml -> ../../secrets/b.yaml',
      'checkout/templates -> ../secrets, checkout/dns.yaml -> ../shadow, checkout/inside -> more, current -> checkout',
    ].join(', '),
    {
      'secrets/b.yaml': 'a secret that no message may quote\n',
      shadow: 'a secret that no message may quote\n',
      'checkout/.git/HEAD': 'ref: refs/heads/main\n',
    },
  );
  const state = await load(...given.split(' ').map((name) => join(directory, name)));
  expect(foundIn(state, directory)).toBe(expected);
  const said = JSON.stringify(state);
  expect(said).not.toContain('a secret');
  expect(said.includes('its links lead out of the git checkout in which it lies')).toBe(expected !== 'a');
});

test('pipes, devices, and what is too large are refused without a wait, and nothing is made of the kernel', async () => {
  const large = { 'large.yaml': `# ${'x'.repeat(16 * 1024 * 1024)}\n${template('b')}` };
  const directory = await directoryOf('a.yaml', large);
  execFileSync('mkfifo', [join(directory, 'pipe.yaml')]);
  const state = await load(directory, join(directory, 'pipe.yaml'), '/dev/zero');
  expect(namesIn(state)).toEqual(['a']);
  const irregular = expect.stringContaining('it is not a regular file');
  expect(state.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('16 MiB'),
    irregular,
    irregular,
  ]);
  // It claims to be empty, and is read up to that size.
  const ofKernel = await load(realpathSync('/proc/kallsyms'));
  expect([ofKernel.templates, ofKernel.problems.length > 0]).toEqual([[], true]);
});

// Makes, reads and removes 10,000 directories, beside all other tests.
test('too many directories are an error at the given path', { timeout: 180_000 }, async () => {
  const directory = await directoryWith({});
  for (let index = 0; index <= 10_000; index += 1) mkdirSync(join(directory, String(index)));
  expect((await load(directory)).problems).toMatchObject([
    { check: 'unreadable', file: directory, message: expect.stringContaining('more than 10000 directories') },
  ]);
});

test('a link that replaces a file during the scan is not read', async () => {
  const secret = { 'secret.yaml': 'a secret that no message may quote\n' };
  const templates = join(await directoryOf('templates/a.yaml', secret), 'templates');
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

describe('all files are read as they were at one moment', () => {
  /** Loads with a change in the middle: after a content has been read, `times` times over. */
  const readWhile = (path: string, change: () => void, times = 1): Promise<DesiredState> => {
    let left = times;
    const loader = createTemplateLoader({
      read: async (_, readFile) => {
        const bytes = await readFile();
        if (left > 0) change();
        left -= 1;
        return bytes;
      },
    });
    return loader.load({ ...options, paths: [path] });
  };

  /** What there is, how it changes meanwhile, the path that is given, and the templates that are found. */
  const swaps = rowsOf(`
    a ConfigMap is swapped | r/..1/a.yaml=a1, r/..1/b.yaml=b1, r/..2/a.yaml=a2, r/..2/b.yaml=b2, r/..data -> ..1, r/a.yaml -> ..data/a.yaml, r/b.yaml -> ..data/b.yaml | turn r/..data ..2; remove r/..1 | r | a2, b2
    git-sync moves the link | one/a.yaml=a1, one/b.yaml=b1, two/a.yaml=a2, two/c.yaml, now -> one | turn now two | now | a2, c
    git-sync deletes the old tree | one/a.yaml=a1, one/b.yaml=b1, two/a.yaml=a2, now -> one | turn now two; remove one | now | a2
    the directory is replaced | now/a.yaml, next/b.yaml | move now old; move next now | now | b
    a file is saved in place | now/a.yaml, now/b.yaml | write now/a.yaml a2 | now | a2, b
    a file is saved by rename | now/a.yaml, now/b.yaml, new/a.yaml=a3 | move new/a.yaml now/a.yaml | now | a3, b`);

  test.each(swaps)('when %s', async (_, files = '', steps = '', path = '', expected = '') => {
    const directory = await directoryOf(files);
    const state = await readWhile(join(directory, path), () => {
      for (const step of steps.split('; ')) {
        const [verb, name = '', other = ''] = step.split(' ');
        const at = join(directory, name);
        if (verb === 'turn') symlinkSync(other, join(directory, 'next-link'));
        if (verb === 'turn') renameSync(join(directory, 'next-link'), at);
        if (verb === 'remove') rmSync(at, { recursive: true });
        if (verb === 'move') renameSync(at, join(directory, other));
        if (verb === 'write') writeFileSync(at, template(other));
      }
    });
    expect(foundIn(state, directory)).toBe(expected);
    expect(state.templates[0]?.source.file).toMatch(join(directory, path));
  });

  test('when a fragment of a single given file changes', async () => {
    const directory = await directoryWith({
      'a.yaml': 'template: a\ninclude: [parts/_f.yaml, parts/_g.yaml]\n',
      'parts/_f.yaml': 'records: [{type: TXT, content: before}]\n',
    });
    const afterFragment = [
      () => undefined,
      () => {
        writeFileSync(join(directory, 'parts/_f.yaml'), 'records: [{type: TXT, content: after}]\n');
        writeFileSync(join(directory, 'parts/_g.yaml'), 'records: [{type: TXT, content: new}]\n');
      },
    ];
    const { templates } = await readWhile(join(directory, 'a.yaml'), () => afterFragment.shift()?.(), 2);
    expect(templates[0]?.records.map(({ content }) => content)).toEqual(['after', 'new']);
  });

  test('or not at all, if they never stop changing', async () => {
    const directory = await directoryOf('a.yaml, b.yaml');
    let count = 0;
    const change = (): void => {
      count += 1;
      writeFileSync(join(directory, 'a.yaml'), `${template('a')}# ${count}\n`);
    };
    const state = await readWhile(directory, change, Number.POSITIVE_INFINITY);
    expect(state.problems.map(formatProblem)).toEqual([
      `${directory}: error: ${directory} cannot be read: the files kept changing while they were read [unreadable]`,
    ]);
  });
});

describe('what was read before', () => {
  test('is not processed again, also by a load that begins meanwhile', async () => {
    const directory = await directoryOf('a.yaml, b.yaml');
    const again = loaderOf(directory);
    const [first, parallel] = await Promise.all([again(), again()]);
    expect(parallel).toBe(first);
    await write(directory, { 'b.yaml': `${template('b')}# changed\n`, 'c.yaml': template('c') });
    const second = await again();
    expect(second.templates).toHaveLength(3);
    expect(second.templates[0]).toBe(first.templates[0]);
    expect(second.templates[1]).not.toBe(first.templates[1]);
    expect((await again({ strict: true })).templates[0]).not.toBe(first.templates[0]);
  });

  test('ends between two templates at shutdown, and starts again', async () => {
    const again = loaderOf(await directoryOf('a.yaml, b.yaml'));
    const stop = new AbortController();
    const loading = again({}, stop.signal);
    stop.abort();
    await expect(loading).rejects.toThrow('cut short: this program is shutting down');
    expect((await again()).templates).toHaveLength(2);
  });

  test('is found under its new name', async () => {
    const including = { 'a.yaml': `include: [_f.yaml]\n${template('a')}`, '_f.yaml': 'records: []\n' };
    const directory = await directoryOf('.hidden/l.yaml, l.yaml -> .hidden/l.yaml', including);
    // As if they had been there for a while: what was changed a moment ago is read again in any case.
    const later = Date.now() + 10_000;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => later);
    onTestFinished(() => clock.mockRestore());
    const again = loaderOf(directory);
    const files = async (): Promise<string[]> =>
      (await again()).templates.map(({ source }) => relative(directory, source.file));
    expect(await files()).toEqual(['a.yaml', 'l.yaml']);
    for (const name of ['a', 'l'])
      renameSync(join(directory, `${name}.yaml`), join(directory, `${name}2.yaml`));
    expect(await files()).toEqual(['a2.yaml', 'l2.yaml']);
  });

  test('is the same object until a file says something else, however soon one change follows another', async () => {
    const directory = await directoryOf('a.yaml');
    const again = loaderOf(directory);
    const states = new Set([await again()]);
    for (let time = 1; time < 10; time += 1) {
      writeFileSync(join(directory, 'a.yaml'), template(`a${time}`));
      states.add(await again());
      states.add(await again());
    }
    expect(states.size).toBe(10);
    utimesSync(join(directory, 'a.yaml'), 0, 0);
    expect(states).toContain(await again());
    writeFileSync(join(directory, 'a.yaml'), `# of the same meaning\n${template('a9')}`);
    states.add(await again());
    expect(states.size).toBe(11);
  });

  test('has a digest, but not where one of them cannot be read', async () => {
    const directory = await directoryOf('a.yaml');
    const loader = createTemplateLoader();
    await loader.load({ ...options, paths: [directory] });
    expect(loader.digest()).toEqual(expect.any(String));
    // The system reads no memory at address zero.
    const { problems } = await loader.load({ ...options, paths: [directory, '/proc/self/mem'] });
    expect([problems.map(({ check }) => check), loader.digest()]).toEqual([['unreadable'], null]);
  });

  test('is the same object whatever is among the files', async () => {
    const directory = await directoryOf('zero.yaml -> /dev/zero, loop.yaml -> loop.yaml, round -> .', {
      'large.yaml': Buffer.alloc(50_000_000, 'x'),
    });
    execFileSync('mkfifo', [join(directory, 'pipe.yaml')]);
    const again = loaderOf(directory);
    const first = await again();
    expect(await again()).toBe(first);
    expect(first.problems).toHaveLength(4);
  });
});
