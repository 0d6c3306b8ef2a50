export const groupBy = <Key, Thing>(
  things: readonly Thing[],
  keyOf: (thing: Thing) => Key,
): Map<Key, Thing[]> => {
  const groups = new Map<Key, Thing[]>();
  for (const thing of things) pushTo(groups, keyOf(thing), thing);
  return groups;
};

export const pushTo = <Key, Thing>(groups: Map<Key, Thing[]>, key: Key, thing: Thing): void => {
  const group = groups.get(key);
  if (group) group.push(thing);
  else groups.set(key, [thing]);
};
