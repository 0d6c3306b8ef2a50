import { describe, expect, test } from 'vitest';
import { loadFiles, loadOnce } from './load-files.ts';

/* What a hostile file could make endless work of. A law that does not hold here runs into the time limit of its test. */

const list = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');

describe('includes', () => {
  const chain = (length: number): Record<string, string> =>
    Object.fromEntries([
      ['a.yaml', 'template: a\ninclude: [_0.yaml]\n'],
      ...Array.from({ length }, (_, index) => [
        `_${index}.yaml`,
        index + 1 < length ? `include: [_${index + 1}.yaml]\n` : 'records: [{type: TXT, content: end}]\n',
      ]),
    ]);

  test('nest 32 deep and no deeper', async () => {
    const fine = await loadOnce(chain(32));
    expect(fine.lines).toEqual([]);
    expect(fine.templates[0]?.records).toHaveLength(1);
    expect((await loadOnce(chain(33))).lines).toEqual([
      'templates/_31.yaml:1:11: error: cannot include `_32.yaml`: includes are nested more than 32 deep (included by templates/a.yaml:2:11) [include]',
    ]);
  });

  test('in a chain of 2000 are refused without a crash', async () => {
    const state = await loadFiles({ ...chain(2_000), 'b.yaml': 'template: b\nrecords: []\n' });
    expect(state.problems.map(({ check }) => check)).toEqual(['include']);
    expect(state.templates.map(({ template }) => template)).toEqual(['b']);
  });

  test('are limited in the number of fragments of all templates of a file', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `_${index}.yaml`);
    const state = await loadOnce({
      ...Object.fromEntries(names.map((name, index) => [name, `vars: {x${index}: y}\nrecords: []\n`])),
      'a.yaml': list(30, (index) => `---\ntemplate: a${index}\ninclude: [${names.join(', ')}]`),
    });
    expect(state.templates).toHaveLength(20);
    expect(state.unusable).toHaveLength(10);
    expect(state.lines[0]).toContain('the templates of this file include more than 10000 fragments');
  });
});

test('a fragment that many templates include is limited in its number of records', async () => {
  const state = await loadOnce({
    '_f.yaml': `records:\n${list(20_000, (index) => `- {type: TXT, name: n${index}, content: x}`)}`,
    'a.yaml': list(20, (index) => `---\ntemplate: a${index}\ninclude: [_f.yaml]`),
  });
  expect(state.templates).toHaveLength(12);
  expect(state.lines[0]).toContain('the templates of this file hold more than 250000 records');
});

test('a broken fragment that many templates include is limited in its entries', async () => {
  const state = await loadOnce({
    '_f.yaml': `records:\n- {type: A, contend: x}\nvars:\n${list(5_000, (index) => `  v${index}: x`)}`,
    'a.yaml': list(100, (index) => `---\ntemplate: a${index}\ninclude: [_f.yaml]`),
  });
  expect(state.unusable).toHaveLength(100);
  const tooMany = 'the templates of this file include more than 500000 records, rules and variables';
  expect(state.lines.filter((line) => line.includes(tooMany))).toHaveLength(1);
});

describe('variables', () => {
  test('that are not defined cost little, in any number', async () => {
    const state = await loadOnce({
      'a.yaml': `template: a\nvars:\n${list(10_000, (index) => `  some_long_name_of_a_variable_${index}: x`)}records:\n${list(
        10_000,
        (index) => `- {type: TXT, content: "\${some_lung_name_of_a_variable_${index}}"}`,
      )}`,
    });
    expect(state.problems[0]?.message).toContain('did you mean `some_long_name_of_a_variable_0`?');
    expect(state.problems).toHaveLength(1_001);
    expect(state.unusable).toHaveLength(1);
  });

  test('are limited in their text', async () => {
    const state = await loadOnce({
      'a.yaml': `template: a\nvars: {x: ${'x'.repeat(100_000)}, y: "${'${x}'.repeat(9)}"}\nrecords:\n${list(
        20_000,
        (index) => `- {type: TXT, name: n${index}, content: "\${y}", allow: [txt-length]}`,
      )}`,
    });
    expect(state.templates).toEqual([]);
    expect(state.problems[0]?.message).toBe('the variables of this file expand to a text that is too long');
  });
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
      'b.yaml': `template: b\nrecords:\n- {type: !x A}\n${records(20_000)}`,
    });
    expect(lines).toEqual([
      expect.stringMatching(
        /^templates\/a\.yaml:20003:\d+: error: .*; a file of more than 512 KiB has to be plain/,
      ),
      expect.stringMatching(
        /^templates\/b\.yaml:3:\d+: error: this is not plain YAML; a file of more than 512 KiB/,
      ),
    ]);
  });

  test('with too many values is refused before they are created', async () => {
    const { lines } = await loadOnce({ 'a.yaml': `a: [${'[],'.repeat(1_500_000)}]\n` });
    expect(lines).toEqual([expect.stringContaining('1:3000002: error: the file is too large')]);
  });

  test('with too many templates is refused', async () => {
    const { lines } = await loadOnce({ 'a.yaml': list(50_001, () => '---\ntemplate: a\nrecords: []') });
    expect(lines).toEqual([expect.stringContaining('the file describes more than 50000 templates')]);
  });
});

test('the number of rules with `*` is limited, since each is compared with each record', async () => {
  const { lines } = await loadOnce({
    'a.yaml': `template: a\nignore:\n${list(1_001, (index) => `- {name: "*a${index}"}`)}records: []`,
  });
  expect(lines).toEqual([
    expect.stringContaining(':1003:3: error: the templates of this file ignore by more than 1000'),
  ]);
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
    expect(ofFile(name).length).toBeLessThanOrEqual(3_003);
    expect(ofFile(name).join()).toContain('more than 1000 problems: fix the first ones');
  }
  expect(state.templates).toEqual([]);
});
