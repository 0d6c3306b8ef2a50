import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  fragmentSchema,
  ignoreSchema,
  limitsSchema,
  recordSchema,
  templateSchema,
} from '../../src/desired/schema.ts';

describe('a JSON Schema can be generated from the language', () => {
  const schemas = { templateSchema, fragmentSchema, recordSchema, ignoreSchema, limitsSchema };

  test.for(Object.entries(schemas))('with a description of every key: %s', ([, schema]) => {
    const { properties, additionalProperties, description } = z.toJSONSchema(schema, { io: 'input' });
    const described = Object.values(properties ?? {}).filter(
      (property) => typeof property === 'object' && property.description !== undefined,
    );
    expect(described).toHaveLength(Object.keys(schema.shape).length);
    expect(additionalProperties).toBe(false);
    expect(description).toBeTypeOf('string');
  });

  test('that distinguishes numbers from texts', () => {
    const { properties } = z.toJSONSchema(recordSchema, { io: 'input' });
    expect(properties?.['ttl']).toMatchObject({
      anyOf: [{ type: 'integer', minimum: 0, maximum: 2_147_483_647 }, { type: 'string' }],
    });
    expect(properties?.['name']).toMatchObject({ type: ['string', 'number', 'boolean', 'null'] });
    expect(properties?.['priority']).toMatchObject({ anyOf: [{ minimum: 0, maximum: 65_535 }, {}] });
  });
});
