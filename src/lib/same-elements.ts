/** Whether two lists have the same objects in the same order. */
export const sameElements = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index]);
