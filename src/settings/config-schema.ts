import { z } from 'zod';
import type { Table } from './table.ts';
import { clientTable, limitTable, programTable, publicTable } from './table.ts';

/** Schemas take milliseconds to create, and most commands find no config file. */
const lazily = <Made>(make: () => Made): (() => Made) => {
  let made: Made | undefined;
  return () => (made ??= make());
};

/** The keys that are allowed in the mapping at this path. */
export const configKeys = (keys: readonly string[]): readonly string[] => {
  if (keys.at(-1) === 'limits') return Object.keys(limitTable);
  if (keys[0] === 'notify') return Object.keys(notifyEntry().shape);
  return Object.keys(keys.length === 0 ? configSchema('map').shape : clientShape());
};

const fileShape = (table: Table): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(table).map(([key, { kind, about }]) => [key, kind.file().optional().describe(about)]),
  );

const oneOfTwo = 'use either {env: NAME} or {file: PATH}, not both';
const never = 'secrets are not allowed in this file: use {env: NAME} or {file: PATH}';
const reference = lazily(
  () => [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })] as const,
);
const secretError = ({ input }: { readonly input?: unknown }): string =>
  typeof input === 'object' && input !== null && 'env' in input && 'file' in input ? oneOfTwo : never;
const secret = (about: string): z.ZodType =>
  z
    .union(reference(), { error: secretError })
    .optional()
    .describe(`${about}: {env: NAME} or {file: PATH}, never the secret itself.`);

const mapping = (what: string): { error: string } => ({ error: `expected ${what}` });

const clientShape = lazily(() => ({
  ...fileShape(clientTable),
  userToken: secret("The user's token"),
  clientToken: secret("The client's token"),
  limits: z
    .strictObject(fileShape(limitTable), mapping('a mapping'))
    .optional()
    .describe('How much a pass may change before the template is held.'),
  vars: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], mapping('text')), mapping('a mapping'))
    .optional()
    .describe('Variables for the template files.'),
}));

/** What a receiver can subscribe to. */
export const occasions = ['drift', 'suspended', 'held', 'failed', 'unknown'] as const;
export type OccasionSetting = (typeof occasions)[number];

const notifyEntry = lazily(() =>
  z.strictObject(
    {
      type: z
        .enum(['webhook', 'slack'], { error: 'expected webhook or slack' })
        .describe('webhook: JSON as `schema notification` describes it; slack: the format of Slack.'),
      url: z
        .union([z.string(), ...reference()], {
          error: ({ input }) =>
            secretError({ input }) === oneOfTwo
              ? oneOfTwo
              : 'expected an address, {env: NAME} or {file: PATH}',
        })
        .describe(
          'The address. For slack, and with a query, {env: NAME} or {file: PATH}: whoever has it can write there.',
        ),
      secret: z
        .union(reference(), { error: secretError })
        .optional()
        .describe('Signs the messages of a webhook: {env: NAME} or {file: PATH}.'),
      on: z
        .array(z.enum(occasions, { error: `expected one of ${occasions.join(', ')}` }), {
          error: `expected a list out of ${occasions.join(', ')}`,
        })
        .min(1, { error: 'expected at least one' })
        .optional()
        .describe('What to report, each with its end; default: everything.'),
      clients: z
        .array(z.string(), { error: 'expected a list of clients' })
        .min(1, { error: 'expected at least one' })
        .optional()
        .describe('For which clients; default: all.'),
      timeout: z
        .string({ error: 'expected a duration such as 10s' })
        .regex(/^\d{1,6}(ms|s|m)$/, { error: 'expected a duration such as 10s' })
        .optional()
        .describe('Longest wait for an answer; default: 10s.'),
      after: z
        .string({ error: 'expected a duration such as 10m' })
        .regex(/^\d{1,6}(ms|s|m|h|d)$/, { error: 'expected a duration such as 10m' })
        .optional()
        .describe('How long a change has to last before it is sent; default: sent at once.'),
      allowInsecure: z
        .boolean({ error: 'expected true or false' })
        .optional()
        .describe('Allow http: to a host that is not this machine.'),
    },
    mapping('a mapping'),
  ),
);
export type NotifyEntry = z.infer<ReturnType<typeof notifyEntry>>;

export const clientNamePattern = /^[A-Za-z0-9][\w.-]*$/;
const clientName = lazily(() => z.string().regex(clientNamePattern));
const receivers = 'expected a mapping of names: letters, digits, dots, dashes and underscores';

export const notifySchema = lazily(() => z.record(clientName(), notifyEntry(), { error: receivers }));

const clients = 'expected at least one client by its name: letters, digits, dots, dashes and underscores';
const clientPaths = 'expected clients by their names, or the paths of their files such as ./clients/*.yaml';

const clientMap = lazily(() =>
  z
    .record(clientName(), z.strictObject(clientShape(), mapping('a mapping')), { error: clients })
    .refine((map) => Object.keys(map).length > 0, { error: clients }),
);

const clientFiles = lazily(() => {
  const file = z.string({ error: clientPaths }).min(1, { error: clientPaths });
  return z.union([file, z.array(file).min(1, { error: clientPaths })], { error: clientPaths });
});

/** Several clients are in the settings file, by name, or each in a file of its own. */
export type ClientsForm = 'map' | 'files' | 'either';

const clientsSchemas: Readonly<Record<ClientsForm, () => z.ZodType>> = {
  map: clientMap,
  files: clientFiles,
  // The errors of a union would not tell which key is wrong.
  either: () => z.union([clientMap(), clientFiles()]),
};

/** The structure of the config file. Values are checked where they are read, in the same way for all sources. */
export const configSchema = (form: ClientsForm): ReturnType<typeof newConfigSchema> =>
  (configSchemas[form] ??= newConfigSchema(form));

const configSchemas: Partial<Record<ClientsForm, ReturnType<typeof newConfigSchema>>> = {};

const newConfigSchema = (form: ClientsForm) =>
  z.strictObject(
    {
      ...clientShape(),
      ...fileShape(programTable),
      ...fileShape(publicTable),
      triggerToken: secret(
        'The token that asks for passes, suspends and resumes templates, and opens the status page; of at least 16 characters',
      ),
      pageToken: secret(
        'The token that opens the status page and the API, and changes nothing; of at least 16 characters',
      ),
      store: secret('Store for several machines, as postgres://USER:PASSWORD@HOST/DATABASE'),
      notify: notifySchema()
        .optional()
        .describe('Receivers of notifications about drift and about what needs a person, by name.'),
      clients: clientsSchemas[form]()
        .optional()
        .describe(
          'Several clients of the service, by name, or the files that describe one each; the settings above are the defaults.',
        ),
    },
    mapping('a mapping of settings'),
  );

/** The structure of a file with one client. */
export const clientFileSchema = lazily(() =>
  z.strictObject(
    {
      name: z
        .string({ error: badClientName })
        .regex(clientNamePattern, { error: badClientName })
        .optional()
        .describe("The client's name; default: the file's."),
      ...clientShape(),
    },
    mapping('a mapping of settings'),
  ),
);

export const badClientName = 'expected a name of letters, digits, dots, dashes and underscores';
