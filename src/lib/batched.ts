import { sleep } from './sleep.ts';

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
