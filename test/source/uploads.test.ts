import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DesiredRecord } from '../../src/model/record.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import { directoryWith, options } from '../desired/load-files.ts';
import { git, newCheckout } from './checkout.ts';

/** Files, what a daemon makes of them, and a clock that starts with that of the files. */
const daemonOver = async (files: Record<string, string>, directory?: string, isOld = true) => {
  const folder = directory ?? (await directoryWith(files));
  let passed = isOld ? 60_000 : 0;
  const now = (): number => Date.now() + passed;
  const forward = (milliseconds: number): void => {
    passed += milliseconds;
  };
  const clock = {
    now,
    sleep: async (milliseconds: number): Promise<void> => {
      await Promise.resolve();
      forward(milliseconds);
    },
  };
  const waits: string[] = [];
  const loader = createTemplateLoader({ waits: true, clock, onWait: (file) => waits.push(file) });
  const load = (): Promise<DesiredState> => loader.load({ ...options, paths: [folder] });
  const first = await load();
  const at = (name: string): string => join(folder, name);
  return {
    first,
    waits,
    load,
    forward,
    at,
    passed: () => passed,
    write: (name: string, text: string) => writeFileSync(at(name), text),
    contents: async () => contentsIn(await load()),
  };
};

const contentsIn = ({ templates }: DesiredState): string[] =>
  templates.flatMap(({ records }) => records.map(({ content }) => content));

const isMarked = ({ templates }: DesiredState): boolean =>
  templates.some(({ incomplete }) => incomplete !== undefined);

const recordOf = ({ type, name, content, priority, ttl }: DesiredRecord): string =>
  JSON.stringify([type, name, content, priority, ttl]);

const records = (...addresses: readonly string[]): string =>
  addresses.map((address, at) => `  - {type: A, name: n${at}, content: ${address}}\n`).join('');
const web = (...addresses: readonly string[]): string => `template: web\nrecords:\n${records(...addresses)}`;

/** What half a minute of an upload may not say: the version before it, and the one that arrives. */
const uploads: Record<string, readonly [string, string]> = {
  'entries in one line': [
    web('203.0.113.1', '203.0.113.2', '203.0.113.3'),
    web('203.0.113.250', '203.0.113.2', '203.0.113.199', '203.0.113.30'),
  ],
  'fewer records': [web('203.0.113.1', '203.0.113.2', '203.0.113.3'), web('203.0.113.10', '203.0.113.3')],
  'entries in several lines, with values in several lines': [
    'template: web\nttl: 60\nrecords:\n- type: A\n  name: www\n  content: 192.0.2.1\n  ttl: 300\n- type: TXT\n  content: v=spf1 mx\n    -all\n- {type: TXT, name: b, content: b}\n',
    'template: web\nttl: 60\nrecords:\n- type: A\n  name: www\n  content: 192.0.2.11\n  ttl: 300\n- type: A\n  content: 192.0.2.7\n  ttl: 301\n- type: TXT\n  content: v=spf1 mx\n    ip4:192.0.2.0/24\n    -all\n- {type: TXT, name: b, content: b}\n',
  ],
  'a number at the end': [
    'template: web\nrecords:\n- type: A\n  content: 203.0.113.1\n',
    'template: web\nrecords:\n- type: A\n  content: 203.0.113.250\n',
  ],
  'lists of contents': [
    'template: web\nrecords:\n- type: A\n  content:\n  - 192.0.2.1\n  - 192.0.2.2\n- {type: TXT, content: a}\n',
    'template: web\nrecords:\n- type: A\n  content:\n  - 192.0.2.3\n  - 192.0.2.1\n  - 192.0.2.2\n- {type: TXT, content: a}\n',
  ],
  'restraints after the records': [
    `template: web\nrecords:\n${records('192.0.2.1')}mode: report\nignore:\n- {type: MX}\n`,
    `template: web\nrecords:\n${records('192.0.2.2')}mode: report\nignore:\n- {type: MX}\n`,
  ],
  'several templates': [
    `${web('192.0.2.1')}---\ntemplate: mail\nrecords:\n${records('192.0.2.2', '192.0.2.3')}`,
    `${web('192.0.2.11')}---\ntemplate: mail\nrecords:\n${records('192.0.2.2', '192.0.2.33')}`,
  ],
};

