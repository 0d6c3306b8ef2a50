const units = [
  ['GiB', 1_024 ** 3],
  ['MiB', 1_024 ** 2],
  ['KiB', 1_024],
  ['B', 1],
] as const;

/** Bytes of `64MiB`, `512KiB`, `1GiB`, `100B`; null for anything else. Whole numbers only. */
export const parseSize = (text: string): number | null => {
  const match = /^(\d{1,12})(GiB|MiB|KiB|B)$/.exec(text);
  const unit = units.find(([name]) => name === match?.[2]);
  return match && unit ? Number(match[1]) * unit[1] : null;
};

/** The reverse, in the largest unit that divides it. */
export const sizeText = (bytes: number): string => {
  const [name, size] = units.find(([, unit]) => bytes >= unit && bytes % unit === 0) ?? ['B', 1];
  return `${bytes / size}${name}`;
};
