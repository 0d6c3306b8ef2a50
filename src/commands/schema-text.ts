import { z } from 'zod';

type SchemaDocument = z.core.JSONSchema.JSONSchema;

/** The JSON Schema (draft 2020-12) of what is named, as text. */
export const schemaText = async (what: string): Promise<string> => {
  const { $schema, ...rest } = await jsonSchemaOf(what);
  const named = { $schema, $id: schemaId(what), title: `dns-template-sync ${what}`, ...rest };
  return `${JSON.stringify(named, null, 2)}\n`;
};

export const schemaId = (what: string): string => `urn:dns-template-sync:${what}`;

const jsonSchemaOf = async (what: string): Promise<SchemaDocument> => {
  switch (what) {
    case 'config':
      return asWritten(
        (await import('../settings/schema.ts')).configSchema({ clients: 'either', mayBeText: false }),
      );
    case 'client':
      return asWritten((await import('../settings/schema.ts')).clientFileSchema());
    case 'report':
      return asWritten((await import('../report/report.ts')).reportSchema);
    case 'notification':
      return asWritten((await import('../notify/schema.ts')).notificationSchema);
    case 'fragment':
      return (await import('../desired/schema.ts')).fragmentJsonSchema();
    default:
      return (await import('../desired/schema.ts')).templateJsonSchema();
  }
};

/** The schema of the input, before transforms. */
const asWritten = (source: z.ZodType): SchemaDocument => z.toJSONSchema(source, { io: 'input' });
