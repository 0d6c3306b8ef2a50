import { expect, test } from 'vitest';
import { loadOnce } from './load-files.ts';

/* What a hostile file could make endless work of. A law that does not hold here runs into the time limit of its test. */

const list = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');

const templates = (count: number, rest: string): string =>
  list(count, (index) => `---\ntemplate: a${index}\n${rest}`);

const records = (count: number): string =>
  list(count, (index) => `- {type: A, name: n${index}, content: 192.0.2.1, ttl: 300}`);

const tooMuch = 'the templates of this file ask for too much, all together';
const fragments = Array.from({ length: 500 }, (_, index) => `_${index}.yaml`);
const words = Array.from({ length: 1_000 }, (_, index) => `t${index}`).join(', ');

test.for<[shape: string, says: string, files: Record<string, string>]>([
  [
    'fragments',
    tooMuch,
    {
      ...Object.fromEntries(fragments.map((name, at) => [name, `vars: {x${at}: y}\nrecords: []\n`])),
      'a.yaml': templates(30, `include: [${fragments.join(', ')}]`),
    },
  ],
  [
    'records of a fragment, in aliases of lists',
    tooMuch,
    {
      '_f.yaml': `records:\n- &r {type: TXT, content: [${words}]}\n${list(20, () => '- *r')}`,
      'a.yaml': templates(20, 'include: [_f.yaml]'),
    },
  ],
  [
    'variables of a broken fragment',
    tooMuch,
    {
      '_f.yaml': `records:\n- {type: A, contend: x}\nvars:\n${list(5_000, (index) => `  v${index}: x`)}`,
      'a.yaml': templates(200, 'include: [_f.yaml]'),
    },
  ],
  [
    'the text of variables',
    tooMuch,
    {
      'a.yaml': `template: a\nvars: {x: ${'x'.repeat(100_000)}, y: "${'${x}'.repeat(9)}"}\nrecords:\n${list(
        2_000,
        (index) => `- {type: TXT, name: n${index}, content: "\${y}", allow: [txt-length]}`,
      )}`,
    },
  ],
  [
    'patterns, each of which is compared with each record',
    tooMuch,
    {
      'a.yaml': `template: a\nignore:\n${list(30_000, (index) => `- {name: "*a${index}"}`)}records:\n${records(20_000)}`,
    },
  ],
  ['templates', 'more than 50000 templates', { 'a.yaml': templates(50_001, '') }],
  ['values', '1:3000002: error: the file is too large', { 'a.yaml': `a: [${'[],'.repeat(1_500_000)}]\n` }],
])('a file with too many %s is refused', async ([, says, files]) => {
  const { lines, unusable } = await loadOnce(files);
  expect(lines).toContainEqual(expect.stringContaining(says));
  expect(unusable.length).toBeGreaterThan(0);
});

test('a chain of 2000 fragments is read, and a file of 100,000 records', async () => {
  const links = Array.from({ length: 2_000 }, (_, at) => [`_${at}.yaml`, `include: [_${at + 1}.yaml]\n`]);
  const state = await loadOnce({
    ...Object.fromEntries(links),
    'a.yaml': 'template: a\ninclude: [_0.yaml]\n',
    '_2000.yaml': 'records: [{type: TXT, content: end}]\n',
    'b.yaml': `template: b\nrecords:\n${records(100_000)}`,
  });
  expect(state.lines).toEqual([]);
  expect(state.templates.map((one) => one.records.length)).toEqual([1, 100_000]);
});

test('variables that are not defined cost little, in any number and of any length', async () => {
  const name = 'x'.repeat(8_000);
  const { problems, unusable } = await loadOnce({
    'a.yaml': `template: a\nvars:\n${list(10_000, (index) => `  variable_${index}: x`)}records:\n${list(
      10_000,
      (index) => `- {type: TXT, content: "\${vairable_${index}}"}`,
    )}`,
    'b.yaml': `template: b\nvars:\n${list(30, (index) => `  ? ${name}${index + 10}\n  : y`)}records:\n${list(
      30,
      (index) => `- {type: TXT, content: "\${${name}${index + 50}}"}`,
    )}`,
  });
  expect(problems[0]?.message).toContain('did you mean `variable_0`?');
  const [many, long] = ['a.yaml', 'b.yaml'].map((end) => problems.filter(({ file }) => file?.endsWith(end)));
  expect(many!.length).toBeLessThanOrEqual(1_001);
  expect(long!.map(({ check }) => check)).toEqual(Array.from({ length: 30 }, () => 'undefined-variable'));
  expect(unusable).toHaveLength(2);
});

test('a large file gets its first mistake reported, with its position', async () => {
  const { lines } = await loadOnce({
    'a.yaml': `template: a\nrecords:\n${records(20_000)}- {type: A, name: x content: y: z\n- [\n`,
    'b.yaml': `template: b\nrecords:\n- {type: !x A, content: 192.0.2.1}\n${records(20_000)}`,
  });
  expect(lines).toEqual([
    expect.stringMatching(/^templates\/a\.yaml:20003:\d+: error: /),
    expect.stringMatching(/^templates\/b\.yaml:3:10: error: the tag `!x` is not supported/),
  ]);
});

test('a file with too many problems gets the first ones reported, and that there are more', async () => {
  const state = await loadOnce({
    'a.yaml': `template: a\nrecords:\n${list(5_000, () => '- {type: A, content: 192.0.2.256, contend: x}')}`,
    'b.yaml': templates(3_000, 'records: [!x {}]'),
  });
  for (const name of ['a.yaml', 'b.yaml']) {
    const told = state.lines.filter((line) => line.startsWith(`templates/${name}`));
    expect(told.length).toBeLessThanOrEqual(4_001);
    expect(told.join()).toContain('have too many problems: fix the first ones');
  }
  expect(state.templates).toEqual([]);
});
