import { z } from 'zod';
import { asJson } from './lib/escape-control.ts';
import { recordTypes } from './model/record.ts';
import type { Difference } from './plan/difference.ts';
import type { SubdomainDifference } from './plan/subdomains.ts';

const described = (description: string) => z.string().describe(description);
const oneOf = <const Word extends string>(words: readonly Word[], description: string) =>
  z.enum(words).describe(description);
const count = (description: string) => z.int().min(0).describe(description);
const timestamp = (description: string) => z.string().meta({ format: 'date-time', description });

const record = z
  .object({
    type: described(`${recordTypes.join(', ')}, or a type that only the service knows`),
    name: z.nullable(z.string()).describe('null: the subdomain itself'),
    content: described('SRV: weight, port and target'),
    priority: z.nullable(z.int()).describe('null where not stated'),
    ttl: z.nullable(z.int()).describe('seconds; null where not stated'),
  })
  .meta({ id: 'Record', description: 'What a record says; always all five keys' });

const place = z
  .object({ file: z.string(), line: z.int().min(1), column: z.int().min(1) })
  .meta({ id: 'Place', description: 'Where a template file says it; lines and columns from 1' });

const recordId = z.int().describe("the service's id of the record");
const existing = { recordId, current: record };
const cause = oneOf(['edited', 'drifted', 'both', 'unknown'], 'what changed: the file, the service');
const fields = z.array(z.enum(['name', 'content', 'priority', 'ttl'])).describe('the parts that differ');
const surplusReason = oneOf(['unlisted', 'duplicate'], 'not in the file; a copy of a record in use');
const blockReason = z.enum(['cname-conflict', 'null-mx-conflict', 'not-converging', 'refused', 'vanished']);
const outcome = oneOf(['applied', 'failed', 'unknown', 'skipped'], 'if a pass acted on it or held it back');
const skippedBy = oneOf(
  ['mode-report', 'mode-edits', 'not-selected', 'held', 'pass'],
  'by `mode`, by --only (not-selected), because its template is held or suspended, or by the pass, which waits or cannot go on',
);

const ending = {
  write: z.exactOptional(described('the id of the write that was sent for it, as in log and history')),
  retryAt: z.exactOptional(timestamp('when a failed write is retried, or one that waits may be sent')),
  outcome: z.exactOptional(outcome),
  skippedBy: z.exactOptional(skippedBy),
  error: z.exactOptional(described('why it was not applied')),
};

/** One difference, also in notifications. */
export const differenceSchema: z.ZodType<Difference> = z.discriminatedUnion('action', [
  z
    .object({ action: z.literal('add'), desired: record, cause, source: place, ...ending })
    .describe('A record of the file is missing at the service'),
  z
    .object({
      action: z.literal('update'),
      ...existing,
      desired: record,
      fields,
      cause,
      source: place,
      ...ending,
    })
    .describe('A record differs from the file'),
  z
    .object({ action: z.literal('park'), ...existing, desired: record, cause, ...ending })
    .describe('A surplus record gets an unused name and inert content'),
  z
    .object({ action: z.literal('surplus'), ...existing, reason: surplusReason, cause, ...ending })
    .describe('A record that is not in the file and cannot be deleted'),
  z
    .object({
      action: z.literal('blocked'),
      reason: blockReason,
      desired: record,
      source: place,
      recordId: z.exactOptional(recordId),
      current: z.exactOptional(record),
      conflicts: z.exactOptional(z.array(z.int()).describe('ids of the conflicting records')),
      message: z.string(),
      ...ending,
    })
    .describe('A difference that is not written until a person or a policy resolves it'),
]);

const subdomainDifference: z.ZodType<SubdomainDifference> = z.object({
  kind: oneOf(['missing', 'stale', 'foreign'], 'foreign: derived from no record of this template'),
  templateRecord: z.nullable(z.object({ id: z.int(), ...record.shape })),
  record: z.nullable(z.object({ id: z.int(), ...record.shape, templateRecordId: z.nullable(z.int()) })),
  fields: z.array(z.enum(['type', 'name', 'content', 'priority', 'ttl'])),
});

const server = z.object({
  name: z.string(),
  address: described('with its port unless that is 53; empty if the server has none'),
  serial: z.nullable(z.int()).describe('of the zone'),
  status: oneOf(['in-sync', 'pending', 'drifted', 'silent', 'failed'], 'failed: it could not be asked'),
  message: z.nullable(z.string()),
});

const answerDifference = z.object({
  kind: oneOf(['missing', 'stale', 'dangling'], 'dangling: what the records point at does not exist'),
  server: described('the name of the server; of dangling: the resolver'),
  address: described('its address, as above'),
  name: described('the full name that was asked for'),
  type: z.string(),
  desired: z.array(record).describe('what the service shows'),
  current: z.array(record).describe('what the server answers; of dangling: the records as they are'),
  message: z.exactOptional(described('of dangling: what does not exist')),
});

