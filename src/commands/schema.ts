import { z } from 'zod';
import type { Io } from '../io.ts';

/** Prints the JSON Schema (draft 2020-12) of what is named. */
export const schema = async (what = 'template', { stdout }: Pick<Io, 'stdout'>): Promise<number> => {
  const { $schema, ...rest } = await documentOf(what);
  const named = {
    $schema,
    $id: `urn:dns-template-sync:${what}`,
    title: `dns-template-sync ${what}`,
    ...rest,
  };
  stdout.write(`${JSON.stringify(named, null, 2)}\n`);
  return 0;
};

const documentOf = async (what: string): Promise<z.core.JSONSchema.JSONSchema> => {
  // Of the input, before transforms.
  const asWritten = (source: z.ZodType) => z.toJSONSchema(source, { io: 'input' });
  const settings = () => import('../settings/schema.ts');
  switch (what) {
    case 'config':
      return asWritten((await settings()).configSchema({ clients: 'either', mayBeText: false }));
    case 'client':
      return asWritten((await settings()).clientFileSchema());
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
