import { z } from 'zod';
import {
  clientSecrets,
  clientTable,
  limitTable,
  programTable,
  secretTable,
  type SecretKey,
  type Table,
} from './table.ts';

/*
 * The structure of the files with settings. Values are checked where they are read, in the same way for all sources.
 * Schemas take milliseconds to make, and most commands find no file.
 */

/** How a file names a secret: never by its value. A program may give it as a text. */
export type SecretReference = string | { readonly env: string } | { readonly file: string };

/** What a receiver can subscribe to. */
export const occasions = ['drift', 'suspended', 'held', 'failed', 'unknown'] as const;

const oneOfTwo = 'use either {env: NAME} or {file: PATH}, not both';
const never = 'secrets are not allowed in this file: use {env: NAME} or {file: PATH}';

const expected = (what: string): { readonly error: string } => ({ error: `expected ${what}` });
const mapping = expected('a mapping, with lines such as KEY: VALUE');

const fieldsOf = (table: Table): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(table).map(([key, { kind, about }]) => [key, kind.form().optional().describe(about)]),
  );

const references = () =>
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })] as const;

/** `otherwise`: what is said about what is no reference. */
const secretError =
  (otherwise: string) =>
  ({ input }: { readonly input?: unknown }): string =>
    typeof input === 'object' && input !== null && 'env' in input && 'file' in input ? oneOfTwo : otherwise;

const secretFields = (keys: readonly SecretKey[], mayBeText: boolean): Record<string, z.ZodType> =>
  Object.fromEntries(
    keys.map((key) => [
      key,
      z
        .union([...references(), ...(mayBeText ? [z.string()] : [])], { error: secretError(never) })
        .optional()
        .describe(`${secretTable[key]}: {env: NAME} or {file: PATH}, never the secret itself.`),
    ]),
  );

const clientFields = (mayBeText: boolean): Record<string, z.ZodType> => ({
  ...fieldsOf(clientTable),
  ...secretFields(clientSecrets, mayBeText),
  limits: z
    .strictObject(fieldsOf(limitTable), mapping)
    .optional()
    .describe('How much a pass may change before the template is held.'),
  vars: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], expected('text')), mapping)
    .optional()
    .describe('Variables for the template files.'),
});

const durationText = (example: string, units: string): z.ZodString =>
  z
    .string(expected(`a duration such as ${example}`))
    .regex(new RegExp(`^\\d{1,6}(${units})$`), expected(`a duration such as ${example}`));

const receiver = () =>
  z.strictObject(
    {
      type: z
        .enum(['webhook', 'slack'], expected('webhook or slack'))
        .describe('webhook: JSON as `schema notification` describes it; slack: the format of Slack.'),
      url: z
        .union([z.string(), ...references()], {
          error: secretError('expected an address, {env: NAME} or {file: PATH}'),
        })
        .describe(
          'The address. For slack, and with a query, {env: NAME} or {file: PATH}: whoever has it can write there.',
        ),
      secret: z
        .union(references(), { error: secretError(never) })
        .optional()
        .describe('Signs the messages of a webhook: {env: NAME} or {file: PATH}.'),
      on: z
        .array(
          z.enum(occasions, expected(`one of ${occasions.join(', ')}`)),
          expected(`a list out of ${occasions.join(', ')}`),
        )
        .min(1, expected('at least one'))
        .optional()
        .describe('What to report, each with its end; default: everything.'),
      clients: z
        .array(z.string(), expected('a list of clients'))
        .min(1, expected('at least one'))
        .optional()
        .describe('For which clients; default: all.'),
      timeout: durationText('10s', 'ms|s|m').optional().describe('Longest wait for an answer; default: 10s.'),
      after: durationText('10m', 'ms|s|m|h|d')
        .optional()
        .describe('How long a change has to last before it is sent; default: sent at once.'),
      allowInsecure: z
        .boolean(expected('true or false'))
        .optional()
        .describe('Allow http: to a host that is not this machine.'),
    },
    mapping,
  );
export type Receiver = z.infer<ReturnType<typeof receiver>>;

const nameText = 'letters, digits, dots, dashes and underscores';
export const badClientName = `expected a name of ${nameText}`;
export const clientName = /^[A-Za-z0-9][\w.-]*$/;
const name = () => z.string().regex(clientName);

export const receiversSchema = () =>
  z.record(name(), receiver(), expected(`a mapping of names: ${nameText}`));

/** Several clients are in the settings file, by name, or each in a file of its own. */
type ClientsForm = 'map' | 'files' | 'either';

const clientsOf = (form: ClientsForm, mayBeText: boolean): z.ZodType => {
  const atLeastOne = expected(`at least one client by its name: ${nameText}`);
  const map = z
    .record(name(), z.strictObject(clientFields(mayBeText), mapping), {
      error: ({ code }) => (code === 'invalid_key' ? badClientName : atLeastOne.error),
    })
    .refine((clients) => Object.keys(clients).length > 0, atLeastOne);
  const asPaths = expected('clients by their names, or the paths of their files such as ./clients/*.yaml');
  const file = z.string(asPaths).min(1, asPaths);
  const files = z.union([file, z.array(file).min(1, asPaths)], asPaths);
  // The errors of a union would not tell which key is wrong.
  return form === 'map' ? map : form === 'files' ? files : z.union([map, files]);
};

export interface ConfigForm {
  readonly clients: ClientsForm;
  /** Whether secrets may be texts. */
  readonly mayBeText: boolean;
}

/** The structure of the settings file. */
export const configSchema = ({ clients, mayBeText }: ConfigForm) =>
  z.strictObject(
    {
      ...clientFields(mayBeText),
      ...fieldsOf(programTable),
      ...secretFields(['triggerToken', 'pageToken', 'store'], mayBeText),
      notify: receiversSchema()
        .optional()
        .describe('Receivers of notifications about drift and about what needs a person, by name.'),
      clients: clientsOf(clients, mayBeText)
        .optional()
        .describe(
          'Several clients of the service, by name, or the files that describe one each; the settings above are the defaults.',
        ),
    },
    expected('a mapping of settings, with lines such as mode: report'),
  );

/** The structure of a file with one client. */
export const clientFileSchema = (): z.ZodType => (ofOneClient ??= newClientFileSchema());

/** There may be thousands of files. */
let ofOneClient: z.ZodType | null = null;

const newClientFileSchema = () =>
  z.strictObject(
    {
      name: z
        .string({ error: badClientName })
        .regex(clientName, { error: badClientName })
        .optional()
        .describe("The client's name; default: the file's."),
      ...clientFields(false),
    },
    expected('a mapping of settings, with lines such as mode: report'),
  );

/** The keys that a file, a client or the mapping at this path may have. */
export const keysAt = (path: readonly string[]): readonly string[] => {
  if (path.at(-1) === 'limits') return Object.keys(limitTable);
  if (path[0] === 'notify') return Object.keys(receiver().shape);
  const ofClient = [...Object.keys(clientTable), ...clientSecrets, 'limits', 'vars'];
  return path.length > 0
    ? ofClient
    : [...new Set([...ofClient, ...Object.keys({ ...programTable, ...secretTable })]), 'notify', 'clients'];
};
