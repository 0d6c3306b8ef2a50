import { z } from 'zod';
import { parseDuration } from '../model/duration.ts';
import { hasPriority, recordTypes } from '../model/record.ts';
import { answersChoices, modes, surplusPolicies } from '../model/template.ts';
import { maxUnsigned16 } from '../model/unsigned16.ts';
import { allowableChecks } from './check-id.ts';

/**
 * The template language: the only source of the known keys, of their values, and of the JSON Schema for
 * editors (`z.toJSONSchema` with `io: 'input'`).
 */

export const maxTtl = 2_147_483_647;

/** Names and contents are text, even if YAML reads a number or a boolean. */
const text = z.union([z.string(), z.number(), z.boolean()]);

/** A number may be given by a variable, so text with a variable is allowed. */
const withVariable = (error: string) => z.string().regex(/\$\{/, { error });

const integer = (min: number, max: number, error: string) =>
  z.int({ error }).min(min, { error }).max(max, { error });

const wholeNumber = (min: number, max: number) => {
  const error = `a whole number ${max === maxInteger ? `of at least ${min}` : `from ${min} to ${max}`} is needed`;
  return z
    .union([integer(min, max, error), z.string().regex(/^\d{1,15}$/, { error }), withVariable(error)], {
      error,
    })
    .transform(Number)
    .refine((number) => number >= min && number <= max, { error });
};

const truthError = 'true or false is needed';

const maxInteger = Number.MAX_SAFE_INTEGER;

const ttlError = `a TTL is whole seconds from 0 to ${maxTtl}, or a duration such as 5m, 1h or 1d`;

const secondsOf = (ttl: string | number): number => {
  const milliseconds = parseDuration(String(ttl));
  return milliseconds === null ? Number(ttl) : milliseconds / 1_000;
};

export const ttlSchema = z
  .union(
    [
      integer(0, maxTtl, ttlError),
      z.string().regex(/^\d{1,15}(?:ms|s|m|h|d)?$/, { error: ttlError }),
      withVariable(ttlError),
    ],
    {
      error: ttlError,
    },
  )
  .transform(secondsOf)
  .refine((seconds) => Number.isInteger(seconds) && seconds <= maxTtl, { error: ttlError })
  .describe(
    'Seconds, or a duration of whole seconds such as 5m, 1h, 1d. Without one, the TTL is left to the service.',
  );

const typeSchema = z
  .union([z.enum(recordTypes), z.string().regex(anyCase(recordTypes))])
  .describe('The type of the record, in any case.');

export const recordSchema = z
  .strictObject({
    type: typeSchema,
    name: text
      .nullable()
      .optional()
      .describe('Relative to the subdomain. Absent, null, "" and "@" are the subdomain itself.'),
    content: z
      .union([text, z.array(text).min(1)])
      .optional()
      .describe('What the record says; a list is one record each. SRV: "<weight> <port> <target>".'),
    ttl: ttlSchema.optional(),
    priority: wholeNumber(0, maxUnsigned16)
      .optional()
      .describe(`${recordTypes.filter(hasPriority).join(' and ')} only, and required there.`),
    weight: wholeNumber(0, maxUnsigned16).optional().describe('SRV, together with port and target.'),
    port: wholeNumber(0, maxUnsigned16).optional().describe('SRV, together with weight and target.'),
    target: text.optional().describe('SRV, together with weight and port: the host that serves.'),
    allow: z
      .array(z.enum(allowableChecks))
      .optional()
      .describe('Checks that are switched off for this record.'),
  })
  .describe('One desired record, or several of one name and type.');

export const ignoreSchema = z
  .strictObject({
    type: typeSchema.optional(),
    name: text
      .optional()
      .describe('`*` stands for any text, `\\*` for a star, `@` for the subdomain itself.'),
    content: text.optional().describe('`*` stands for any text, `\\*` for a star.'),
  })
  .describe('Records at the service that are left alone: all that is given must match.');

const varsSchema = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/), text)
  .describe('Variables, used as ${name}.');

/** What a template and a fragment have in common. */
const sharedShape = {
  vars: varsSchema.optional(),
  include: z
    .array(z.string())
    .optional()
    .describe('Fragments to include: files whose name starts with _, relative to this file.'),
  ignore: z
    .array(ignoreSchema)
    .optional()
    .describe('Records at the service that are left alone and out of the report.'),
  records: z.array(recordSchema).optional().describe('The desired records.'),
};

export const fragmentSchema = z
  .strictObject(sharedShape)
  .describe('A fragment: what several templates have in common.');

export const limitsSchema = z
  .strictObject({
    maxAdds: wholeNumber(0, maxInteger)
      .optional()
      .describe('With more adds than this in one pass the template is held.'),
    maxChangePercent: wholeNumber(0, 100)
      .optional()
      .describe('With changes of more than this percentage of its current records the template is held.'),
    minRecords: wholeNumber(0, maxInteger)
      .optional()
      .describe('The percentage applies to templates with at least this many current records.'),
  })
  .describe('How much a pass may change before the template is held.');

export const templateSchema = z
  .strictObject({
    template: text.optional().describe("The template's name at the service; may be left out beside an id."),
    id: wholeNumber(1, maxInteger)
      .optional()
      .describe('Bind the template by its id at the service instead of by its name.'),
    ttl: ttlSchema.optional(),
    mode: z
      .enum(modes)
      .optional()
      .describe(
        'enforce: write every difference; edits: only what an edit of the file caused; report: nothing.',
      ),
    surplus: z
      .enum(surplusPolicies)
      .optional()
      .describe('Records that the file does not list: report them, or park those that it once listed.'),
    adopt: z
      .union([z.boolean(), z.enum(['true', 'false']), withVariable(truthError)], { error: truthError })
      .transform(String)
      .pipe(z.enum(['true', 'false'], { error: truthError }).transform((word) => word === 'true'))
      .optional()
      .describe(
        'Take over a template that already has records; with park, also records that the file never listed.',
      ),
    limits: limitsSchema.optional(),
    window: z
      .string()
      .optional()
      .describe(
        'When changes may be written, such as Mon-Thu 08:00-16:00 Europe/Berlin; several are separated by `;`; always: at any time.',
      ),
    subdomains: z
      .array(text)
      .optional()
      .describe('Subdomains that are expected to follow this template: checked, never written.'),
    answers: z
      .enum(answersChoices)
      .optional()
      .describe('Ask the name servers of the subdomains what they answer.'),
    nameservers: z
      .array(z.string())
      .optional()
      .describe('The only name servers that are asked, as for split horizon: HOST or HOST:PORT.'),
    ...sharedShape,
  })
  .describe('One DNS template and its desired records.');

export const isVariableName = (name: string): boolean => varsSchema.keyType.safeParse(name).success;

/** One of the words, in any case. */
export function anyCase(words: readonly string[]): RegExp {
  const spellings = words.map((word) => word.replace(/./g, (letter) => `[${letter}${letter.toLowerCase()}]`));
  return new RegExp(`^(?:${spellings.join('|')})$`);
}
