/** Whether so many milliseconds are over since it last said yes: what happens again and again must not fill the log. */
export const atMostEvery = (ms: number): (() => boolean) => {
  let next = -Infinity;
  return () => {
    const now = performance.now();
    if (now < next) return false;
    next = now + ms;
    return true;
  };
};
