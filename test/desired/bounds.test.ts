import { describe, expect, test } from 'vitest';
import { loadOnce } from './load-files.ts';

/* What a hostile file could make endless work of. A law that does not hold here runs into the time limit of its test. */

const list = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');

test('a chain of 2000 fragments is read', async () => {
  const links = Array.from({ length: 2_000 }, (_, at) => [`_${at}.yaml`, `include: [_${at + 1}.yaml]\n`]);
  const { lines, templates } = await loadOnce({
    ...Object.fromEntries(links),
    'a.yaml': 'template: a\ninclude: [_0.yaml]\n',
    '_2000.yaml': 'records: [{type: TXT, content: end}]\n',
  });
  expect(lines).toEqual([]);
  expect(templates[0]?.records).toHaveLength(1);
});

describe('a file that asks for too much is refused', () => {
  const tooMuch = 'the templates of this file ask for too much, all together';
  const names = Array.from({ length: 500 }, (_, index) => `_${index}.yaml`);
  const shapes: Record<string, Record<string, string>> = {
    'by fragments': {
      ...Object.fromEntries(names.map((name, index) => [name, `vars: {x${index}: y}\nrecords: []\n`])),
      'a.yaml': list(30, (index) => `---\ntemplate: a${index}\ninclude: [${names.join(', ')}]`),
    },
    'by records of a fragment': {
      '_f.yaml': `records:\n${list(20_000, (index) => `- {type: TXT, name: n${index}, content: x}`)}`,
      'a.yaml': list(20, (index) => `---\ntemplate: a${index}\ninclude: [_f.yaml]`),
    },
    'by variables of a broken fragment': {
      '_f.yaml': `records:\n- {type: A, contend: x}\nvars:\n${list(5_000, (index) => `  v${index}: x`)}`,
      'a.yaml': list(200, (index) => `---\ntemplate: a${index}\ninclude: [_f.yaml]`),
    },
    'by the text of variables': {
      'a.yaml': `template: a\nvars: {x: ${'x'.repeat(100_000)}, y: "${'${x}'.repeat(9)}"}\nrecords:\n${list(
        2_000,
        (index) => `- {type: TXT, name: n${index}, content: "\${y}", allow: [txt-length]}`,
      )}`,
    },
    'by patterns, each of which is compared with each record': {
      'a.yaml': `template: a\nignore:\n${list(6_000, (index) => `- {name: "*a${index}"}`)}records:\n${list(100_000, (index) => `- {type: A, name: n${index}, content: 192.0.2.1}`)}`,
    },
    'by aliases of lists': {
      'a.yaml': `template: a\nrecords:\n- &r {type: TXT, content: [${Array.from({ length: 1_000 }, (_, index) => `t${index}`).join(', ')}]}\n${list(1_000, () => '- *r')}`,
    },
  };
  test.for(Object.entries(shapes))('%s', async ([, files]) => {
    const state = await loadOnce(files);
    const lines = state.lines.filter((line) => line.includes(tooMuch));
    expect(lines.length).toBeGreaterThan(0);
    expect(state.unusable.length).toBeGreaterThan(0);
  });
});

test('a file of more than 50,000 templates is refused', async () => {
  const state = await loadOnce({ 'a.yaml': list(50_001, () => '---\ntemplate: a\nrecords: []') });
  expect(state.lines).toContainEqual(expect.stringContaining('more than 50000 templates'));
  expect(state.unusable.length).toBeGreaterThan(0);
});

test('variables that are not defined cost little, in any number', async () => {
  const state = await loadOnce({
    'a.yaml': `template: a\nvars:\n${list(10_000, (index) => `  variable_${index}: x`)}records:\n${list(
      10_000,
      (index) => `- {type: TXT, content: "\${vairable_${index}}"}`,
    )}`,
  });
  expect(state.problems[0]?.message).toContain('did you mean `variable_0`?');
  expect(state.problems.length).toBeLessThanOrEqual(1_001);
  expect(state.unusable).toHaveLength(1);
});

describe('a large file', () => {
  const records = (count: number): string =>
    list(count, (index) => `- {type: A, name: n${index}, content: 192.0.2.1, ttl: 300}`);

  test('of 100,000 records is read', async () => {
    const state = await loadOnce({ 'a.yaml': `template: a\nrecords:\n${records(100_000)}` });
    expect(state.lines).toEqual([]);
    expect(state.templates[0]?.records).toHaveLength(100_000);
  });

  test('gets its first mistake reported, with its position', async () => {
    const { lines } = await loadOnce({
      'a.yaml': `template: a\nrecords:\n${records(20_000)}- {type: A, name: x content: y: z\n- [\n`,
      'b.yaml': `template: b\nrecords:\n- {type: !x A, content: 192.0.2.1}\n${records(20_000)}`,
    });
    expect(lines).toEqual([
      expect.stringMatching(/^templates\/a\.yaml:20003:\d+: error: /),
      expect.stringMatching(/^templates\/b\.yaml:3:10: error: the tag `!x` is not supported/),
    ]);
  });

  test('with too many values is refused before they are created', async () => {
    const { lines } = await loadOnce({ 'a.yaml': `a: [${'[],'.repeat(1_500_000)}]\n` });
    expect(lines).toEqual([expect.stringContaining('1:3000002: error: the file is too large')]);
  });
});

test('long names are not compared letter by letter', async () => {
  const name = 'x'.repeat(8_000);
  const state = await loadOnce({
    'a.yaml': `template: a\nvars:\n${list(30, (index) => `  ? ${name}${index + 10}\n  : y`)}records:\n${list(
      30,
      (index) => `- {type: TXT, content: "\${${name}${index + 50}}"}`,
    )}`,
  });
  expect(state.problems).toHaveLength(30);
  expect(state.problems[0]?.check).toBe('undefined-variable');
});

test('a file with too many problems gets the first ones reported, and that there are more', async () => {
  const state = await loadOnce({
    'a.yaml': `template: a\nrecords:\n${list(5_000, () => '- {type: A, content: 192.0.2.256, contend: x}')}`,
    'b.yaml': list(3_000, (index) => `---\ntemplate: b${index}\nrecords: [!x {}]`),
  });
  const ofFile = (name: string): string[] =>
    state.lines.filter((line) => line.startsWith(`templates/${name}`));
  for (const name of ['a.yaml', 'b.yaml']) {
    expect(ofFile(name).length).toBeLessThanOrEqual(4_001);
    expect(ofFile(name).join()).toContain('have too many problems: fix the first ones');
  }
  expect(state.templates).toEqual([]);
});
