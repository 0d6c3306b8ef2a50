export const median = (values) => {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
};

/** So many values of the same, a first few of which nobody counts, and their median. */
export const repeated = async (rounds, task, warmUp = 0) => {
  const found = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const one = await task(round + warmUp);
    if (round >= 0) found.push(one);
  }
  return found;
};

/** Of each value by its key. */
export const mediansOf = (found) =>
  Object.fromEntries(Object.keys(found[0]).map((key) => [key, median(found.map((one) => one[key]))]));
