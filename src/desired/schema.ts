import { z } from 'zod';
import { parseDuration } from '../model/duration.ts';
import { hasPriority, recordTypes } from '../model/record.ts';
import { answersChoices, modes, surplusPolicies } from '../model/template.ts';
import { maxUnsigned16 } from '../model/types/srv.ts';
import { allowableChecks } from './check-id.ts';

/**
 * The template language: the only source of the known keys, of their values, and of the JSON Schema for
 * editors (`z.toJSONSchema` with `io: 'input'`).
 */

const maxTtl = 2_147_483_647;

/** Names and contents are text, even if an editor reads a number or a boolean. */
const text = z.union([z.string(), z.number(), z.boolean()]);

/** The program reads text; the other kinds are what an editor reads. A text may hold a variable. */
const textLike = ({ source }: RegExp, error: string) =>
  z.string().regex(new RegExp(`${source}|\\$\\{`), { error });

const wholeNumber = (min: number, max: number) => {
  const error = `a whole number ${max === maxInteger ? `of at least ${min}` : `from ${min} to ${max}`} is needed`;
  return z
    .union([z.int().min(min).max(max), textLike(/^\d{1,15}$/, error)], { error })
    .transform(Number)
    .refine((number) => number >= min && number <= max, { error });
};

const truthError = 'true or false is needed';

const maxInteger = Number.MAX_SAFE_INTEGER;

const ttlError = `a TTL is whole seconds from 0 to ${maxTtl}, or a duration such as 5m, 1h or 1d`;

/** One of some words. */
const choice = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: `${words.slice(0, -1).join(', ')} or ${words.at(-1)} is needed` });

const secondsOf = (ttl: string | number): number => {
  const milliseconds = parseDuration(String(ttl));
  return milliseconds === null ? Number(ttl) : milliseconds / 1_000;
};

export const ttlSchema = z
  .union([z.int().min(0).max(maxTtl), textLike(/^\d{1,15}(?:ms|s|m|h|d)?$/, ttlError)], { error: ttlError })
  .transform(secondsOf)
  .refine((seconds) => Number.isInteger(seconds) && seconds <= maxTtl, { error: ttlError })
  .describe(
    'Seconds, or a duration of whole seconds such as 5m, 1h, 1d. Without one, the TTL is left to the service.',
  );

const typeSchema = z
  .union([z.enum(recordTypes), z.string().regex(anyCase(recordTypes))])
  .describe('The type of the record, in any case.');

export const allowedSchema = z.enum(allowableChecks, {
  error: 'a check that a record can switch off is needed (`schema template` lists them)',
});

/** A key that may be left out, and what editors say of it. */
const key = <Schema extends z.ZodType>(schema: Schema, about: string) => schema.optional().describe(about);

export const recordSchema = z
  .strictObject({
    type: typeSchema,
    name: key(
      text.nullable(),
      'Relative to the subdomain. Absent, null, "" and "@" are the subdomain itself.',
    ),
    content: key(
      z.union([text, z.array(text).min(1)]),
      'What the record says; a list is one record each. SRV: "<weight> <port> <target>".',
    ),
    ttl: ttlSchema.optional(),
    priority: key(
      wholeNumber(0, maxUnsigned16),
      `${recordTypes.filter(hasPriority).join(' and ')} only, and required there.`,
    ),
    weight: key(wholeNumber(0, maxUnsigned16), 'SRV, together with port and target.'),
    port: key(wholeNumber(0, maxUnsigned16), 'SRV, together with weight and target.'),
    target: key(text, 'SRV, together with weight and port: the host that serves.'),
    allow: key(z.array(allowedSchema), 'Checks that are switched off for this record.'),
  })
  .describe('One desired record, or several of one name and type.');

export const ignoreSchema = z
  .strictObject({
    type: typeSchema.optional(),
    name: key(text, '`*` stands for any text, `\\*` for a star, `@` for the subdomain itself.'),
    content: key(text, '`*` stands for any text, `\\*` for a star.'),
  })
  .describe('Records at the service that are left alone: all that is given must match.');

const varsSchema = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/), text)
  .describe('Variables, used as ${name}.');

/** What a template and a fragment have in common. */
const sharedShape = {
  vars: varsSchema.optional(),
  include: key(
    z.array(z.string()),
    'Fragments to include: files whose name starts with _, relative to this file.',
  ),
  ignore: key(z.array(ignoreSchema), 'Records at the service that are left alone and out of the report.'),
  records: key(z.array(recordSchema), 'The desired records.'),
};

export const fragmentSchema = z
  .strictObject(sharedShape)
  .describe('A fragment: what several templates have in common.');

export const limitsSchema = z
  .strictObject({
    maxAdds: key(wholeNumber(0, maxInteger), 'With more adds than this in one pass the template is held.'),
    maxChangePercent: key(
      wholeNumber(0, 100),
      'With changes of more than this percentage of its current records the template is held.',
    ),
    minRecords: key(
      wholeNumber(0, maxInteger),
      'The percentage applies to templates with at least this many current records.',
    ),
  })
  .describe('How much a pass may change before the template is held.');

export const templateSchema = z
  .strictObject({
    template: key(text, "The template's name at the service; may be left out beside an id."),
    id: key(wholeNumber(1, maxInteger), 'Bind the template by its id at the service instead of by its name.'),
    ttl: ttlSchema.optional(),
    mode: key(
      choice(modes),
      'enforce: write every difference; edits: only what an edit of the file caused; report: nothing.',
    ),
    surplus: key(
      choice(surplusPolicies),
      'Records that the file does not list: report them, or park those that it once listed.',
    ),
    adopt: key(
      z
        .union([z.boolean(), textLike(anyCase(['TRUE', 'FALSE']), truthError)], { error: truthError })
        .transform((value) => String(value).toLowerCase())
        .pipe(z.enum(['true', 'false'], { error: truthError }).transform((word) => word === 'true')),
      'Take over a template that already has records; with park, also records that the file never listed.',
    ),
    limits: limitsSchema.optional(),
    subdomains: key(
      z.array(text),
      'Subdomains that are expected to follow this template: checked, never written.',
    ),
    answers: key(choice(answersChoices), 'Ask the name servers of the subdomains what they answer.'),
    nameservers: key(
      z.array(z.string()),
      'The only name servers that are asked, as for split horizon: HOST or HOST:PORT.',
    ),
    ...sharedShape,
  })
  .describe('One DNS template and its desired records.');

export const identitySchema = templateSchema.pick({ template: true, id: true });

/** For editors: keys, kinds of values, ranges. How keys and records relate is for the checks. */
export const templateJsonSchema = (): JsonSchema => jsonSchemaOf(templateSchema);

export const fragmentJsonSchema = (): JsonSchema => jsonSchemaOf(fragmentSchema);

type JsonSchema = z.core.JSONSchema.JSONSchema;

const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === ignoreSchema) jsonSchema.minProperties = 1;
    },
  });

export const isVariableName = (name: string): boolean => varsSchema.keyType.safeParse(name).success;

/** One of the words, in any case. */
export function anyCase(words: readonly string[]): RegExp {
  const spellings = words.map((word) => word.replace(/./g, (letter) => `[${letter}${letter.toLowerCase()}]`));
  return new RegExp(`^(?:${spellings.join('|')})$`);
}
