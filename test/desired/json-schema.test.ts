import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { fragmentJsonSchema, templateJsonSchema } from '../../src/desired/schema.ts';
import { badFiles, textOf } from '../files/bad-files.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const accepts = ajv.compile(templateJsonSchema());

const errorsIn = (value: unknown): readonly unknown[] => {
  accepts(value);
  return accepts.errors ?? [];
};

const templates = join(import.meta.dirname, '../../templates');
const examples = readdirSync(templates).filter((name) => /^[^._].*\.yaml$/.test(name));

test.for(examples)('the example %s is accepted', (name) => {
  expect(errorsIn(parse(readFileSync(join(templates, name), 'utf8')))).toEqual([]);
});

test('the whole language at once is accepted', () => {
  const text = `
template: standard-web
id: 17
ttl: 3600
mode: enforce
surplus: report
adopt: true
limits: {maxChangePercent: 60}
subdomains: [shop.example.net]
vars: {web: 203.0.113.10}
include: [_mail.yaml]
ignore:
  - {type: TXT, name: "_acme-challenge*"}
records:
  - {type: A, content: "\${web}"}
  - {type: A, name: www, content: ["\${web}", 203.0.113.11], ttl: 5m}
  - {type: MX, content: mx1.example.net, priority: 10}
  - {type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net}
  - {type: SRV, name: _sips._tcp, priority: 10, content: "5 5061 sip.example.net"}
  - {type: TXT, content: "v=spf1 mx -all"}
  - {type: CNAME, content: shop.example.org, allow: [cname-apex]}
`;
  expect(errorsIn(parse(text))).toEqual([]);
});

test('every key is described', () => {
  const { properties = {} } = templateJsonSchema();
  for (const [key, property] of Object.entries(properties))
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

describe('a record', () => {
  const accepted = (record: object): boolean => accepts({ template: 'web', records: [record] });

  test.for<[object, boolean]>([
    [{ type: 'mx', content: 'mx.example.net', priority: 10 }, true],
    [{ type: 'A', name: null, content: '192.0.2.1', ttl: 2_147_483_647 }, true],
    [{ type: 'A', content: '192.0.2.1', ttl: 2_147_483_648 }, false],
    [{ type: 'mx', content: 'mx.example.net' }, true],
    [{ type: 'MX', content: 'mx.example.net', allow: ['priority-required'] }, true],
    [{ type: 'MX', content: 'mx.example.net', allow: ['ttl-range'] }, false],
    [{ type: 'TXT', content: 'x', prio: 10 }, false],
    [{ type: 'TXT', content: ['x', ['y']] }, false],
    [{ type: 'NS', content: 'ns.example.net' }, false],
    [{ content: 'x' }, false],
    [{ type: 'TXT', content: ['x', 1.5, true], ttl: '5m' }, true],
    [{ type: 'SRV', name: '_a._tcp', priority: '10', content: '1 2 a.example.net' }, true],
    [
      { type: 'Srv', name: '_a._tcp', priority: 10, weight: 1, port: '${port}', target: 'a.example.net' },
      true,
    ],
    [{ type: 'SRV', name: '_a._tcp', priority: 70_000, weight: 1, port: 2 }, false],
    [{ type: 'CNAME', content: 'a.example.net', allow: ['cname-apex'] }, true],
  ])('%j: %s', ([record, expected]) => {
    expect(accepted(record)).toBe(expected);
  });
});
