import { z } from 'zod';
import { suggestion } from '../lib/nearest.ts';
import { parseNameServer } from '../model/address.ts';
import { parseDuration } from '../model/duration.ts';
import { hasPriority, recordTypes } from '../model/record.ts';
import { answersChoices, modes, surplusPolicies } from '../model/template.ts';
import { maxUnsigned16 } from '../model/types/srv.ts';
import { allowableChecks, type CheckId } from './check-id.ts';

/*
 * The template language: the only source of the known keys, of their values, and of the JSON Schema for editors. Files are
 * read with it, where every scalar is text; numbers and booleans are what an editor reads. Metadata goes into the JSON
 * Schema, whose patterns also allow a text with a variable.
 */

/** Which check a wrong value fails, other than `wrong-type`. */
export const checkOfKey: Readonly<Record<string, CheckId>> = {
  type: 'unknown-type',
  ttl: 'ttl-range',
  priority: 'priority-range',
  weight: 'srv-content',
  port: 'srv-content',
  nameservers: 'bad-host',
};

/** Any text: an editor may read it as a number or a boolean. */
export const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** What stands in a file, variables not replaced. */
export const literal = z.string();

export const variableName = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

const textLike = (pattern: RegExp, error: string) =>
  z
    .string()
    .regex(pattern, { error })
    .meta({ pattern: `${pattern.source}|\\$\\{` });

const choice = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: ({ input }) => isNeeded(words, input) });

const isNeeded = (words: readonly string[], given: unknown): string =>
  `${words.slice(0, -1).join(', ')} or ${words.at(-1)} is needed${suggestion(String(given), words)}`;

const truth = z
  .union([z.boolean(), z.enum(['true', 'false'])], { error: 'true or false is needed' })
  .transform((value) => String(value) === 'true');

const maxInteger = Number.MAX_SAFE_INTEGER;

const wholeNumber = (min: number, max: number) => {
  const error = `a whole number ${max === maxInteger ? `of at least ${min}` : `from ${min} to ${max}`} is needed`;
  return z
    .union([z.int().min(min).max(max), textLike(/^\d{1,15}$/, error)], { error })
    .transform(Number)
    .refine((number) => number >= min && number <= max, { error });
};

const maxTtl = 2_147_483_647;

const ttlError = `a TTL is whole seconds from 0 to ${maxTtl}, or a duration such as 5m, 1h or 1d`;

const ttl = z
  .union([z.int().min(0).max(maxTtl), textLike(/^\d{1,15}(?:ms|s|m|h|d)?$/, ttlError)], { error: ttlError })
  .transform((value) => {
    const milliseconds = parseDuration(String(value));
    return milliseconds === null ? Number(value) : milliseconds / 1_000;
  })
  .refine((seconds) => Number.isInteger(seconds) && seconds <= maxTtl, { error: ttlError })
  .describe(
    'Seconds, or a duration of whole seconds such as 5m, 1h, 1d. Without one, the TTL is left to the service.',
  );

const aliasOfApex = 'the A and AAAA records of its target, or a CNAME below the subdomain itself, are needed';

/** Types that look like another one, or do what another one does. */
const otherTypes: ReadonlyMap<unknown, string> = new Map([
  ['SPF', 'a TXT record has an SPF policy'],
  ['DNAME', 'a CNAME for each name below is needed, since no type of the service redirects them all'],
  ['ALIAS', aliasOfApex],
  ['ANAME', aliasOfApex],
]);

const type = z
  .string()
  .transform((word) => word.toUpperCase())
  .pipe(
    z.enum(recordTypes, {
      error: ({ input }) => otherTypes.get(input) ?? isNeeded(recordTypes, input),
    }),
  )
  .meta({
    anyOf: [{ enum: recordTypes }, { pattern: '[a-z]' }],
    description: 'The type of the record, in any case.',
  });

/** A key that may be left out, and what editors say of it. */
const key = <Schema extends z.ZodType>(schema: Schema, about: string) => schema.optional().describe(about);