const answers = z
  .object({
    status: oneOf(['in-sync', 'pending', 'drifted', 'failed', 'off'], 'failed: none could be asked'),
    servers: z.array(server),
    differences: z.array(answerDifference),
    askedAt: z.exactOptional(z.string()).describe('when the servers gave these answers'),
    message: z.exactOptional(described('if these answers are old: why the servers could not be asked since')),
  })
  .describe('The answers of the name servers, compared with what the service shows');

const subdomain = z.object({
  subdomain: z.string(),
  status: oneOf(['in-sync', 'pending', 'drifted', 'failed'], 'pending: its template was just written'),
  message: z.nullable(z.string()),
  differences: z.array(subdomainDifference),
  answers,
});

const suspension = z
  .object({
    by: described('who suspended it'),
    reason: z.string(),
    since: timestamp('when'),
    until: z.nullable(timestamp('when that ends by itself')).describe('null: until somebody resumes it'),
  })
  .describe('present if it is suspended: nothing is written until then');

const status = z.enum(['in-sync', 'drifted', 'suspended', 'held', 'failed']);

const message = z.nullable(z.string()).describe('why it is held, suspended or failed');

const template = z.object({
  client: z.string(),
  template: z.string(),
  id: z.nullable(z.int()).describe("the service's id of the template; null if none was found"),
  file: z.string(),
  revision: z.nullable(z.string()).describe("the git commit of the file's checkout"),
  status,
  message,
  suspension: z.exactOptional(suspension),
  retryAt: z.exactOptional(timestamp('when an earlier write has settled, for which something waits')),
  asOf: z
    .exactOptional(z.nullable(timestamp('when this was read')))
    .describe('present if the service could not be read since; null: nothing is known'),
  was: z
    .exactOptional(z.object({ status, message }))
    .describe('its status and message then, or that it was suspended since'),
  inSync: count('desired records that are in sync'),
  parked: count('parked records'),
  ignored: count('ignored records'),
  differences: z.array(differenceSchema),
  subdomains: z.array(subdomain),
});

const summary = z.object({
  templates: count('templates in this report'),
  inSync: count('desired records that are in sync'),
  add: count('records to add'),
  update: count('records to change'),
  park: count('surplus records to park'),
  surplus: count('records that are in no file and cannot be deleted'),
  blocked: count('differences that are not written until somebody resolves them'),
  applied: count('differences that were written; not counted elsewhere'),
  differing: count('templates that are not in sync'),
  held: z
    .object({ add: count('adds'), update: count('changes'), park: count('parks') })
    .describe('how many of these a guard, a mode or a backoff holds back'),
  suspendedTemplates: count('templates that somebody has suspended'),
  heldTemplates: count('templates that wait for a person'),
  failedTemplates: count('templates that could not be read, planned or written'),
  subdomains: count('subdomains that were read'),
  subdomainDifferences: count('differences in them, pending ones too'),
});

const problem = z.object({
  severity: z.enum(['error', 'warning']),
  check: z.string(),
  message: z.string(),
  client: z.string(),
  file: z.nullable(z.string()),
  line: z.nullable(z.int()),
  column: z.nullable(z.int()),
});

/** Also in notifications. */
export const commitSchema = z.object({
  revision: described('its id, as in `revision` of templates'),
  url: described('where to see it, by `commitUrl`'),
});

const unmanaged = z.object({
  client: z.string(),
  template: z.string(),
  id: z.int().describe("the service's id of the template"),
  records: count('its records'),
  hadFile: z.boolean().describe('whether a file described it before, as far as the saved state knows'),
});

/** The report for other programs. Keys are in the order in which they are written. */
export const reportSchema = z
  .object({
    schema: z.literal('dns-template-sync/report/v1').describe('the format of this report'),
    service: z.exactOptional(described('the digest of base URL and name of its clients')),
    base: z.exactOptional(described('the directory of --base, whose files stood for the saved state')),
    run: described('the id of the pass, as in its log lines; empty before the first pass'),
    trigger: oneOf(['command', 'startup', 'file-change', 'schedule', 'request'], 'what started the pass'),
    startedAt: timestamp('when the pass started; 1970 before the first pass'),
    durationMs: count('how long the pass took, in milliseconds'),
    dryRun: z.boolean().describe('true: nothing was written'),
    status: status.describe('the worst of all parts: failed, held, suspended, drifted, in-sync'),
    summary: summary.describe('counts over all templates'),
    templates: z.array(template).describe('one for each template file and for each that cannot be used'),
    problems: z.array(problem).describe("problems of template files, and of clients' settings files"),
    commits: z
      .array(commitSchema)
      .default([])
      .describe("the commits of the templates' files, with `commitUrl`"),
    unmanaged: z.array(unmanaged).default([]).describe("the client's own templates that no file describes"),
  })
  .describe('What differs between template files and the hosting service, and what was done about it');

/** The report as JSON, with a fixed order of keys. */
export const renderJson = (report: unknown): string => asJson(reportSchema.parse(report));
