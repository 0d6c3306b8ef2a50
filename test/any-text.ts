import * as fc from 'fast-check';

/**
 * Any characters but halves of one: what the unit `binary` of fast-check is, which makes a table of all of them first. In
 * each worker that took a second, and 100 MB that the garbage collector went through from then on.
 */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: character });

const halves = { first: 0xd800, count: 0x800 };

const character = fc.nat({ max: 0x10_ffff - halves.count }).map(
  (index) => String.fromCodePoint(index < halves.first ? index : index + halves.count),
  (text) => {
    const [point, ...others] = typeof text === 'string' ? Array.from(text, (one) => one.codePointAt(0)!) : [];
    if (point === undefined || others.length > 0) throw new Error('no character');
    return point < halves.first ? point : point - halves.count;
  },
);
