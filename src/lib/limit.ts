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
