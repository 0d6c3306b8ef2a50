/*
 * Reads fields of answers, in the forms that a service may write them: numbers also as text, and null, nothing or an
 * empty text where there is none. Readers of one value give undefined for what is none.
 */

/** What is not as specified, and its place in the answer, which is only put together on the way out. */
export class Breach extends Error {
  override name = 'Breach';
  readonly problem: string;
  readonly place: string;

  constructor(problem: string, place = '') {
    super(`answer${place} ${problem}`);
    this.problem = problem;
    this.place = place;
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => {
  if (isFields(value)) return value;
  throw new Breach('is not an object');
};

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ends at the first element that is not as specified. */
export const listOf = <T>(value: unknown, read: (element: unknown) => T): T[] => {
  if (!Array.isArray(value)) throw new Breach('is not an array');
  return value.map((element: unknown, index) => elementOf(element, index, read));
};

export const elementOf = <T>(element: unknown, index: number, read: (element: unknown) => T): T => {
  try {
    return read(element);
  } catch (error) {
    throw within(`[${index}]`, error);
  }
};

export const fieldOf = <T>(fields: Fields, key: string, read: (value: unknown) => T): T => {
  try {
    return read(fields[key]);
  } catch (error) {
    throw within(`.${key}`, error);
  }
};

const within = (place: string, error: unknown): unknown =>
  error instanceof Breach ? new Breach(error.problem, place + error.place) : error;

/** An account or a database, which are only shown: as it came. */
export type Resource = Fields & { readonly id: number };

export const resourceOf = (value: unknown): Resource => {
  const fields = fieldsOf(value);
  return { ...fields, id: idIn(fields) };
};

export const resourcesOf = (value: unknown): readonly Resource[] => listOf(value, resourceOf);

export const idIn = (fields: Fields): number => {
  const id = wholeOf(fields['id']);
  if (id === undefined) throw new Breach('is not a whole number', '.id');
  return id;
};

/** Rejects an id that occurs twice: no write could tell the two apart. */
export const unlikeIds = <T extends { readonly id: number }>(list: readonly T[]): readonly T[] => {
  const ids = new Set<number>();
  for (const [index, { id }] of list.entries())
    if (ids.size === ids.add(id).size) throw new Breach(`${id} occurs twice`, `[${index}].id`);
  return list;
};

export const numberIn = (fields: Fields, key: string): number | null => {
  const value = optionalNumber(fields[key]);
  if (value === undefined) throw new Breach('is neither a whole number nor null', `.${key}`);
  return value;
};

export const optionalNumber = (value: unknown): number | null | undefined =>
  value === null || value === undefined || value === '' ? null : wholeOf(value);

export const optionalText = (value: unknown): string | null | undefined =>
  value === null || value === undefined ? null : textOf(value);

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

const wholeOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
};
