/**
 * Puts those together of which all that can be said is the same, each group where its first one stood. `wordsOf` gives
 * what can be said; null for one that stands by itself.
 */
export const groupAlike = <Item>(
  items: readonly Item[],
  wordsOf: (item: Item) => string | null,
): readonly (readonly Item[])[] => {
  const groups = new Map<unknown, Item[]>();
  for (const item of items) {
    const key = wordsOf(item) ?? item;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
};
