import { z } from 'zod';
import { Refusal } from './request.ts';

/** The fields of a new record. */
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

/** Parses the body of a request, or throws a refusal that names the error. */
export const parsed = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const result = schema.safeParse(body);
  if (!result.success) {
    throw new Refusal(422, z.prettifyError(result.error));
  }
  return result.data;
};
