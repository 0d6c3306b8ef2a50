/** The word that was probably meant, or null: one edit per three letters, at most two. */
export const nearest = (word: string, known: Iterable<string>): string | null => {
  const meant = word.toLowerCase();
  const words = Array.from(known, (one) => ({ one, small: one.toLowerCase() }));
  for (let edits = 0; edits <= Math.min(2, Math.floor(meant.length / 3)); edits += 1) {
    const found = words.find(({ small }) => isWithin(meant, small, edits));
    if (found) return found.one;
  }
  return null;
};

/** Whether so many insertions, deletions, substitutions and swaps of neighbours are enough. */
const isWithin = (from: string, to: string, edits: number): boolean => {
  if (Math.abs(from.length - to.length) > edits) return false;
  let at = 0;
  while (at < from.length && from[at] === to[at]) at += 1;
  const [left, right] = [from.slice(at), to.slice(at)];
  if (left === right) return true;
  const isSwapped = left[0] === right[1] && left[1] === right[0];
  return (
    edits > 0 &&
    (isWithin(left.slice(1), right.slice(1), edits - 1) ||
      isWithin(left.slice(1), right, edits - 1) ||
      isWithin(left, right.slice(1), edits - 1) ||
      (isSwapped && isWithin(left.slice(2), right.slice(2), edits - 1)))
  );
};

/** `, did you mean X?` or nothing. */
export const suggestion = (word: string, known: Iterable<string>): string => {
  const meant = nearest(word, known);
  return meant === null ? '' : `; did you mean \`${meant}\`?`;
};

/** The same, or else the list of known words. */
export const suggestionOr = (word: string, known: readonly string[]): string =>
  suggestion(word, known) || `; there are: ${known.join(', ')}`;
