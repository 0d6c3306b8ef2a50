/** Lets `width` tasks run at a time; the others wait here in the order in which they came. */
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
