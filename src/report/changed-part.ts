/** Two texts, split where they differ. */
export interface ChangedPart {
  /** The common beginning. */
  readonly before: string;
  readonly from: string;
  readonly to: string;
  /** The common end. */
  readonly after: string;
}

/** Keeps letters and their combining marks together. */
export const changedPart = (from: string, to: string): ChangedPart => {
  const [some, others] = [lettersOf(from), lettersOf(to)];
  const max = Math.min(some.length, others.length);
  let start = 0;
  while (start < max && some[start] === others[start]) start += 1;
  let end = 0;
  while (end < max - start && some.at(-1 - end) === others.at(-1 - end)) end += 1;
  return {
    before: some.slice(0, start).join(''),
    from: some.slice(start, some.length - end).join(''),
    to: others.slice(start, others.length - end).join(''),
    after: end === 0 ? '' : some.slice(-end).join(''),
  };
};

const lettersOf = (text: string): string[] => text.match(/.\p{M}*/gsu) ?? [];
