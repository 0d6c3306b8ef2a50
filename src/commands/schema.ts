import { z } from 'zod';

type SchemaDocument = z.core.JSONSchema.JSONSchema;

/** Prints the JSON Schema (draft 2020-12) of template files, of the settings file, of clients' files, of reports or of notifications. */
export const schema = async (what: string): Promise<number> => {
  const { $schema, ...rest } = await jsonSchemaOf(what);
  const named = {
    $schema,
    $id: `urn:dns-template-sync:${what}`,
    title: `dns-template-sync ${what}`,
    ...rest,
  };
  process.stdout.write(`${JSON.stringify(named, null, 2)}\n`);
  return 0;
};

const jsonSchemaOf = async (what: string): Promise<SchemaDocument> => {
  switch (what) {
    case 'config':
      return asWritten((await import('../settings/config-schema.ts')).configSchema('either'));
    case 'client':
      return asWritten((await import('../settings/config-schema.ts')).clientFileSchema());
    case 'report':
      return asWritten((await import('../report/report.ts')).reportSchema);
    case 'notification':
      return asWritten((await import('../notify/schema.ts')).notificationSchema);
    default:
      return (await import('../desired/json-schema.ts')).templateJsonSchema();
  }
};

/** The schema of the input, before transforms. */
const asWritten = (source: z.ZodType): SchemaDocument => z.toJSONSchema(source, { io: 'input' });