describe('a slow upload says nothing that the finished file does not say', () => {
  test.each(Object.entries(uploads))('%s', async (_, [before, after]) => {
    const whole = (await daemonOver({ 'a.yaml': after })).first;
    const said = new Set(whole.templates.flatMap((one) => one.records.map(recordOf)));
    const restraints = ({ templates: [one] }: DesiredState): unknown => [one?.mode, one?.ignore];
    // At each end of a line, and in words and numbers.
    for (let cut = 0; cut < after.length; cut += 1) {
      if (after[cut - 1] !== '\n' && cut % 4 !== 0) continue;
      const { first, load, forward, write } = await daemonOver({ 'a.yaml': before });
      write('a.yaml', after.slice(0, cut));
      for (const pause of [0, 300, 2_600, 100, 17_000]) {
        forward(pause);
        const state = await load();
        if (state === first || state.templates.length === 0) continue;
        const unsaid = state.templates
          .flatMap((one) => one.records.map(recordOf))
          .filter((one) => !said.has(one));
        expect({ cut, unsaid }).toEqual({ cut, unsaid: [] });
        expect(restraints(state)).toEqual(restraints(first));
        const isLess = contentsIn(state).length < contentsIn(first).length;
        expect({ cut, isLess: isLess && !isMarked(state) }).toEqual({ cut, isLess: false });
      }
      write('a.yaml', after);
      await load();
      forward(30_000);
      const end = await load();
      expect([contentsIn(end), isMarked(end)]).toEqual([contentsIn(whole), false]);
    }
  });
});

test('a new file that was taken keeps its restraints for half a minute after it changes again', async () => {
  const { load, forward, write } = await daemonOver({ 'a.yaml': web('192.0.2.1') }, undefined, false);
  const modes = async (): Promise<string[]> => (await load()).templates.map(({ mode }) => mode);
  write('b.yaml', `template: mail\nmode: report\nrecords:\n${records('192.0.2.2')}`);
  await load();
  forward(3_000);
  expect(await modes()).toEqual(['enforce', 'report']);
  write('b.yaml', `template: mail\nrecords:\n${records('192.0.2.2')}`);
  await load();
  forward(5_000);
  expect(await modes()).toEqual(['enforce', 'report']);
  forward(30_000);
  expect(await modes()).toEqual(['enforce', 'enforce']);
});

test('a file that begins to wait is told once for each upload, and one that need not wait is not', async () => {
  const { at, load, waits, write, forward } = await daemonOver({ 'a.yaml': web('192.0.2.1') });
  write('a.yaml', web('192.0.2.2'));
  await load();
  expect(waits).toEqual([]);
  write('a.yaml', web('192.0.2.3').trimEnd());
  await load();
  write('a.yaml', web('192.0.2.34').trimEnd());
  await load();
  expect(waits).toEqual([at('a.yaml')]);
  forward(30_000);
  await load();
  write('a.yaml', 'template: web\nrecords: []\n');
  await load();
  expect(waits).toEqual([at('a.yaml'), at('a.yaml')]);
});

test('a saved edit that drops nothing, or mends what was wrong, needs no wait', async () => {
  const { load, write, contents } = await daemonOver({ 'a.yaml': web('192.0.2.1') });
  write('a.yaml', web('192.0.2.2', '192.0.2.3'));
  expect(await contents()).toEqual(['192.0.2.2', '192.0.2.3']);
  expect(isMarked(await load())).toBe(false);
  const broken = await daemonOver({ 'a.yaml': 'template: web\nrecords: [\n' });
  broken.write('a.yaml', web('192.0.2.1'));
  expect(await broken.contents()).toEqual(['192.0.2.1']);
});

