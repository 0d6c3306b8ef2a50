import { planBesideParsing } from '../commands.mjs';

export const about = 'cold plans against bare node, yaml and JSON.parse';

const sizes = {
  small: { templates: 1, records: 1_000, target: 1, rounds: 9 },
  large: { templates: 1, records: 10_000, target: 0.7, rounds: 9 },
  huge: { templates: 1, records: 100_000, target: 0.4, rounds: 3 },
  many: { templates: 1_000, records: 100, target: 0.5, rounds: 5 },
};

export const rows = Object.fromEntries(
  Object.entries(sizes).map(([name, { templates, records, target }]) => [
    name,
    { about: `templates × records: ${templates} × ${records}`, target, unit: '×' },
  ]),
);

export const measure = async () => {
  const values = {};
  for (const [name, { rounds, ...size }] of Object.entries(sizes))
    values[name] = await planBesideParsing(size, rounds);
  return values;
};
