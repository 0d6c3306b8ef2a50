/** Copies from the base and inserts what is new, as the delta says (gitformat-pack(5)). Throws if it is malformed. */
export const withDelta = (base: Buffer, delta: Buffer, mayTake: (bytes: number) => void): Buffer => {
  let at = 0;
  const byte = (): number => {
    at += 1;
    return delta.readUInt8(at - 1);
  };
  const size = (): number => {
    for (let [value, factor] = [0, 1]; ; factor *= 128) {
      const next = byte();
      value += (next & 0x7f) * factor;
      if ((next & 0x80) === 0) return value;
    }
  };
  /** Its bytes are there whose bits are set. */
  const number = (bits: number, count: number): number => {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1) if ((bits & (1 << bit)) !== 0) value += byte() * 256 ** bit;
    return value;
  };
  if (size() !== base.length) throw new Error('a delta is for another base');
  const length = size();
  mayTake(length);
  const result = Buffer.alloc(length);
  let end = 0;
  while (at < delta.length) {
    const instruction = byte();
    const isCopy = (instruction & 0x80) !== 0;
    const from = isCopy ? number(instruction, 4) : at;
    const count = isCopy ? number(instruction >> 4, 3) || 0x1_00_00 : instruction;
    const source = isCopy ? base : delta;
    if (count === 0 || from + count > source.length || end + count > length)
      throw new Error('a delta is malformed');
    source.copy(result, end, from, from + count);
    end += count;
    if (!isCopy) at += count;
  }
  if (end !== length) throw new Error('a delta is cut off');
  return result;
};
