import { z } from 'zod';
import { Refusal } from './refusal.ts';

/** What a new record is made of. */
export const RecordFields = z.strictObject({
  type: z.string().min(1),
  content: z.string(),
  name: z.string().nullable().default(null),
  priority: z.int().nullable().default(null),
  ttl: z.int().default(3600),
});

export const EditRecord = z.strictObject({
  record_id: z.int(),
  type: z.string().min(1).exactOptional(),
  content: z.string().exactOptional(),
  name: z.string().nullable().exactOptional(),
  priority: z.int().nullable().exactOptional(),
  ttl: z.int().exactOptional(),
});

export const RemoveRecord = z.strictObject({ record_id: z.int() });

/** The body of a request for a change, or a refusal that says what is wrong with it. */
export const parsed = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const result = schema.safeParse(body);
  if (!result.success) {
    throw new Refusal(422, z.prettifyError(result.error));
  }
  return result.data;
};
