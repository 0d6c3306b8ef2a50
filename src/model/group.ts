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

/** Items by key, in their order; each can be taken until it is used. */
export interface Pool<Thing> {
  first(key: string, used: ReadonlySet<Thing>): Thing | undefined;
}

/** Used items stay used, so each group is walked only once. */
export const createPool = <Thing>(things: readonly Thing[], keyOf: (thing: Thing) => string): Pool<Thing> => {
  const groups = groupBy(things, keyOf);
  const next = new Map<string, number>();
  return {
    first: (key, used) => {
      const group = groups.get(key) ?? [];
      let at = next.get(key) ?? 0;
      while (at < group.length && used.has(group[at]!)) at += 1;
      next.set(key, at);
      return group[at];
    },
  };
};
