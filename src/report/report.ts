import { z } from 'zod';
import { recordTypes } from '../model/record.ts';
import { statuses, type Report } from '../result.ts';
import { asJson } from '../lib/escape-control.ts';

export type { Report, Summary } from '../result.ts';

const described = (description: string) => z.string().describe(description);
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
  .object({
    file: z.string(),
    line: z.int().min(1),
    column: z.int().min(1),
  })
  .meta({ id: 'Place', description: 'Where a template file says it; lines and columns from 1' });

const recordId = z.int().describe("the service's id of the record");
const cause = z
  .enum(['edited', 'drifted', 'both', 'unknown'])
  .describe('what changed: the file (edited), the service (drifted), both, or unknown');
const surplusReason = z
  .enum(['unlisted', 'duplicate'])
  .describe('unlisted: not in the file; duplicate: a copy of a record in use');
const fields = z
  .array(z.enum(['name', 'content', 'priority', 'ttl']))
  .describe('the parts of the record that differ');

const outcomeFields = {
  write: z.exactOptional(described('the id of the write that was sent for it, as in log and history')),
  retryAt: z.exactOptional(timestamp('when a failed write is retried, or one that waits may be sent')),
  outcome: z.exactOptional(
    z
      .enum(['applied', 'failed', 'unknown', 'skipped'])
      .describe('the outcome, if a pass acted on it or held it back'),
  ),
  skippedBy: z.exactOptional(
    z
      .enum(['mode-report', 'mode-edits', 'not-selected', 'held', 'pass'])
      .describe(
        'present if it was skipped: by `mode`, by --only (not-selected), because its template is held or suspended, or ' +
          'by the pass, which waits or cannot go on',
      ),
  ),
  error: z.exactOptional(described('why it was not applied')),
};

const existing = { recordId, current: record };

/** One difference, also in notifications. */
export const differenceSchema = z.discriminatedUnion('action', [
  z
    .object({ action: z.literal('add'), desired: record, cause, source: place, ...outcomeFields })
    .describe('A record of the file is missing at the service'),
  z
    .object({
      ...{ action: z.literal('update'), ...existing, desired: record, fields, cause, source: place },
      ...outcomeFields,
    })
    .describe('A record differs from the file'),
  z
    .object({ action: z.literal('park'), ...existing, desired: record, cause, ...outcomeFields })
    .describe('A surplus record gets an unused name and inert content'),
  z
    .object({ action: z.literal('surplus'), ...existing, reason: surplusReason, cause, ...outcomeFields })
    .describe('A record that is not in the file and cannot be deleted'),
  z
    .object({
      action: z.literal('blocked'),
      reason: z.enum(['cname-conflict', 'null-mx-conflict', 'not-converging', 'refused', 'vanished']),
      desired: record,
      source: place,
      recordId: z.exactOptional(recordId),
      current: z.exactOptional(record),
      conflicts: z.exactOptional(z.array(z.int()).describe('ids of the conflicting records')),
      message: z.string(),
      ...outcomeFields,
    })
    .describe('A difference that is not written until a person or a policy resolves it'),
]);

const subdomainDifference = z.object({
  kind: z
    .enum(['missing', 'stale', 'foreign'])
    .describe(
      'missing: no record derives from the template record; stale: the derived record differs; ' +
        'foreign: it derives from a record that is not in this template',
    ),
  templateRecord: z.nullable(z.object({ id: z.int(), ...record.shape })),
  record: z.nullable(z.object({ id: z.int(), ...record.shape, templateRecordId: z.nullable(z.int()) })),
  fields: z.array(z.enum(['type', 'name', 'content', 'priority', 'ttl'])),
});

const answers = z
  .object({
    status: z
      .enum(['in-sync', 'pending', 'drifted', 'failed', 'off'])
      .describe(
        'pending: the last write is recent; failed: none could be asked, ' +
          'which does not change the status of the template; off: they were not asked',
      ),
    servers: z.array(
      z.object({
        name: z.string(),
        address: described('with its port unless that is 53; empty if the server has none'),
        serial: z.nullable(z.int()).describe('of the zone'),
        status: z
          .enum(['in-sync', 'pending', 'drifted', 'silent', 'failed'])
          .describe('silent: it does not answer, or not all questions; failed: it could not be asked'),
        message: z.nullable(z.string()),
      }),
    ),
    differences: z.array(
      z.object({
        kind: z
          .enum(['missing', 'stale', 'dangling'])
          .describe('dangling: what the records point at does not exist'),
        server: described('the name of the server; of dangling: the resolver'),
        address: described('its address, as above'),
        name: described('the full name that was asked for'),
        type: z.string(),
        desired: z.array(record).describe('what the service shows'),
        current: z.array(record).describe('what the server answers; of dangling: the records as they are'),
        message: z.exactOptional(described('of dangling: what does not exist')),
      }),
    ),
    askedAt: z.exactOptional(z.string()).describe('when the servers gave these answers'),
    message: z
      .exactOptional(z.string())
      .describe('present if these answers are old: why the servers could not be asked since'),
  })
  .describe('The answers of the name servers, compared with what the service shows');

const subdomain = z.object({
  subdomain: z.string(),
  status: z
    .enum(['in-sync', 'pending', 'drifted', 'failed'])
    .describe('pending: its template was written so recently that it may still be updated'),
  message: z.nullable(z.string()),
  differences: z.array(subdomainDifference),
  answers,
});

const status = z.enum(statuses);

const template = z.object({
  client: z.string(),
  template: z.string(),
  id: z.nullable(z.int()).describe("the service's id of the template; null if none was found"),
  file: z.string(),
  revision: z.nullable(z.string()).describe("the git commit of the file's checkout"),
  status,
  message: z.nullable(z.string()).describe('why it is held, suspended or failed'),
  suspension: z.exactOptional(
    z
      .object({
        by: described('who suspended it'),
        reason: z.string(),
        since: timestamp('when'),
        until: z.nullable(timestamp('when that ends by itself')).describe('null: until somebody resumes it'),
      })
      .describe('present if it is suspended: nothing is written until then'),
  ),
  retryAt: z.exactOptional(
    timestamp('present if something waits until an earlier write has settled: when it has, at the latest'),
  ),
  asOf: z.exactOptional(
    z
      .nullable(timestamp('when this was read'))
      .describe(
        'present if the service could not be read: the last known state is shown; null: none is known',
      ),
  ),
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
  url: z.string().describe('where to see it, by `commitUrl`'),
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
    service: z.exactOptional(
      described('in reports of commands: the digest of base URL and name of its clients'),
    ),
    base: z.exactOptional(
      described('present if template files stood for the saved state: the directory of --base'),
    ),
    run: described('the id of the pass, as in its log lines; empty before the first pass'),
    trigger: z
      .enum(['command', 'startup', 'file-change', 'schedule', 'request'])
      .describe('what started the pass'),
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
      .describe("the commits of the templates' files, with the setting `commitUrl`"),
    unmanaged: z
      .array(unmanaged)
      .default([])
      .describe('templates of the client that no file describes; public ones are not listed'),
  })
  .describe(
    'What differs between template files and the hosting service, and what was done about it',
  ) satisfies z.ZodType<Report>;

/** The report as JSON, with a fixed order of keys. */
export const renderJson = (report: Report): string => asJson(reportSchema.parse(report));
