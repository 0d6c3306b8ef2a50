import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { directoryWith, options, write } from '../desired/load-files.ts';

const template = (name: string): string => `template: ${name}\nrecords: []\n`;

const load = (...paths: string[]): Promise<DesiredState> =>
  createTemplateLoader().load({ ...options, paths });

const filesOf = (state: DesiredState, directory: string): string[] =>
  state.templates.map(({ source }) => relative(directory, source.file));

describe('which files are read', () => {
  test('those that end in .yaml and .yml, to any depth, in the order of their names', async () => {
    const directory = await directoryWith({
      'z.yaml': template('z'),
      'a.yml': template('a'),
      'm/deep/er/b.yaml': template('b'),
      'm/_fragment.yaml': 'records: []\n',
      'notes.txt': 'no template',
      'a.yaml.bak': 'no template',
      '.hidden.yaml': 'no template',
      '.git/x.yaml': 'no template',
      'm/..data_tmp/x.yaml': 'no template',
    });
    const state = await load(directory);
    expect(filesOf(state, directory)).toEqual(['a.yml', 'm/deep/er/b.yaml', 'z.yaml']);
    expect([state.problems, state.files]).toEqual([[], 3]);
  });

  test('those behind links, each once, also with circular links', async () => {
    const directory = await directoryWith({
      'one/a.yaml': template('a'),
      'one/b.yaml': template('b'),
      'elsewhere/c.yaml': template('c'),
    });
    await symlink('../one', join(directory, 'one/up'));
    await symlink('a.yaml', join(directory, 'one/same.yaml'));
    await symlink('../elsewhere', join(directory, 'one/linked'));
    await symlink('loop', join(directory, 'one/loop'));
    await symlink('nowhere', join(directory, 'one/dangling'));
    const state = await load(
      join(directory, 'one'),
      join(directory, 'elsewhere'),
      join(directory, 'one/b.yaml'),
    );
    expect(state.problems).toEqual([]);
    expect(filesOf(state, directory)).toEqual(['one/a.yaml', 'one/b.yaml', 'one/linked/c.yaml']);
  });

  test('a missing path is a problem, and the other paths are read', async () => {
    const directory = await directoryWith({ 'a.yaml': template('a') });
    const state = await load(join(directory, 'gone'), directory, join(directory, 'gone.yaml'));
    expect(state.problems.map(formatProblem)).toEqual(
      ['gone', 'gone.yaml'].map((name) => {
        const path = join(directory, name);
        const advice = name === 'gone' ? '; `import` makes it, with the templates of the service' : '';
        return `${path}: error: ${path} cannot be read: it does not exist${advice} [unreadable]`;
      }),
    );
    expect(state.templates).toHaveLength(1);
  });

  test('a template that is not a regular file, or a broken link, is unusable', async () => {
    const directory = await directoryWith({ 'a.yaml': template('a') });
    execFileSync('mkfifo', [join(directory, 'pipe.yaml')]);
    await symlink('nowhere', join(directory, 'dangling.yaml'));
    const state = await load(directory);
    expect(
      state.unusable.map(({ file, message }) => [relative(directory, file), message.split(': ')[1]]),
    ).toEqual([
      ['dangling.yaml', 'it does not exist'],
      ['pipe.yaml', 'it is not a regular file'],
    ]);
    expect(state.templates).toHaveLength(1);
  });

  test('a file that is too large is refused unread', async () => {
    const directory = await directoryWith({
      'a.yaml': `# ${'x'.repeat(16 * 1024 * 1024)}\n${template('a')}`,
    });
    const state = await load(directory);
    expect(state.problems).toMatchObject([{ check: 'unreadable', line: 1, column: 1 }]);
    expect(state.unusable).toHaveLength(1);
  });

  test('the position of a problem starts with the given path', async () => {
    const directory = await directoryWith({ 'web/a.yaml': 'template: a\n' });
    const given = `${relative(process.cwd(), directory)}/./`;
    const state = await load(given);
    expect(state.problems[0]?.file).toBe(join(relative(process.cwd(), directory), 'web/a.yaml'));
  });
});

