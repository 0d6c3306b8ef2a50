import { z } from 'zod';

/* What the fields of the service's resources are made of, tolerant of the ways in which a service may write them. */

export const wholeNumber = z.union(
  [
    z.int(),
    z
      .string()
      .regex(/^-?\d{1,16}$/)
      .transform(Number)
      .pipe(z.int()),
  ],
  { error: 'is not a whole number' },
);
/** Null where there is none. */
export const optionalNumber = z
  .union([wholeNumber, z.literal('').transform(() => null), z.null()], {
    error: 'is neither a whole number nor null',
  })
  .optional()
  .transform((value) => value ?? null);
export const text = z.union([z.string(), z.number().transform(String)], { error: 'is not text' });
/** Null where there is none. */
export const optionalText = text.nullish().transform((value) => value ?? null);
export const listOf = <S extends z.ZodType>(element: S) => z.array(element, { error: 'is not an array' });
/** Empty where there is none. */
export const optionalListOf = <S extends z.ZodType>(element: S) =>
  listOf(element)
    .nullish()
    .transform((list) => list ?? []);
