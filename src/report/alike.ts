/**
 * Groups items with the same words, each group at the position of its first item. `wordsOf` returns the
 * words; null keeps an item by itself.
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
