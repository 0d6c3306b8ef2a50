import { z } from 'zod';

/* The types of the fields of the service's resources, tolerant of different forms. */

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
/** Null if there is none. */
export const optionalNumber = z
  .union([wholeNumber, z.literal('').transform(() => null), z.null()], {
    error: 'is neither a whole number nor null',
  })
  .optional()
  .transform((value) => value ?? null);
export const text = z.union([z.string(), z.number().transform(String)], { error: 'is not text' });
/** Null if there is none. */
export const optionalText = text.nullish().transform((value) => value ?? null);
/**
 * Reads element by element until a few are invalid: a malformed answer may have a million errors. `plain` is
 * a faster parser for most elements; null for the others.
 */
export const listOf = <S extends z.ZodType>(
  element: S,
  plain: (value: unknown) => z.output<S> | null = () => null,
) =>
  z.unknown().transform((value, context): z.output<S>[] => {
    if (!Array.isArray(value)) {
      context.addIssue({ code: 'custom', message: 'is not an array' });
      return z.NEVER;
    }
    const elements: z.output<S>[] = [];
    let faults = 0;
    for (const [index, one] of value.entries()) {
      const known = plain(one);
      if (known !== null) {
        elements.push(known);
        continue;
      }
      const read = element.safeParse(one, { jitless: true });
      if (read.success) elements.push(read.data);
      else if ((faults += reportFew(read.error, [index], context)) >= few) break;
    }
    return elements;
  });

const few = 5;

const reportFew = ({ issues }: z.ZodError, place: PropertyKey[], context: z.RefinementCtx): number => {
  const shown = issues.slice(0, few);
  for (const { path, message } of shown)
    context.addIssue({ code: 'custom', path: [...place, ...path], message });
  return shown.length;
};

/** Rejects duplicate ids: no write could tell them apart. */
export const unlikeIds = (list: readonly { readonly id: number }[], context: z.RefinementCtx): void => {
  const ids = new Set<number>();
  let faults = 0;
  for (const [index, { id }] of list.entries()) {
    if (ids.has(id)) {
      context.addIssue({ code: 'custom', path: [index, 'id'], message: `${id} occurs twice` });
      if ((faults += 1) === few) return;
    }
    ids.add(id);
  }
};

/** Empty if there is none. */
export const optionalListOf = <S extends z.ZodType>(element: S) =>
  listOf(element)
    .nullish()
    .transform((list) => list ?? []);
