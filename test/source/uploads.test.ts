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

/**
 * What is written into a file that ended with a newline (`2,3`: records with these addresses; `-`: without a final newline;
 * `!`: with an error at the end), how long it is quiet (`+ms`), and what a daemon then has (`=2,3`; `*`: marked as
 * incomplete). At the end, how often it was told that the file waits.
 */
test.each([
  ['a saved edit that drops nothing needs no wait', '1: 2,3 =2,3', 0],
  ['nor does one that mends what was wrong', '!: 1 =1', 0],
  ['without a final newline it waits for 30 s', '1: 2- =1 +29900 =1 +100 =2', 1],
  ['unless the version before had none either', '1-: 3- =3', 0],
  ['what lacks records waits for 3 s, and is marked for 30 s', '1,2: 1 =1,2 +3000 =1* =1* +27000 =1', 1],
  ['after its last change', '1,2,3: 1 =1,2,3 +2900 1,2 =1,2,3 +2900 =1,2,3 +100 =1,2*', 1],
  ['an error waits like what lacks records', '1: 2! =1 +3000 =', 1],
  ['what replaces it is held against what stood before it', '1,2: 1,2! =1,2 +31000 = 1 = +3000 =1*', 2],
  ['a wait is told once for each upload', '1: 2 =2 3- =2 34- =2 +30000 =34 - =34', 2],
])('%s: %s', async (_, script, told) => {
  const textOf = (what: string): string => {
    const addresses = what.replace(/[-!]/, '').split(',').filter(Boolean);
    const text = web(...addresses.map((one) => `192.0.2.${one}`));
    const whole = what.endsWith('!') ? `${text}  - {type: A, contend: x}\n` : text;
    return what.endsWith('-') ? whole.trimEnd() : whole;
  };
  const [first = '', steps = ''] = script.split(': ');
  const { contents, load, write, forward, waits } = await daemonOver({ 'a.yaml': textOf(first) });
  for (const step of steps.split(' ')) {
    if (step.startsWith('+')) forward(Number(step));
    else if (step.startsWith('=')) {
      const said = (await contents()).map((one) => one.replace('192.0.2.', ''));
      expect([step, `=${said.join()}${isMarked(await load()) ? '*' : ''}`]).toEqual([step, step]);
    } else write('a.yaml', textOf(step));
  }
  expect(waits).toHaveLength(told);
});

describe('no wait is needed', () => {
  const whole = web('192.0.2.1', '192.0.2.2');
  const half = 'template: web\nrecords: []';

  const isTaken = async ({ load }: Awaited<ReturnType<typeof daemonOver>>): Promise<void> => {
    const state = await load();
    expect([contentsIn(state), isMarked(state)]).toEqual([[], false]);
  };

  test('by a file that takes the place of another', async () => {
    const daemon = await daemonOver({ 'a.yaml': whole });
    daemon.write('.new', half);
    renameSync(daemon.at('.new'), daemon.at('a.yaml'));
    await isTaken(daemon);
  });

  test('by a file that a link leads to', async () => {
    const link = { '..data': { link: '..one' }, 'a.yaml': { link: '..data/a.yaml' } };
    const directory = await directoryWith({ '..one/a.yaml': whole, '..two/a.yaml': half, ...link });
    const daemon = await daemonOver({}, directory, false);
    expect(contentsIn(daemon.first)).toHaveLength(2);
    symlinkSync('..two', daemon.at('..new'));
    renameSync(daemon.at('..new'), daemon.at('..data'));
    await isTaken(daemon);
  });

  test('by what git brings, as soon as the commit moves', async () => {
    const checkout = newCheckout();
    const file = join(checkout, 'templates/web.yaml');
    writeFileSync(file, whole);
    const daemon = await daemonOver({}, checkout);
    writeFileSync(file, half);
    expect(await daemon.contents()).toHaveLength(2);
    git(checkout, 'commit', '--quiet', '-am', 'less');
    await isTaken(daemon);
    writeFileSync(file, whole);
    writeFileSync(file, half.slice(0, 9));
    git(checkout, 'commit', '--quiet', '-am', 'both at once');
    expect((await daemon.load()).unusable).toHaveLength(1);
  });
});

test('a fragment that is half leaves all templates with it as they are', async () => {
  const including = (name: string): string => `template: ${name}\ninclude: [_f.yaml]\nrecords: []\n`;
  const { load, contents, write, forward } = await daemonOver({
    'a.yaml': including('a'),
    'b.yaml': including('b'),
    'c.yaml': 'template: c\nrecords: []\n',
    '_f.yaml': `records:\n${records('192.0.2.1', '192.0.2.2')}`,
  });
  write('_f.yaml', `records:\n${records('192.0.2.3')}  - {type: A, con`);
  expect(await contents()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2']);
  write('_f.yaml', `records:\n${records('192.0.2.1')}`);
  expect((await load()).problems).toEqual([]);
  expect(await contents()).toHaveLength(4);
  forward(3_000);
  const state = await load();
  expect(state.templates.map(({ incomplete }) => incomplete?.sets)).toEqual([['A n1'], ['A n1'], undefined]);
  expect(await load()).toBe(state);
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
    for (const [name, hours] of [['old', -1] as const, ['future', 24] as const]) {
      write(`${name}.yaml`, `template: ${name}\nrecords: []`);
      const time = Date.now() / 1_000 + hours * 3_600;
      utimesSync(at(`${name}.yaml`), time, time);
    }
    const { templates } = await load();
    expect(templates.map(({ template }) => template)).toEqual(['web', 'future', 'old']);
  });
});

test('who does not wait reads what is there', async () => {
  const directory = await directoryWith({ 'a.yaml': web('192.0.2.1', '192.0.2.2') });
  const loader = createTemplateLoader();
  const load = (): Promise<DesiredState> => loader.load({ ...options, paths: [directory] });
  await load();
  writeFileSync(join(directory, 'a.yaml'), web('192.0.2.1').trimEnd());
  const state = await load();
  expect([contentsIn(state), isMarked(state)]).toEqual([['192.0.2.1'], false]);
});
