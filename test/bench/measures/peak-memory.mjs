import { peakMemory } from '../commands.mjs';

export const about = 'most resident memory of cold plans';

const sizes = {
  large: { templates: 1, records: 10_000, target: 110, rounds: 5 },
  huge: { templates: 1, records: 100_000, target: 500, rounds: 3 },
  many: { templates: 1_000, records: 100, target: 400, rounds: 5 },
};

export const rows = Object.fromEntries(
  Object.entries(sizes).map(([name, { templates, records, target }]) => [
    name,
    { about: `templates × records: ${templates} × ${records}`, target, unit: 'MiB' },
  ]),
);

export const measure = async () => {
  const values = {};
  for (const [name, { rounds, ...size }] of Object.entries(sizes))
    values[name] = await peakMemory(size, rounds);
  return values;
};