/** The list is read if there is one. */
export const oneOrMore = z.union([text, z.array(text).min(1)]);

const allowable = z.enum(allowableChecks, {
  error: ({ input }) =>
    `a check that a record can switch off is needed (\`schema template\` lists them)${suggestion(String(input), allowableChecks)}`,
});

const withPriority = recordTypes.filter(hasPriority).join(' and ');

export const recordSchema = z
  .strictObject({
    type,
    name: key(text.nullable(), 'Relative to the subdomain; "@" or none is that itself.'),
    content: key(oneOrMore, 'A list is one record each. SRV: "<weight> <port> <target>".'),
    ttl: ttl.optional(),
    priority: key(wholeNumber(0, maxUnsigned16), `Of ${withPriority}, and required there.`),
    weight: key(wholeNumber(0, maxUnsigned16), 'SRV, together with port and target.'),
    port: key(wholeNumber(0, maxUnsigned16), 'SRV, together with weight and target.'),
    target: key(text, 'SRV, together with weight and port: the host that serves.'),
    allow: key(z.array(allowable), 'Checks that are switched off for this record.'),
  })
  .describe('One desired record, or several of one name and type.');

export const ignoreSchema = z
  .strictObject({
    type: type.optional(),
    name: key(text, '`*` stands for any text, `\\*` for a star, `@` for the subdomain itself.'),
    content: key(text, '`*` stands for any text, `\\*` for a star.'),
  })
  .meta({
    minProperties: 1,
    description: 'Records at the service that are left alone: all that is given must match.',
  });

/** A fragment, and what a template has of it. */
export const fragmentSchema = z
  .strictObject({
    vars: key(z.record(z.string().regex(variableName), text), 'Variables, used as ${name}.'),
    include: key(z.array(literal), 'Fragments: files named _…, relative to this file.'),
    ignore: key(z.array(ignoreSchema), 'Records at the service that are left alone and out of the report.'),
    records: key(z.array(recordSchema), 'The desired records.'),
  })
  .describe('A fragment: what several templates have in common.');

export const limitsSchema = z
  .strictObject({
    maxAdds: key(wholeNumber(0, maxInteger), 'Adds in one pass.'),
    maxChangePercent: key(wholeNumber(0, 100), 'Changes, in percent of its current records.'),
    minRecords: key(wholeNumber(0, maxInteger), 'Records from which on the percentage applies.'),
  })
  .describe('How much a pass may change before the template is held.');

const nameServer = z.string().refine((server) => parseNameServer(server) !== null, {
  error: 'HOST or HOST:PORT (an IPv6 address with a port in brackets) is needed',
});

export const templateSchema = z
  .strictObject({
    template: key(text, "The template's name at the service; may be left out beside an id."),
    id: key(wholeNumber(1, maxInteger), 'Bind the template by its id at the service instead of by its name.'),
    ttl: ttl.optional(),
    mode: key(
      choice(modes),
      'Write every difference, or only those that an edit of the file caused, or none.',
    ),
    surplus: key(
      choice(surplusPolicies),
      'Records that it does not list: report, or park those it once listed.',
    ),
    adopt: key(truth, 'Take over a template with records; with park, also those that were never listed.'),
    limits: limitsSchema.optional(),
    subdomains: key(z.array(z.string()), 'Expected to follow this template: checked, never written.'),
    answers: key(choice(answersChoices), 'Ask the name servers of the subdomains what they answer.'),
    nameservers: key(z.array(nameServer), 'The only ones that are asked: HOST or HOST:PORT.'),
    ...fragmentSchema.shape,
  })
  .describe('One DNS template and its desired records.');

/** For editors: keys, kinds of values, ranges. How keys and records relate is for the checks. */
export const templateJsonSchema = () => z.toJSONSchema(templateSchema, { io: 'input' });

export const fragmentJsonSchema = () => z.toJSONSchema(fragmentSchema, { io: 'input' });
