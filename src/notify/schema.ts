import { z } from 'zod';
import { commitSchema, differenceSchema } from '../report-schema.ts';
import { occasions } from '../settings/table.ts';

/** The state of a template, or of a client as a whole. `unknown`: a write has an unknown outcome. */
const states = ['in-sync', 'drifted', 'suspended', 'held', 'failed', 'unknown'] as const;
export type NotifiedState = (typeof states)[number];

const timestamp = (description: string) => z.string().meta({ format: 'date-time', description });

const change = z.object({
  event: z
    .enum([...occasions, 'mended', 'cleared'])
    .describe(
      'drift: something differs, or more than before; mended: it was changed at the service, and this pass ' +
        'corrected it; suspended: somebody lets nothing be written; held: it waits for a person; failed; unknown: a write has an unknown outcome; cleared: it is ' +
        'in sync again',
    ),
  client: z.string(),
  template: z.nullable(z.string()).describe('null: the client as a whole: its passes fail, or succeed again'),
  templateId: z.nullable(z.int()).describe("the service's id of the template"),
  file: z.nullable(z.string()),
  commit: z
    .exactOptional(commitSchema)
    .describe(
      'the commit of its file, as in the report; absent outside of a git checkout and without `commitUrl`',
    ),
  state: z.enum(states).describe('its state now'),
  previous: z.enum(states).describe('its state when this receiver last heard of it'),
  run: z.string().describe('the pass that saw it, as in the log and in the report'),
  at: timestamp('when that pass began'),
  retryAt: z.exactOptional(
    timestamp('as in the report: when an earlier write has settled, for which something waits'),
  ),
  message: z
    .nullable(z.string())
    .describe('why it is held, suspended or failed, or what its records point at that does not exist'),
  counts: z.object({
    differences: z.int().min(0).describe('what still differs'),
    mended: z.int().min(0).describe('what was changed at the service and has been corrected'),
    subdomains: z
      .int()
      .min(0)
      .describe(
        'subdomains that lag behind the template, cannot be read, or have wrong answers from name servers',
      ),
  }),
  differences: z
    .array(differenceSchema)
    .describe(
      'as in the report, the most important first, then what was corrected: at most ten, long contents cut',
    ),
  subdomains: z.array(z.string()).describe('their names: at most ten'),
  link: z.exactOptional(z.string()).describe('the page about it, where publicUrl is set'),
});

/** A change of one template, or of a client as a whole. */
export type NotifiedChange = z.infer<typeof change>;

/** What a webhook receives. */
export const notificationSchema = z
  .object({
    schema: z.literal('dns-template-sync/notification/v1').describe('the format of this message'),
    delivery: z
      .string()
      .describe('the id of this message, as in the header webhook-id; each attempt has the same'),
    createdAt: timestamp('when this message was made; each attempt has the same'),
    changes: z.array(change).min(1).describe('at most one for each template'),
  })
  .describe('Changes of templates, as a webhook receives them');

export type Notification = z.infer<typeof notificationSchema>;
