import { matchesGlob, plainGlob } from '../plan/glob.ts';

/** The names that are meant among those that there are, and the patterns and names that mean none of them. */
export const matchNames = (
  wanted: readonly string[],
  known: Iterable<string>,
): { readonly found: readonly string[]; readonly unknown: readonly string[] } => {
  const names = [...new Set(known)];
  const meant = wanted.map((text) => (names.includes(text) ? [text] : matching(text, names)));
  return {
    found: [...new Set(meant.flat())],
    unknown: wanted.filter((_, index) => meant[index]?.length === 0),
  };
};

const matching = (text: string, names: readonly string[]): readonly string[] => {
  const glob = plainGlob(text);
  return glob.hasStar ? names.filter((name) => matchesGlob(glob, name)) : [];
};
