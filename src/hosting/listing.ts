import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { ActualTemplate } from '../model/template.ts';
import type { BodyReader } from './call.ts';
import { afterBlanks, closeBracket, comma, openBracket, valueAt, type Shape } from './elements.ts';

/**
 * Reads successive listings of templates. A template whose text has not changed is the same object, and is neither
 * parsed nor checked again. `readTemplate` returns null for an invalid template; so does `read` for a listing that
 * is not in the usual form.
 */
export const listingReader = (
  readTemplate: ReadTemplate,
  max: Shape,
): BodyReader<readonly ActualTemplate[]> => {
  let known: KnownListing | null = null;
  return {
    previous: () => known?.body ?? null,
    read: async (body) => {
      if (known?.body.equals(body) === true) return known.templates;
      const read = await readListing(body, known ?? nothing, readTemplate, max);
      known = read ?? known;
      return read?.templates ?? null;
    },
  };
};

type ReadTemplate = (value: unknown) => ActualTemplate | null;

interface KnownListing {
  readonly body: Buffer;
  readonly templates: readonly ActualTemplate[];
  readonly elements: readonly ListedTemplate[];
  /** The index of each element by the id of its template. */
  readonly places: ReadonlyMap<number, number>;
}

/** A template, and where its text starts and ends. */
interface ListedTemplate {
  readonly template: ActualTemplate;
  readonly from: number;
  readonly until: number;
}

const nothing: KnownListing = { body: Buffer.alloc(0), templates: [], elements: [], places: new Map() };

const readListing = async (
  body: Buffer,
  known: KnownListing,
  readTemplate: ReadTemplate,
  max: Shape,
): Promise<KnownListing | null> => {
  const elements: ListedTemplate[] = [];
  const places = new Map<number, number>();
  const room = { ...max };
  // The known element that comes next if nothing was added or removed.
  let next = 0;
  let at = afterBlanks(body, 0);
  if (body[at] !== openBracket) return null;
  do {
    const from = afterBlanks(body, at + 1);
    if (elements.length === 0 && body[from] === closeBracket) {
      at = from;
      break;
    }
    if (isYieldDue()) await yieldToOthers();
    const element = unchangedAt(from, body, known, next) ?? changedAt(from, body, known, readTemplate, room);
    // Two with the same id are refused: no write could tell them apart.
    if (element === null || places.has(element.template.id)) return null;
    next = (known.places.get(element.template.id) ?? next - 1) + 1;
    places.set(element.template.id, elements.length);
    elements.push(element);
    at = afterBlanks(body, element.until);
  } while (body[at] === comma);
  const isWhole = body[at] === closeBracket && afterBlanks(body, at + 1) === body.length;
  return isWhole ? { body, templates: elements.map(({ template }) => template), elements, places } : null;
};

/** The known element, if the text at an offset is the same: a complete value is never the beginning of another one. */
const unchangedAt = (
  from: number,
  body: Buffer,
  { body: before, elements }: KnownListing,
  index: number,
): ListedTemplate | null => {
  const element = elements[index];
  if (element === undefined) return null;
  const until = from + element.until - element.from;
  const isSame = until <= body.length && body.compare(before, element.from, element.until, from, until) === 0;
  return isSame ? { template: element.template, from, until } : null;
};

/** Another element, or one at another position. Takes its size from `room`. */
const changedAt = (
  from: number,
  body: Buffer,
  known: KnownListing,
  readTemplate: ReadTemplate,
  room: { readonly depth: number; values: number },
): ListedTemplate | null => {
  const value = valueAt(body, from, room);
  if (typeof value === 'string') return null;
  room.values -= value.values;
  const { until } = value;
  const template = readTemplate(parse(body.toString('utf8', from, until)));
  if (template === null) return null;
  return unchangedAt(from, body, known, known.places.get(template.id) ?? -1) ?? { template, from, until };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