test('without a final newline a file waits for 30 s, unless the version before had none either', async () => {
  const { contents, write, forward } = await daemonOver({ 'a.yaml': web('192.0.2.1') });
  write('a.yaml', web('192.0.2.2').trimEnd());
  await contents();
  forward(29_900);
  expect(await contents()).toEqual(['192.0.2.1']);
  forward(100);
  expect(await contents()).toEqual(['192.0.2.2']);
  write('a.yaml', web('192.0.2.3').trimEnd());
  expect(await contents()).toEqual(['192.0.2.3']);
});

test('what lacks records waits for 3 s after its last change, and is marked for 30 s', async () => {
  const { load, contents, write, forward } = await daemonOver({ 'a.yaml': web('192.0.2.1', '192.0.2.2') });
  write('a.yaml', web('192.0.2.1'));
  expect(await contents()).toHaveLength(2);
  forward(2_900);
  write('a.yaml', `# later\n${web('192.0.2.1')}`);
  expect(await contents()).toHaveLength(2);
  forward(2_900);
  expect(await contents()).toHaveLength(2);
  forward(100);
  const state = await load();
  expect(contentsIn(state)).toHaveLength(1);
  expect(state.templates[0]?.incomplete?.sets).toEqual(['A n1']);
  expect(await load()).toBe(state);
  forward(27_100);
  const settled = await load();
  expect([contentsIn(settled), isMarked(settled)]).toEqual([['192.0.2.1'], false]);
});

test('an error waits like what lacks records, and then holds its own template alone', async () => {
  const { load, contents, write, forward } = await daemonOver({
    'a.yaml': web('192.0.2.1'),
    'b.yaml': 'template: b\nrecords: []\n',
  });
  write('a.yaml', `${web('192.0.2.2')}  - {type: A, contend: 192.0.2.3}\n`);
  expect(await contents()).toEqual(['192.0.2.1']);
  forward(3_000);
  const { templates, unusable } = await load();
  expect([templates.length, unusable.length]).toEqual([1, 1]);
});

describe('no wait is needed', () => {
  const whole = web('192.0.2.1', '192.0.2.2');
  const half = 'template: web\nrecords: []';

  test('by a file that takes the place of another', async () => {
    const { at, write, load } = await daemonOver({ 'a.yaml': whole });
    write('.new', half);
    renameSync(at('.new'), at('a.yaml'));
    const state = await load();
    expect([contentsIn(state), isMarked(state)]).toEqual([[], false]);
  });

  test('by a file that a link leads to', async () => {
    const directory = await directoryWith({ '..one/a.yaml': whole, '..two/a.yaml': half });
    symlinkSync('..one', join(directory, '..data'));
    symlinkSync('..data/a.yaml', join(directory, 'a.yaml'));
    const { at, first, load } = await daemonOver({}, directory, false);
    expect(contentsIn(first)).toHaveLength(2);
    symlinkSync('..two', at('..new'));
    renameSync(at('..new'), at('..data'));
    const state = await load();
    expect([contentsIn(state), isMarked(state)]).toEqual([[], false]);
  });

  test('by what git brings, as soon as the commit moves', async () => {
    const checkout = newCheckout();
    const file = join(checkout, 'templates/web.yaml');
    writeFileSync(file, whole);
    const { contents, load } = await daemonOver({}, checkout);
    writeFileSync(file, half);
    expect(await contents()).toHaveLength(2);
    git(checkout, 'commit', '--quiet', '-am', 'less');
    const state = await load();
    expect([contentsIn(state), isMarked(state)]).toEqual([[], false]);
    writeFileSync(file, whole);
    writeFileSync(file, half.slice(0, 9));
    git(checkout, 'commit', '--quiet', '-am', 'both at once');
    expect((await load()).unusable).toHaveLength(1);
  });
});

