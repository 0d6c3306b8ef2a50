import { z } from 'zod';
import { hasPriority, recordTypes, type RecordType } from '../model/record.ts';
import type { TypeDefinition } from '../model/types/definition.ts';
import { definitionOf } from '../model/types/table.ts';
import type { AllowableCheck } from './check-id.ts';
import { anyCase, fragmentSchema, ignoreSchema, recordSchema, templateSchema } from './schema.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * The template language as JSON Schema: keys, kinds of values, ranges, and which keys each record type needs.
 * The checks cover contents and how records relate.
 */
export const templateJsonSchema = (): JsonSchema => jsonSchemaOf(templateSchema);

export const fragmentJsonSchema = (): JsonSchema => jsonSchemaOf(fragmentSchema);

const jsonSchemaOf = (source: z.ZodType): JsonSchema =>
  z.toJSONSchema(source, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === recordSchema) jsonSchema.allOf = recordRules;
      if (zodSchema === ignoreSchema) jsonSchema.minProperties = 1;
      if (zodSchema === templateSchema)
        jsonSchema.allOf = [
          { anyOf: [needs('template'), needs('id')] },
          { anyOf: [needs('records'), needs('include')] },
        ];
    },
  });

const needs = (...keys: string[]): JsonSchema => ({ required: keys });

const refuses = (...keys: string[]): JsonSchema => ({
  properties: Object.fromEntries(keys.map((key) => [key, false])),
});

const isOfType = (...types: RecordType[]): JsonSchema => ({
  properties: { type: { type: 'string', pattern: anyCase(types).source } },
  required: ['type'],
});

const allows = (check: AllowableCheck): JsonSchema => ({
  properties: { allow: { type: 'array', contains: { const: check } } },
  required: ['allow'],
});

const unless = (check: AllowableCheck, rule: JsonSchema): JsonSchema => ({
  if: { not: allows(check) },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: rule,
});

const when = (condition: JsonSchema, ...rules: JsonSchema[]): JsonSchema => ({
  if: condition,
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { allOf: rules },
});

const ownName: JsonSchema = {
  properties: { name: { not: { enum: [null, '', '@'] } } },
  required: ['name'],
};

const withPriority = recordTypes.filter(hasPriority);
const inSections = recordTypes.filter((type) => definitionOf(type).parts !== null);
const named = (rule: TypeDefinition['name']): RecordType[] =>
  recordTypes.filter((type) => definitionOf(type).name === rule);
const otherThan = (types: readonly RecordType[]): RecordType[] =>
  recordTypes.filter((type) => !types.includes(type));

const recordRules: JsonSchema[] = [
  when(isOfType(...withPriority), unless('priority-required', needs('priority'))),
  when(isOfType(...otherThan(withPriority)), refuses('priority')),
  when(isOfType(...otherThan(inSections)), needs('content'), refuses('weight', 'port', 'target')),
  when(isOfType(...inSections), {
    anyOf: [
      { ...needs('content'), ...refuses('weight', 'port', 'target') },
      { ...needs('weight', 'port', 'target'), ...refuses('content') },
    ],
  }),
  when(isOfType(...named('required')), unless('name-required', ownName)),
  when(isOfType(...named('below-apex')), unless('cname-apex', ownName)),
];
