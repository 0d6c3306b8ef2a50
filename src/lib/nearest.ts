/** The word that was probably meant, or null: one edit per three letters, at most two. */
export const nearest = (word: string, known: Iterable<string>): string | null => {
  if (word.length > maxWordLength) return null;
  const meant = word.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.min(2, Math.floor(meant.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - meant.length) >= bestDistance) continue;
    const distance = editDistance(...withoutSameBeginning(meant, candidate.toLowerCase()));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
};

/** Characters. Comparing takes quadratic time. */
const maxWordLength = 64;

/** Variables often share a prefix, and equal parts cost nothing. */
const withoutSameBeginning = (one: string, other: string): [string, string] => {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return [one.slice(same), other.slice(same)];
};

/** Insertions, deletions, substitutions and swaps of neighbours, each counted once. */
const editDistance = (from: string, to: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const substitution = last[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1);
      let cost = Math.min(substitution, last[column]! + 1, current[column - 1]! + 1);
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length]!;
};

/** `, did you mean X?` or nothing. */
export const suggestion = (word: string, known: Iterable<string>): string => {
  const meant = nearest(word, known);
  return meant === null ? '' : `; did you mean \`${meant}\`?`;
};

/** The same, or else the list of known words. */
export const suggestionOr = (word: string, known: readonly string[]): string =>
  suggestion(word, known) || `; there are: ${known.join(', ')}`;
