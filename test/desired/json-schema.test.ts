import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { fragmentJsonSchema, templateJsonSchema } from '../../src/desired/schema.ts';
import { badFiles, textOf } from '../files/bad-files.ts';
import { standardWeb } from './load-files.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const accepts = ajv.compile(templateJsonSchema());

test('the examples are accepted, and a file with every key; every key is described', () => {
  const folder = join(import.meta.dirname, '../../templates');
  const examples = readdirSync(folder).filter((name) => /^[^._].*\.yaml$/.test(name));
  expect(examples.length).toBeGreaterThan(0);
  for (const text of [standardWeb, ...examples.map((name) => readFileSync(join(folder, name), 'utf8'))]) {
    accepts(parse(text));
    expect([text, accepts.errors ?? []]).toEqual([text, []]);
  }
  for (const [key, property] of Object.entries(templateJsonSchema().properties ?? {}))
    expect([key, property]).toEqual([key, expect.objectContaining({ description: expect.any(String) })]);
});

test.for<[string, boolean]>([
  ['{}', true],
  ['{vars: {a: 1}, include: [_b.yaml], ignore: [{type: TXT}], records: [{type: A, content: "${a}"}]}', true],
  ['{template: web, records: []}', false],
  ['{ignore: [{}]}', false],
])('of a fragment %s: %s', ([text, expected]) => {
  expect(ajv.validate(fragmentJsonSchema(), parse(text))).toBe(expected);
});

test('of the bad files those are refused that have wrong keys, or wrong kinds of values', () => {
  /** What keys and kinds of values tell. */
  const shape = /^\d.*(?:unknown-key|wrong-type|unknown-type|ttl-range|priority-range)$/m;
  /** Of which more than keys and kinds of values tells, or which have a mistake of both kinds at one place. */
  const otherwise = [
    'empty-content: an empty list',
    'empty-content: nothing after the colon',
    'empty-content: null in a list',
    'priority-range: from a variable',
    'srv-content: a port of its own that is too large',
    'ttl-range: durations that are no TTL',
    'wrong-type: an empty name',
    'wrong-type: neither name nor id',
    'wrong-type: no records',
  ];
  const wrong: string[] = [];
  let count = 0;
  for (const one of badFiles()) {
    const documents = parseAllDocuments(textOf(one, 'a.yaml'), { logLevel: 'silent' });
    const isYaml = Array.isArray(documents) && documents.every(({ errors }) => errors.length === 0);
    if (!isYaml || documents.length === 0 || one.name.startsWith('yaml-')) continue;
    count += 1;
    const isAccepted = documents.every((document) => accepts(document.toJS()));
    if (isAccepted === shape.test(one.found.join('\n'))) wrong.push(one.name);
  }
  expect(wrong.sort()).toEqual(otherwise);
  expect(count).toBeGreaterThan(120);
});
