import { z } from 'zod';
import type { Table } from './table.ts';
import { clientTable, limitTable, programTable } from './table.ts';

/** The keys that may stand in the mapping at this place. */
export const configKeys = (keys: readonly string[]): readonly string[] => {
  if (keys.at(-1) === 'limits') return Object.keys(limitTable);
  return Object.keys(keys.length === 0 ? configSchema.shape : clientShape);
};

const fileShape = (table: Table): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(table).map(([key, { kind, about }]) => [key, kind.file.optional().describe(about)]),
  );

const never = 'a secret is never written into this file: say {env: NAME} or {file: PATH}';
const secret = (about: string): z.ZodType =>
  z
    .union([z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })], {
      error: never,
    })
    .optional()
    .describe(`${about}: {env: NAME} or {file: PATH}, never the token itself.`);

const mapping = (what: string): { error: string } => ({ error: `expected ${what}` });

const clientShape = {
  ...fileShape(clientTable),
  userToken: secret("The user's token"),
  clientToken: secret("The client's token"),
  limits: z
    .strictObject(fileShape(limitTable), mapping('a mapping'))
    .optional()
    .describe('How far a pass may go before it holds and asks.'),
  vars: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], mapping('text')), mapping('a mapping'))
    .optional()
    .describe('Variables for the template files.'),
};

const clientName = z.string().regex(/^[A-Za-z0-9][\w.-]*$/);
const clients = 'expected at least one client by its name: letters, digits, dots, dashes and underscores';

/** The form of the config file. What a value means is checked where it is read, for all sources alike. */
export const configSchema = z.strictObject(
  {
    ...clientShape,
    ...fileShape(programTable),
    triggerToken: secret('The token that a request for a pass has to carry'),
    clients: z
      .record(clientName, z.strictObject(clientShape, mapping('a mapping')), { error: clients })
      .refine((map) => Object.keys(map).length > 0, { error: clients })
      .optional()
      .describe('Several clients of the service, by name; what one does not set holds as above.'),
  },
  mapping('a mapping of settings'),
);
