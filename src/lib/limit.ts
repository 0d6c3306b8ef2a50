import { sleep } from './sleep.ts';

/** Runs at most `width` tasks at a time; the others wait in order. */
export const limit = (width: number): (<T>(task: () => Promise<T>) => Promise<T>) => {
  let free = width;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
};

/** Does what is asked for within `delay` milliseconds by one task; each promise is that of its task. */
export const batched = <Item>(
  task: (items: readonly Item[]) => Promise<void>,
  delay: number,
): ((item: Item) => Promise<void>) => {
  let open: { readonly items: Item[]; readonly done: Promise<void> } | null = null;
  const begin = (): NonNullable<typeof open> => {
    const items: Item[] = [];
    const done = sleep(delay).then(() => {
      open = null;
      return task(items);
    });
    return { items, done };
  };
  return (item) => {
    open ??= begin();
    open.items.push(item);
    return open.done;
  };
};
