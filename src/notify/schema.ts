import { z } from 'zod';
import { differenceSchema } from '../report/report.ts';
import { events } from './health-change.ts';
import { states } from './health.ts';

const timestamp = (description: string) => z.string().meta({ format: 'date-time', description });

const change = z.object({
  event: z
    .enum(events)
    .describe(
      'drift: something differs, or more than before; mended: it was changed at the service, and this pass set it ' +
        'right; held: it waits for a person; failed; unknown: nobody knows what became of a write; cleared: it is ' +
        'in sync again',
    ),
  client: z.string(),
  template: z
    .nullable(z.string())
    .describe('null: the client as a whole, whose passes fail or go through again'),
  templateId: z.nullable(z.int()).describe("the service's id of the template"),
  file: z.nullable(z.string()),
  state: z.enum(states).describe('how it stands now'),
  previous: z.enum(states).describe('how it stood when this receiver last heard of it'),
  merged: z
    .int()
    .min(1)
    .describe(
      'how many changes this one stands for; above 1 where some came while nothing could be delivered',
    ),
  run: z.string().describe('the pass that saw it, as in the log and in the report'),
  at: timestamp('when that pass began'),
  message: z.nullable(z.string()).describe('why it is held or failed'),
  counts: z.object({
    differences: z.int().min(0).describe('what still differs'),
    mended: z.int().min(0).describe('what was changed at the service and has been set right'),
    subdomains: z
      .int()
      .min(0)
      .describe('subdomains behind the template, unreadable, or answered otherwise by name servers'),
  }),
  differences: z
    .array(differenceSchema)
    .describe(
      'as in the report, the weightiest first, then what was mended: ten at the most, long contents cut',
    ),
  subdomains: z.array(z.string()).describe('names of those: ten at the most'),
  link: z.exactOptional(z.string()).describe('the page about it, where publicUrl is set'),
});

/** What a webhook receives. Keys stand in the order in which they are written. */
export const notificationSchema = z
  .object({
    schema: z.literal('dns-template-sync/notification/v1').describe('the form of this message'),
    delivery: z
      .string()
      .describe('the id of this message, as in the header webhook-id; each attempt has the same'),
    createdAt: timestamp('when this message was made; each attempt has the same'),
    changes: z.array(change).min(1).describe('at most one for each template'),
  })
  .describe('News of templates, as a webhook receives them');

export type Notification = z.infer<typeof notificationSchema>;
