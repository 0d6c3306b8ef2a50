import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { fragmentJsonSchema, templateJsonSchema } from '../../src/desired/schema.ts';
import { badFiles, textOf } from '../files/bad-files.ts';
import { standardWeb } from './load-files.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const accepts = ajv.compile(templateJsonSchema());

const folder = join(import.meta.dirname, '../../templates');
const examples = readdirSync(folder).filter((name) => /^[^._].*\.yaml$/.test(name));

test.for([
  ...examples.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const),
  ['every key at once', standardWeb] as const,
])('%s is accepted', ([, text]) => {
  accepts(parse(text));
  expect(accepts.errors ?? []).toEqual([]);
});

test('every key is described', () => {
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

describe('of the bad files', () => {
  /** What keys and kinds of values tell. */
  const shape = /^\d.*(?:unknown-key|wrong-type|unknown-type|ttl-range|priority-range)$/m;

  /** Of which more than keys and kinds of values tells, or which have a mistake of both kinds at one place. */
  const otherwise: ReadonlySet<string> = new Set([
    'empty-content: an empty list',
    'empty-content: null in a list',
    'empty-content: nothing after the colon',
    'priority-range: from a variable',
    'srv-content: a port of its own that is too large',
    'ttl-range: durations that are no TTL',
    'wrong-type: an empty name',
    'wrong-type: neither name nor id',
    'wrong-type: no records',
  ]);

  const read = badFiles().flatMap((one) => {
    const { name, found } = one;
    const documents = parseAllDocuments(textOf(one, 'a.yaml'), { logLevel: 'silent' });
    const isYaml = Array.isArray(documents) && documents.every(({ errors }) => errors.length === 0);
    const values =
      isYaml && !name.startsWith('yaml-') ? documents.map((document): unknown => document.toJS()) : [];
    return values.length > 0 ? [[name, values, shape.test(found.join('\n'))] as const] : [];
  });

  test.for(read)('%s', ([name, values, isShape]) => {
    expect(values.every((value) => accepts(value))).toBe(isShape === otherwise.has(name));
  });

  test('it includes most files that are YAML', () => {
    expect(read.length).toBeGreaterThan(120);
  });
});
