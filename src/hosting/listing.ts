import { setImmediate } from 'node:timers/promises';
import type { ActualTemplate } from '../model/template.ts';
import type { BodyReader } from './call-operation.ts';
import { boundsIn, type Bounds, type Shape } from './elements.ts';

/**
 * Reads successive listings of templates. Templates whose text has not changed are the same objects and cost
 * nothing. `readTemplate` returns null for an invalid template.
 */
export const listingReader = (
  readTemplate: (value: unknown) => ActualTemplate | null,
  max: Shape,
): BodyReader<readonly ActualTemplate[]> => {
  let known: KnownListing | null = null;
  return {
    previous: () => known?.body ?? null,
    read: async (body) => {
      if (known?.body.equals(body)) return known.templates;
      const read = await readChanged(body, known, readTemplate, max);
      if (read === null || !haveOwnIds(read.templates)) return null;
      known = read;
      return known.templates;
    },
  };
};

interface KnownListing {
  readonly body: Buffer;
  readonly bounds: Bounds;
  readonly templates: readonly ActualTemplate[];
}

type ReadTemplate = (value: unknown) => ActualTemplate | null;

/** Keeps everything before the first and after the last change; reads only what is between. */
const readChanged = async (
  body: Buffer,
  known: KnownListing | null,
  readTemplate: ReadTemplate,
  max: Shape,
): Promise<KnownListing | null> => {
  const start = body.indexOf('[') + 1;
  const end = body.lastIndexOf(']');
  if (start === 0 || end < 0 || !isBlank(body, 0, start - 1) || !isBlank(body, end + 1, body.length))
    return null;
  const [before, after] = known === null ? [0, 0] : unchangedIn(body, known);
  const from = before === 0 ? start : known!.bounds[2 * before - 1]!;
  const shift = known === null ? 0 : body.length - known.body.length;
  const until = after === 0 ? end : known!.bounds.at(-2 * after)! + shift;
  const middle = boundsIn(body, from, until, max);
  if (middle === null) return null;
  const previous = known && {
    ...known,
    bounds: known.bounds.slice(2 * before, known.bounds.length - 2 * after),
    templates: known.templates.slice(before, known.templates.length - after),
  };
  const edges = { hasBefore: before > 0, hasAfter: after > 0, from, until };
  const templates = await readElements(body, middle, edges, previous, readTemplate);
  if (templates === null) return null;
  return {
    body,
    bounds: [
      ...(known?.bounds.slice(0, 2 * before) ?? []),
      ...middle,
      ...(after === 0 ? [] : known!.bounds.slice(-2 * after).map((offset) => offset + shift)),
    ],
    templates: [
      ...(known?.templates.slice(0, before) ?? []),
      ...templates,
      ...(after === 0 ? [] : known!.templates.slice(-after)),
    ],
  };
};

/** The number of unchanged elements at the start and at the end. */
const unchangedIn = (
  body: Buffer,
  { body: previous, bounds }: KnownListing,
): [before: number, after: number] => {
  const max = Math.min(body.length, previous.length);
  const same = sameAtStart(body, previous, max);
  let before = 0;
  while (2 * before + 1 < bounds.length && bounds[2 * before + 1]! <= same) before += 1;
  const sameEnd = sameAtEnd(body, previous, max - same);
  let after = 0;
  while (before + after < bounds.length / 2 && bounds.at(-2 * after - 2)! >= previous.length - sameEnd)
    after += 1;
  return [before, after];
};

const block = 65_536;

const sameAtStart = (one: Buffer, other: Buffer, max: number): number => {
  let at = 0;
  while (at + block <= max && one.compare(other, at, at + block, at, at + block) === 0) at += block;
  while (at < max && one[at] === other[at]) at += 1;
  return at;
};

const sameAtEnd = (one: Buffer, other: Buffer, max: number): number => {
  const [end, otherEnd] = [one.length, other.length];
  let count = 0;
  const isSameBlock = (): boolean =>
    one.compare(other, otherEnd - count - block, otherEnd - count, end - count - block, end - count) === 0;
  while (count + block <= max && isSameBlock()) count += block;
  while (count < max && one[end - count - 1] === other[otherEnd - count - 1]) count += 1;
  return count;
};

interface Edges {
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
  readonly from: number;
  readonly until: number;
}

/** Bytes to read before yielding to other tasks. */
const readAtOnce = 200_000;

const readElements = async (
  body: Buffer,
  bounds: Bounds,
  edges: Edges,
  previous: KnownListing | null,
  readTemplate: ReadTemplate,
): Promise<ActualTemplate[] | null> => {
  if (!isWellDivided(body, bounds, edges)) return null;
  // Most elements keep their index, counted from the start or, behind an added or removed one, from the end.
  const shift = (previous?.bounds.length ?? 0) - bounds.length;
  const templates: ActualTemplate[] = [];
  let read = 0;
  for (let index = 0; index < bounds.length; index += 2) {
    const [from, until] = [bounds[index]!, bounds[index + 1]!];
    const same = previous && sameIn(previous, body, from, until, [index, index + shift]);
    if (same) {
      templates.push(same);
      continue;
    }
    const template = readTemplate(parse(body.toString('utf8', from, until)));
    if (template === null) return null;
    templates.push(template);
    read += until - from;
    if (read > readAtOnce) {
      read = 0;
      await setImmediate();
    }
  }
  return templates;
};

/** The template with the same text at one of these positions in the previous answer. */
const sameIn = (
  previous: KnownListing,
  body: Buffer,
  from: number,
  until: number,
  places: readonly number[],
): ActualTemplate | null => {
  for (const place of places) {
    const [start, end] = [previous.bounds[place], previous.bounds[place + 1]];
    if (end !== undefined && body.compare(previous.body, start, end, from, until) === 0)
      return previous.templates[place / 2]!;
  }
  return null;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Whether elements are separated by exactly one comma. */
const isWellDivided = (body: Buffer, bounds: Bounds, edges: Edges): boolean => {
  const { hasBefore, hasAfter, from, until } = edges;
  if (bounds.length === 0)
    return hasBefore && hasAfter ? isComma(body, from, until) : isBlank(body, from, until);
  for (let index = 1; index + 1 < bounds.length; index += 2) {
    if (!isComma(body, bounds[index]!, bounds[index + 1]!)) return false;
  }
  const isDivided = (divided: boolean, start: number, end: number): boolean =>
    divided ? isComma(body, start, end) : isBlank(body, start, end);
  return isDivided(hasBefore, from, bounds[0]!) && isDivided(hasAfter, bounds.at(-1)!, until);
};

const isComma = (body: Buffer, from: number, until: number): boolean =>
  until - from === 1
    ? body[from] === 0x2c
    : /^[ \t\r\n]*,[ \t\r\n]*$/.test(body.toString('latin1', from, until));

const isBlank = (body: Buffer, from: number, until: number): boolean =>
  from >= until || /^[ \t\r\n]*$/.test(body.toString('latin1', from, until));

/** Duplicate ids are refused: no write could tell them apart. */
const haveOwnIds = (templates: readonly { readonly id: number }[]): boolean =>
  new Set(templates.map(({ id }) => id)).size === templates.length;
