import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { DesiredRecord } from '../../src/model/record.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import { rowsOf } from '../rows.ts';
import { directoryWith, options } from '../desired/load-files.ts';
import { git, newCheckout } from './checkout.ts';

const defaults = { ...options.defaults, surplus: 'park', adopt: true } as const;

/** Files, what a daemon makes of them, and a clock that starts with that of the files. */
const daemonOver = async (files: Record<string, string>, directory?: string, isOld = true) => {
  const folder = directory ?? (await directoryWith(files));
  let passed = isOld ? 60_000 : 0;
  let set = 0;
  const now = (): number => Date.now() + passed + set;
  const uptime = () => ({ boot: '', at: Math.round(performance.now()) + passed });
  const forward = (milliseconds: number): void => {
    passed += milliseconds;
  };
  const clock = {
    now,
    uptime,
    sleep: async (milliseconds: number): Promise<void> => {
      await Promise.resolve();
      forward(milliseconds);
    },
  };
  const waits: string[] = [];
  const loader = createTemplateLoader({ waits: true, clock, onWait: (file) => waits.push(file) });
  const load = (): Promise<DesiredState> => loader.load({ ...options, defaults, paths: [folder] });
  const first = await load();
  const at = (name: string): string => join(folder, name);
  return {
    first,
    waits,
    load,
    forward,
    /** The clock is set by so much, or the machine has slept. */
    set: (milliseconds: number): void => void (set += milliseconds),
    at,
    passed: () => passed,
    write: (name: string, text: string) => writeFileSync(at(name), text),
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

const restrained =
  'limits:\n  maxAdds: 9\n  maxChangePercent: 9\n  minRecords: 1\nadopt: false\nsurplus: report\n';

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
  'restraints after the records, where the settings have none': [
    `template: web\nrecords:\n${records('192.0.2.1')}${restrained}`,
    `template: web\nrecords:\n${records('192.0.2.2')}${restrained}`,
  ],
  'several templates': [
    `${web('192.0.2.1')}---\ntemplate: mail\nrecords:\n${records('192.0.2.2', '192.0.2.3')}`,
    `${web('192.0.2.11')}---\ntemplate: mail\nrecords:\n${records('192.0.2.2', '192.0.2.33')}`,
  ],
  'no final newline, before and after': [
    'template: web\nrecords:\n- type: A\n  name: a\n  content: 203.0.113.1\n- type: A\n  content: 203.0.113.9',
    'template: web\nrecords:\n- type: A\n  name: a\n  content: 203.0.113.199\n- type: A\n  content: 203.0.113.250',
  ],
};

test.each(Object.entries(uploads))(
  'a slow upload says nothing that the finished file does not say: %s',
  async (_, [before, after]) => {
    const whole = (await daemonOver({ 'a.yaml': after })).first;
    const said = new Set(whole.templates.flatMap((one) => one.records.map(recordOf)));
    const restraints = ({ templates: [one] }: DesiredState): unknown => [
      one?.mode,
      one?.ignore,
      one?.limits,
      one?.adopt,
      one?.surplus,
    ];
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
  },
);

/** `1,2`: the records of a file; then `-`: without a final newline; `!`: with an error; `~`: it only reports; `@`: more are in `_f`. */
const textOf = (name: string, what: string): string => {
  const entries = records(...(what.match(/\d+/g) ?? []).map((one) => `192.0.2.${one}`));
  const head = name === '_f' ? '' : `template: ${name}\n${what.includes('~') ? 'mode: report\n' : ''}`;
  const include = what.includes('@') ? 'include: [_f.yaml]\n' : '';
  const list = /[\d!]/.test(what) ? '' : ' []';
  const text = `${head}${include}records:${list}\n${entries}${what.includes('!') ? '  - {type: A, contend: x}\n' : ''}`;
  return what.endsWith('-') ? text.trimEnd() : text;
};

/**
 * Files, `NAME:WHAT`, name `a` if there is none; the steps of their uploads; and how often it was told that a file waits.
 * The files are old, by a clock that is a minute ahead, or that of files (`live`); `young` ones were written now. Those of `git` are in a checkout, and `linked` ones behind a link. Steps:
 * a file is written in place, `<` anew where one was, as `tar` does, `>` elsewhere, and takes its place; `rm:NAME`; a `commit`; it is quiet
 * (`+ms`), or the clock alone moves (`~ms`). `=1,2`: the records that a daemon then has; `*`: marked as incomplete; `~`: one of its templates only reports.
 */
const courses = rowsOf(`
  a saved edit that drops nothing needs no wait | 1 | 2,3 =2,3 | 0
  nor does one that mends what was wrong | ! | 1 =1 | 0
  without a final newline it waits for 30 s | 1 | 2- =1 +29900 =1 +100 =2 | 1
  unless the version before had none either, and a bracket ends it | 1- | 3- =3 | 0
  what lacks records waits for 3 s, and is marked for 30 s | 1,2 | 1 =1,2 +3000 =1* =1* +27000 =1 | 1
  after its last change | 1,2,3 | 1 =1,2,3 +2900 1,2 =1,2,3 +2900 =1,2,3 +100 =1,2* | 1
  an error waits like what lacks records | 1 | 2! =1 +3000 = | 1
  what replaces it is held against what stood before it | 1,2 | 1,2! =1,2 +31000 = 1 = +3000 =1* | 2
  a wait is told once for each upload | 1 | 2 =2 3- =2 34- =2 +30000 =34 - =34 | 2
  what takes the place of a file needs no wait | 1,2 | >:- = | 0
  but what is written anew in its place, and has no final newline, waits | live 1,2 | <:3,4- =1,2 +30000 =3,4 | 1
  and so does what then lacks records, as at the end of a line | live 1,2 | <:3 =1,2 +3000 =3* +27000 =3 | 1
  nor does what a link leads to | linked 1,2 | >:- = | 0
  nor does what git brings, as soon as the commit moves | git 1,2 | - =1,2 commit = | 1
  also if two changes come at once | git 1 | 1,2 - commit = | 0
  a fragment that is half leaves all templates with it as they are | a:@ b:@ _f:1,2 | _f:3!- =1,2,1,2 _f:1 =1,2,1,2 +3000 =1,1* =1,1* | 1
  a new file is read 3 s after it was written, and drops nothing | live 1 | b: =1 b:9 =1 +3100 =1,9* rm:b +30000 =1 | 1
  a new file that was taken keeps its restraints for 30 s | live 1 | b:2~ =1 +3000 =1,2*~ b:2 =1,2~ +5000 =1,2~ +30000 =1,2 | 2
  without a final newline it is no file for 30 s, which is no error | young 1- | = +30000 =1 | 1
  in a checkout too | young git 1- | = +30000 =1 | 1
  a machine that has slept meanwhile lets nothing half through | 1,2 | 1- =1,2 ~600000 =1,2 +29900 =1,2 +100 =1 | 1
  nor a new file that it had not seen | live 1 | b:9- ~600000 =1 +29000 =1 +1000 =1,9 | 1
  and a clock that is set back by an hour keeps no file waiting for longer | 1,2 | 1- =1,2 ~-3600000 =1,2 +30000 =1 | 1
  nor does it let a new file through | live 1 | b:9- ~-3600000 =1 +29000 =1 +1000 =1,9 | 1`);

test.each(courses)('%s: %s, %s', async (_, given = '', script = '', told = '') => {
  const words = given.split(' ');
  const isIn = (kind: string): boolean => words.includes(kind);
  const root = isIn('git') ? newCheckout() : await directoryWith({});
  rmSync(join(root, 'templates'), { recursive: true, force: true });
  const folder = isIn('linked') ? join(root, '..one') : root;
  const save = (word: string, into = folder): void => {
    const [what = '', name = 'a'] = word.split(':').toReversed();
    mkdirSync(into, { recursive: true });
    writeFileSync(join(into, `${name}.yaml`), textOf(name, what));
  };
  for (const word of words.filter((one) => !/^[a-z]+$/.test(one))) {
    save(word);
    const file = join(folder, `${word.includes(':') ? word.split(':')[0] : 'a'}.yaml`);
    if (isIn('live')) utimesSync(file, 0, 0);
  }
  if (isIn('linked')) {
    symlinkSync('..one', join(root, '..data'));
    symlinkSync('..data/a.yaml', join(root, 'a.yaml'));
  }
  if (isIn('git')) commitAll(root);
  const { load, forward, set, waits } = await daemonOver({}, root, !isIn('young') && !isIn('live'));
  for (const step of script.split(' ')) {
    if (step.startsWith('+')) forward(Number(step));
    else if (step.startsWith('~')) set(Number(step.slice(1)));
    else if (step.startsWith('=')) {
      const state = await load();
      const said = contentsIn(state).map((one) => one.replace('192.0.2.', ''));
      const marks = `${isMarked(state) ? '*' : ''}${state.templates.some(({ mode }) => mode === 'report') ? '~' : ''}`;
      expect([step, `=${said.join()}${marks}`]).toEqual([step, step]);
      expect(await load()).toBe(state);
      if (isIn('young')) expect(state.problems).toEqual([]);
    } else if (step === 'commit') commitAll(root);
    else if (step.startsWith('rm:')) rmSync(join(folder, `${step.slice(3)}.yaml`));
    else if (step.startsWith('<')) {
      renameSync(join(folder, 'a.yaml'), join(root, '..old'));
      save(step.slice(2));
    } else if (step.startsWith('>')) {
      save(step.slice(2), join(root, '..two'));
      // Times of files are as coarse as that.
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (isIn('linked')) symlinkSync('..two', join(root, '..new'));
      const [from, to] = isIn('linked') ? ['..new', '..data'] : ['..two/a.yaml', 'a.yaml'];
      renameSync(join(root, from), join(root, to));
    } else save(step);
  }
  expect(waits).toHaveLength(Number(told));
});

const commitAll = (root: string): void => {
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--allow-empty', '-m', 'more');
};

test('the commit of a checkout says nothing of files beside it', async () => {
  const checkout = newCheckout();
  const folder = dirname(checkout);
  const { load, forward, write } = await daemonOver({}, folder, false);
  write('a.yaml', web('192.0.2.1').trimEnd());
  write('z.yaml', `template: z\nrecords:\n${records('192.0.2.2').trimEnd()}`);
  expect(contentsIn(await load())).toEqual([]);
  commitAll(checkout);
  expect(contentsIn(await load())).toEqual([]);
  forward(30_000);
  expect((await load()).problems).toMatchObject([{ check: 'template-twice' }, { check: 'template-twice' }]);
});

test('the record sets that may be missing are named, and nothing of a new file', async () => {
  const directory = await directoryWith({ 'a.yaml': web('192.0.2.1', '192.0.2.2') });
  utimesSync(join(directory, 'a.yaml'), 0, 0);
  const { load, forward, write } = await daemonOver({}, directory, false);
  write('a.yaml', web('192.0.2.1'));
  write('b.yaml', textOf('b', '9'));
  await load();
  forward(3_100);
  const { templates } = await load();
  expect(templates.map(({ incomplete }) => incomplete?.sets)).toEqual([['A n1'], []]);
});

test('a file is read at once if it was written long ago, or its time says nothing; else the first look waits', async () => {
  const { at, write, load } = await daemonOver({ 'b.yaml': web('192.0.2.1') });
  for (const [name, hours] of [['old', -1] as const, ['future', 24] as const]) {
    write(`${name}.yaml`, `template: ${name}\nrecords: []`);
    const time = Date.now() / 1_000 + hours * 3_600;
    utimesSync(at(`${name}.yaml`), time, time);
  }
  const { templates } = await load();
  expect(templates.map(({ template }) => template)).toEqual(['web', 'future', 'old']);
  const young = await daemonOver({ 'a.yaml': web('192.0.2.1').trimEnd() }, undefined, false);
  expect(young.first).toMatchObject({ templates: [], problems: [], unusable: [], files: 1 });
  expect(young.first.awaited).toBe(young.at('a.yaml'));
  expect(young.passed()).toBeGreaterThan(2_000);
  young.forward(30_000);
  expect((await young.load()).awaited).toBeUndefined();
});

test('a link to the whole directory makes no new file whole; one that is turned does', async () => {
  const [one, two] = [await directoryWith({ 'a.yaml': web('192.0.2.1') }), await directoryWith({})];
  const link = join(await directoryWith({}), 'current');
  symlinkSync(one, link);
  const { load, write } = await daemonOver({}, link, false);
  write('b.yaml', textOf('b', '2-'));
  expect(contentsIn(await load())).toEqual(['192.0.2.1']);
  writeFileSync(join(two, 'c.yaml'), textOf('c', '3-'));
  rmSync(link);
  symlinkSync(two, link);
  expect(contentsIn(await load())).toEqual(['192.0.2.3']);
});

test.each(['', 'a.yaml'])(
  'nor does it make whole what a start finds below it, or what is made anew there: %s',
  async (name) => {
    const folder = await directoryWith({});
    const write = (address: string): void => writeFileSync(join(folder, 'a.yaml'), `${web(address)}ttl: 60`);
    const link = join(await directoryWith({}), 'current');
    write('192.0.2.1');
    symlinkSync(folder, link);
    const { first, load, forward } = await daemonOver({}, join(link, name), false);
    expect(contentsIn(first)).toEqual([]);
    forward(30_000);
    expect(contentsIn(await load())).toEqual(['192.0.2.1']);
    renameSync(join(folder, 'a.yaml'), join(folder, '.old'));
    write('192.0.2.2');
    expect(contentsIn(await load())).toEqual(['192.0.2.1']);
  },
);

test('who does not wait reads what is there', async () => {
  const directory = await directoryWith({ 'a.yaml': web('192.0.2.1', '192.0.2.2') });
  const loader = createTemplateLoader();
  const load = (): Promise<DesiredState> => loader.load({ ...options, paths: [directory] });
  await load();
  writeFileSync(join(directory, 'a.yaml'), web('192.0.2.1').trimEnd());
  const state = await load();
  expect([contentsIn(state), isMarked(state)]).toEqual([['192.0.2.1'], false]);
});