describe('all files are read as they were at one moment', () => {
  /** Loads with a change in the middle: after the first content has been read, `times` times over. */
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

  const namesIn = ({ templates }: DesiredState): string[] => templates.map((one) => one.template);

  test('when a ConfigMap is swapped meanwhile', async () => {
    const directory = await directoryWith({
      '..one/a.yaml': template('a1'),
      '..one/b.yaml': template('b1'),
      '..two/a.yaml': template('a2'),
      '..two/b.yaml': template('b2'),
    });
    await symlink('..one', join(directory, '..data'));
    await symlink('..data/a.yaml', join(directory, 'a.yaml'));
    await symlink('..data/b.yaml', join(directory, 'b.yaml'));
    expect(namesIn(await readWhile(directory, () => undefined))).toEqual(['a1', 'b1']);
    const snapshot = await readWhile(directory, () => {
      symlinkSync('..two', join(directory, '..data_tmp'));
      renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
      rmSync(join(directory, '..one'), { recursive: true });
    });
    expect(namesIn(snapshot)).toEqual(['a2', 'b2']);
  });

  test.for([true, false])('when git-sync moves the link (old tree deleted: %s)', async (isDeleted) => {
    const directory = await directoryWith({
      'one/a.yaml': template('a1'),
      'one/b.yaml': template('b1'),
      'two/a.yaml': template('a2'),
      'two/b.yaml': template('b2'),
      'two/c.yaml': template('c2'),
    });
    await symlink('one', join(directory, 'current'));
    const snapshot = await readWhile(join(directory, 'current'), () => {
      symlinkSync('two', join(directory, 'next'));
      renameSync(join(directory, 'next'), join(directory, 'current'));
      if (isDeleted) rmSync(join(directory, 'one'), { recursive: true });
    });
    expect(namesIn(snapshot)).toEqual(['a2', 'b2', 'c2']);
    expect(snapshot.templates[0]?.source.file).toBe(join(directory, 'current/a.yaml'));
  });

  test('when the whole directory is replaced', async () => {
    const directory = await directoryWith({ 'now/a.yaml': template('a1'), 'next/b.yaml': template('b2') });
    const snapshot = await readWhile(join(directory, 'now'), () => {
      renameSync(join(directory, 'now'), join(directory, 'old'));
      renameSync(join(directory, 'next'), join(directory, 'now'));
    });
    expect(namesIn(snapshot)).toEqual(['b2']);
  });

  test('when a file is saved, in place or by rename', async () => {
    const directory = await directoryWith({ 'a.yaml': template('a1'), 'b.yaml': template('b1') });
    const inPlace = await readWhile(directory, () =>
      writeFileSync(join(directory, 'a.yaml'), template('a2')),
    );
    expect(namesIn(inPlace)).toEqual(['a2', 'b1']);
    const byRename = await readWhile(directory, () => {
      writeFileSync(join(directory, '.a.yaml.tmp'), template('a3'));
      renameSync(join(directory, '.a.yaml.tmp'), join(directory, 'a.yaml'));
    });
    expect(namesIn(byRename)).toEqual(['a3', 'b1']);
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
    const change = (): void => afterFragment.shift()?.();
    const { templates } = await readWhile(join(directory, 'a.yaml'), change, 2);
    expect(templates[0]?.records.map(({ content }) => content)).toEqual(['after', 'new']);
  });

  test('or not at all, if they never stop changing', async () => {
    const directory = await directoryWith({ 'a.yaml': template('a'), 'b.yaml': template('b') });
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

test('an unchanged file is not processed again', async () => {
  const directory = await directoryWith({ 'a.yaml': template('a'), 'b.yaml': template('b') });
  const loader = createTemplateLoader();
  const first = await loader.load({ ...options, paths: [directory] });
  await write(directory, { 'b.yaml': `${template('b')}# changed\n`, 'c.yaml': template('c') });
  const second = await loader.load({ ...options, paths: [directory] });
  expect(second.templates[0]).toBe(first.templates[0]);
  expect(second.templates[1]).not.toBe(first.templates[1]);
  expect(second.templates).toHaveLength(3);
  const strict = await loader.load({ ...options, strict: true, paths: [directory] });
  expect(strict.templates[0]).not.toBe(first.templates[0]);
});

test('the same content under a new name is found as a file of that name', async () => {
  const directory = await directoryWith({
    'a.yaml': `include: [_f.yaml]\n${template('a')}`,
    '_f.yaml': 'records: []\n',
    '.hidden/l.yaml': template('l'),
  });
  // As if they had been there for a while: what was changed a moment ago is read again in any case.
  const later = Date.now() + 10_000;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => later);
  onTestFinished(() => clock.mockRestore());
  await symlink('.hidden/l.yaml', join(directory, 'l.yaml'));
  const loader = createTemplateLoader();
  const files = async (): Promise<string[]> =>
    filesOf(await loader.load({ ...options, paths: [directory] }), directory);
  expect(await files()).toEqual(['a.yaml', 'l.yaml']);
  for (const name of ['a', 'l'])
    renameSync(join(directory, `${name}.yaml`), join(directory, `${name}2.yaml`));
  expect(await files()).toEqual(['a2.yaml', 'l2.yaml']);
});

describe('a load gives the same object', () => {
  test('until a file says something else, however soon one change follows another', async () => {
    const directory = await directoryWith({ 'a.yaml': template('a0') });
    const loader = createTemplateLoader();
    const again = (): Promise<DesiredState> => loader.load({ ...options, paths: [directory] });
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

  test('whatever is among the files', async () => {
    const directory = await directoryWith({ 'large.yaml': Buffer.alloc(50_000_000, 'x') });
    execFileSync('mkfifo', [join(directory, 'pipe.yaml')]);
    await symlink('/dev/zero', join(directory, 'zero.yaml'));
    await symlink('loop.yaml', join(directory, 'loop.yaml'));
    await symlink('.', join(directory, 'round'));
    const loader = createTemplateLoader();
    const again = (): Promise<DesiredState> =>
      loader.load({ ...options, paths: [directory, join(directory, 'none')] });
    const first = await again();
    expect(await again()).toBe(first);
    expect(first.problems).toHaveLength(5);
  });
});
