/** The part of a text from `start` to `end` is replaced. */
export interface Splice<Mark = never> {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** What the new text is for. */
  readonly mark?: Mark;
}

/** In the order of their positions; those of one position keep their order. */
export const inOrder = <Mark>(splices: readonly Splice<Mark>[]): Splice<Mark>[] =>
  splices.toSorted((a, b) => a.start - b.start || a.end - b.end);

export const spliced = (text: string, splices: readonly Splice<unknown>[]): string => {
  let at = 0;
  let made = '';
  for (const { start, end, text: replacement } of inOrder(splices)) {
    made += text.slice(at, start) + replacement;
    at = Math.max(at, end);
  }
  return made + text.slice(at);
};

/** What stands at an offset of the new text: a splice, or an offset of the old text. */
export const originOf = <Mark>(
  offset: number,
  splices: readonly Splice<Mark>[],
): Splice<Mark> | { readonly offset: number } => {
  let moved = 0;
  for (const splice of inOrder(splices)) {
    const start = splice.start + moved;
    if (offset < start) break;
    if (offset < start + splice.text.length) return splice;
    moved += splice.text.length - (splice.end - splice.start);
  }
  return { offset: offset - moved };
};
