import { matchesGlob, plainGlob } from './glob.ts';

/** The known names that the patterns match, and the patterns that match none. */
export const matchNames = (
  patterns: readonly string[],
  known: Iterable<string>,
): { readonly found: readonly string[]; readonly unknown: readonly string[] } => {
  const names = [...new Set(known)];
  const meant = patterns.map((text) => (names.includes(text) ? [text] : matching(text, names)));
  return {
    found: [...new Set(meant.flat())],
    unknown: patterns.filter((_, index) => meant[index]?.length === 0),
  };
};

const matching = (text: string, names: readonly string[]): readonly string[] => {
  const glob = plainGlob(text);
  return glob.hasStar ? names.filter((name) => matchesGlob(glob, name)) : [];
};
