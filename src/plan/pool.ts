/** Items by key, in their order; each can be taken until it is used. */
export interface Pool<Thing> {
  first(key: string, used: ReadonlySet<Thing>): Thing | undefined;
}

/** Used items stay used, so each list is walked only once. */
export const createPool = <Thing>(things: readonly Thing[], keyOf: (thing: Thing) => string): Pool<Thing> => {
  const lists = new Map<string, { things: Thing[]; next: number }>();
  for (const thing of things) {
    const key = keyOf(thing);
    const list = lists.get(key);
    if (list) list.things.push(thing);
    else lists.set(key, { things: [thing], next: 0 });
  }
  return {
    first: (key, used) => {
      const list = lists.get(key);
      if (!list) return undefined;
      while (list.next < list.things.length && used.has(list.things[list.next]!)) list.next += 1;
      return list.things[list.next];
    },
  };
};
