import { z } from 'zod';
import { recordTypes } from '../model/record.ts';
import { statuses } from '../result.ts';

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
  .describe('who changed: the file (edited), the service (drifted), both, or nobody can tell');
const fields = z
  .array(z.enum(['name', 'content', 'priority', 'ttl']))
  .describe('the parts of the record that differ');

const fate = {
  retryAt: z.exactOptional(timestamp('when a failed write is tried again')),
  outcome: z.exactOptional(
    z
      .enum(['applied', 'failed', 'unknown', 'skipped'])
      .describe('what became of it, where a pass acted on it or held it back'),
  ),
  error: z.exactOptional(described('why the outcome is no success')),
};

/** One difference, as notifications show it too. */
export const differenceSchema = z.discriminatedUnion('action', [
  z
    .object({ action: z.literal('add'), desired: record, cause, source: place, ...fate })
    .describe('The file wants a record that is not there'),
  z
    .object({
      action: z.literal('update'),
      recordId,
      current: record,
      desired: record,
      fields,
      cause,
      source: place,
      ...fate,
    })
    .describe('A record says something else than the file'),
  z
    .object({
      action: z.literal('park'),
      recordId,
      current: record,
      desired: record,
      cause,
      ...fate,
    })
    .describe('A surplus record is moved to a name and content that serve nobody'),
  z
    .object({
      action: z.literal('surplus'),
      recordId,
      current: record,
      reason: z
        .enum(['unlisted', 'duplicate'])
        .describe('unlisted: the file does not name it; duplicate: a copy of a record in use'),
      cause,
      ...fate,
    })
    .describe('A record that the file does not want and that cannot be deleted'),
  z
    .object({
      action: z.literal('blocked'),
      reason: z.enum([
        'cname-conflict',
        'null-mx-conflict',
        'pending-write',
        'not-converging',
        'refused',
        'vanished',
      ]),
      desired: record,
      source: place,
      recordId: z.exactOptional(recordId),
      current: z.exactOptional(record),
      conflicts: z.exactOptional(z.array(z.int()).describe('ids of the records that stand in the way')),
      retryAt: fate.retryAt,
      message: z.string(),
      outcome: fate.outcome,
      error: fate.error,
    })
    .describe('A difference that is not written until a person or a policy clears it'),
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
        'pending: the servers are not of one mind yet, or the last write is young; failed: none could be asked; ' +
          'off: they were not asked',
      ),
    servers: z.array(
      z.object({
        name: z.string(),
        address: described('empty where it has none; with its port unless that is 53'),
        serial: z.nullable(z.int()).describe('of the zone'),
        status: z
          .enum(['in-sync', 'pending', 'drifted', 'lame', 'refused', 'silent', 'failed'])
          .describe('lame: it does not serve the zone with authority; failed: it could not be asked'),
        message: z.nullable(z.string()),
      }),
    ),
    differences: z.array(
      z.object({
        kind: z
          .enum(['missing', 'stale', 'foreign', 'flattened'])
          .describe(
            'foreign: an answer where the service shows no record; flattened: addresses in place of an alias at ' +
              'the apex, which is no drift',
          ),
        server: described('the name of the server'),
        name: described('whole, as it was asked for'),
        type: z.string(),
        desired: z.array(record).describe('what the service shows'),
        current: z.array(record).describe('what the server answers'),
      }),
    ),
  })
  .describe('What the name servers answer, compared with what the service shows of the subdomain');

const subdomain = z.object({
  subdomain: z.string(),
  status: z
    .enum(['in-sync', 'pending', 'drifted', 'failed'])
    .describe('pending: its template was written so recently that it may still follow'),
  message: z.nullable(z.string()),
  differences: z.array(subdomainDifference),
  answers,
});

const status = z.enum(statuses);

const template = z.object({
  client: z.string(),
  template: z.string(),
  id: z.nullable(z.int()).describe("the service's id of the template; null where none was found"),
  file: z.string(),
  revision: z.nullable(z.string()).describe("the git commit of the file's checkout"),
  uncommitted: z.exactOptional(z.literal(true)).describe('only where the file is not what that commit has'),
  status,
  message: z.nullable(z.string()).describe('why it is held or failed'),
  asOf: z.exactOptional(
    z
      .nullable(timestamp('when what stands here was read'))
      .describe(
        'only where the service could not be read: the last known state is shown; null: none is known',
      ),
  ),
  inSync: count('wanted records that are as the file says'),
  parked: count('records that are out of the way'),
  ignored: count('records that are left alone'),
  differences: z.array(differenceSchema),
  subdomains: z.array(subdomain),
});

const summary = z.object({
  templates: count('templates in this report'),
  inSync: count('wanted records that are as their file says'),
  add: count('records to add'),
  update: count('records to change'),
  park: count('surplus records to move out of the way'),
  surplus: count('records that no file wants and that cannot be deleted'),
  blocked: count('differences that are not written until somebody clears them'),
  applied: count('differences that were written; they count nowhere else'),
  differing: count('templates that are not in sync'),
  held: z
    .object({ add: count('adds'), update: count('changes'), park: count('parks') })
    .describe('how many of these a guard, a mode or a pause holds back'),
  heldTemplates: count('templates that wait for a person'),
  failedTemplates: count('templates that could not be read, planned or written'),
  subdomains: count('subdomains looked at'),
  subdomainDifferences: count('differences in them, those that may still follow too'),
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

/** The report as other programs read it. Keys stand in the order in which they are written. */
export const reportSchema = z
  .object({
    schema: z.literal('dns-template-sync/report/v1').describe('the form of this report'),
    run: described('the id of the pass, which its log lines carry too; empty before the first pass'),
    trigger: z
      .enum(['command', 'startup', 'file-change', 'schedule', 'request'])
      .describe('what started the pass'),
    startedAt: timestamp('when the pass started; 1970 before the first pass'),
    durationMs: count('how long the pass took, in milliseconds'),
    dryRun: z.boolean().describe('true: nothing was written'),
    status: status.describe('the worst of all parts: failed, held, drifted, in-sync'),
    summary: summary.describe('counts over all templates'),
    templates: z.array(template).describe('one for each template file and for each that cannot be used'),
    problems: z.array(problem).describe('what is wrong in template files'),
  })
  .describe('What differs between template files and the hosting service, and what was done about it');

type DeepReadonly<T> = { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

export type Report = DeepReadonly<z.infer<typeof reportSchema>>;
export type Summary = Report['summary'];