test('a fragment that is half leaves all templates with it as they are', async () => {
  const including = (name: string): string => `template: ${name}\ninclude: [_f.yaml]\nrecords: []\n`;
  const { load, contents, write, forward } = await daemonOver({
    'a.yaml': including('a'),
    'b.yaml': including('b'),
    '_f.yaml': `records:\n${records('192.0.2.1', '192.0.2.2')}`,
  });
  write('_f.yaml', `records:\n${records('192.0.2.3')}  - {type: A, con`);
  expect(await contents()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2']);
  write('_f.yaml', `records:\n${records('192.0.2.1')}`);
  expect((await load()).problems).toEqual([]);
  expect(await contents()).toHaveLength(4);
  forward(3_000);
  const { templates } = await load();
  expect(templates.map(({ incomplete }) => incomplete?.sets)).toEqual([['A n1'], ['A n1']]);
});

describe('a file of which there was no version', () => {
  test('is read 3 s after it was written, and then has nothing parked', async () => {
    const directory = await directoryWith({ 'b.yaml': web('192.0.2.1') });
    utimesSync(join(directory, 'b.yaml'), 0, 0);
    const { at, load, contents, write, forward } = await daemonOver({}, directory, false);
    write('a.yaml', 'template: a\nrecords:\n');
    expect(await contents()).toEqual(['192.0.2.1']);
    write('a.yaml', 'template: a\nrecords:\n  - {type: A, content: 192.0.2.9}\n');
    expect(await contents()).toEqual(['192.0.2.1']);
    forward(3_100);
    const { templates } = await load();
    expect(templates.map(({ template, incomplete }) => [template, incomplete?.sets])).toEqual([
      ['a', []],
      ['web', undefined],
    ]);
    rmSync(at('a.yaml'));
    forward(30_000);
    expect(isMarked(await load())).toBe(false);
  });

  test.each([
    ['', () => directoryWith({})],
    [', in a checkout too', () => Promise.resolve(newCheckout())],
  ])('without a final newline is no file for 30 s, which is not an error%s', async (_, folder) => {
    const directory = await folder();
    rmSync(join(directory, 'templates'), { recursive: true, force: true });
    writeFileSync(join(directory, 'a.yaml'), web('192.0.2.1').trimEnd());
    const young = await daemonOver({}, directory, false);
    expect(young.first).toMatchObject({ templates: [], problems: [], unusable: [], files: 1 });
    expect(young.passed()).toBeGreaterThan(2_000);
    young.forward(30_000);
    expect(await young.contents()).toEqual(['192.0.2.1']);
  });

  test('is read at once if it was written long ago, or its time says nothing', async () => {
    const { at, write, load } = await daemonOver({ 'b.yaml': web('192.0.2.1') });
    for (const [name, time] of [
      ['old', Date.now() - 3_600_000],
      ['future', Date.now() + 86_400_000],
    ] as const) {
      write(`${name}.yaml`, `template: ${name}\nrecords: []`);
      utimesSync(at(`${name}.yaml`), time / 1_000, time / 1_000);
    }
    const { templates } = await load();
    expect(templates.map(({ template }) => template)).toEqual(['web', 'future', 'old']);
  });
});

test('who does not wait reads what is there', async () => {
  const directory = await directoryWith({ 'a.yaml': web('192.0.2.1', '192.0.2.2') });
  const loader = createTemplateLoader();
  const load = (): Promise<DesiredState> => loader.load({ ...options, paths: [directory] });
  expect(contentsIn(await load())).toHaveLength(2);
  writeFileSync(join(directory, 'a.yaml'), web('192.0.2.1').trimEnd());
  const state = await load();
  expect([contentsIn(state), isMarked(state)]).toEqual([['192.0.2.1'], false]);
});

test('what replaces a file that has errors is judged by what the file said before them', async () => {
  const daemon = await daemonOver({ 'web.yaml': web('203.0.113.1', '203.0.113.2') });
  daemon.write('web.yaml', `${web('203.0.113.1', '203.0.113.2')}  - {type: A}\n`);
  await daemon.load();
  daemon.forward(31_000);
  expect(await daemon.contents()).toEqual([]);
  daemon.write('web.yaml', web('203.0.113.1'));
  expect(await daemon.contents()).toEqual([]);
  daemon.forward(3_000);
  const state = await daemon.load();
  expect([contentsIn(state), isMarked(state)]).toEqual([['203.0.113.1'], true]);
});
