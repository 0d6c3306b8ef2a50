/** Ids in ascending order; those that follow each other as the first and the last of them. */
export type IdRanges = readonly (number | readonly [first: number, last: number])[];

/** A template may have tens of thousands, most of which were given in a row. */
export const rangesOf = (ids: Iterable<number>): IdRanges => {
  const ranges: [number, number][] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === id - 1) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges.map((range) => (range[0] === range[1] ? range[0] : range));
};

export const idsIn = (ranges: IdRanges): number[] =>
  ranges.flatMap((range) => {
    if (typeof range === 'number') return range;
    const [first, last] = range;
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
