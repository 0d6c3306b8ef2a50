import { closeSync, readSync } from 'node:fs';
import { constants, inflateSync } from 'node:zlib';
import { openRegularFileSync } from '../regular-file.ts';

/** An object of a pack, or what it is a delta to: another offset or another object. */
export interface PackEntry {
  /** Null for a delta. */
  readonly kind: ObjectKind | null;
  readonly base: number | string | null;
  readonly content: Buffer;
}

export const objectKinds = ['commit', 'tree', 'blob', 'tag'] as const;
export type ObjectKind = (typeof objectKinds)[number];

export interface Pack {
  readonly offsetOf: (id: string) => number | null;
  /** `mayTake` throws if an object of so many bytes is too large. */
  readonly entryAt: (offset: number, mayTake: (bytes: number) => void) => PackEntry;
  readonly close: () => void;
}

/** A pack and its index (gitformat-pack(5)), without their extensions. `idLength`: bytes of an object's id. */
export const openPack = (file: string, idLength: number): Pack => {
  const index = openRegularFileSync(`${file}.idx`);
  let data: number;
  try {
    data = openRegularFileSync(`${file}.pack`);
  } catch (error) {
    closeSync(index);
    throw error;
  }
  const head = bytesAt(index, 0, namesAt);
  const isKnown =
    head.length === namesAt && head.readUInt32BE(0) === 0xff_74_4f_63 && head.readUInt32BE(4) === 2;
  const count = isKnown ? head.readUInt32BE(namesAt - 4) : 0;
  const offsetsAt = namesAt + count * (idLength + 4);
  const offsetAt = (entry: number): number => {
    const offset = bytesAt(index, offsetsAt + entry * 4, 4).readUInt32BE(0);
    if (offset < 0x80_00_00_00) return offset;
    const place = offsetsAt + count * 4 + (offset - 0x80_00_00_00) * 8;
    return Number(bytesAt(index, place, 8).readBigUInt64BE(0));
  };
  return {
    offsetOf: (id) => {
      if (count === 0) return null;
      const wanted = Buffer.from(id, 'hex');
      const first = wanted[0]!;
      let [low, high] = [
        first === 0 ? 0 : head.readUInt32BE(fanoutAt + (first - 1) * 4),
        head.readUInt32BE(fanoutAt + first * 4),
      ];
      while (low < high) {
        const middle = (low + high) >>> 1;
        const order = wanted.compare(bytesAt(index, namesAt + middle * idLength, idLength));
        if (order === 0) return offsetAt(middle);
        if (order < 0) high = middle;
        else low = middle + 1;
      }
      return null;
    },
    entryAt: (offset, mayTake) => {
      const header = bytesAt(data, offset, 64);
      let at = 0;
      let [size, factor] = [header.readUInt8(0) & 0x0f, 16];
      const type = (header.readUInt8(0) >> 4) & 7;
      while ((header.readUInt8(at) & 0x80) !== 0) {
        at += 1;
        size += (header.readUInt8(at) & 0x7f) * factor;
        factor *= 128;
      }
      at += 1;
      let base: number | string | null = null;
      if (type === ofsDelta) {
        let distance = header.readUInt8(at) & 0x7f;
        while ((header.readUInt8(at) & 0x80) !== 0) {
          at += 1;
          distance = (distance + 1) * 128 + (header.readUInt8(at) & 0x7f);
        }
        at += 1;
        base = offset - distance;
      } else if (type === refDelta) {
        base = header.toString('hex', at, at + idLength);
        at += idLength;
      }
      const kind = objectKinds[type - 1] ?? null;
      if (kind === null && base === null) throw new Error('an object of the pack has an unknown type');
      mayTake(size);
      return { kind, base, content: inflated(bytesAt(data, offset + at, deflatedLimit(size)), size) };
    },
    close: () => {
      closeSync(index);
      closeSync(data);
    },
  };
};

const fanoutAt = 8;
const namesAt = fanoutAt + 1_024;
const ofsDelta = 6;
const refDelta = 7;

const bytesAt = (descriptor: number, position: number, length: number): Buffer => {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
};

/** What cannot be compressed gets a few bytes longer. */
const deflatedLimit = (size: number): number => size + Math.ceil(size / 1_000) + 64;

/** Throws if it has another size. */
const inflated = (bytes: Buffer, size: number): Buffer => {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: Math.max(1, size) };
  const content = inflateSync(bytes, options);
  if (content.length !== size) throw new Error('an object of the pack is cut off');
  return content;
};
