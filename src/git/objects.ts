import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { inflateSync, constants } from 'node:zlib';
import { readRegularFileSync } from '../regular-file.ts';

/**
 * Reads commits of a git directory, loose and packed (gitformat-pack(5)), rather than running git, which is not always
 * installed and executes what a repository's settings say. SHA-1 only.
 */
export interface CommitReader {
  /** The ids of its parents; null if it is not there. */
  readonly parentsOf: (id: string) => readonly string[] | null;
  readonly close: () => void;
}

/** Where git keeps its objects, for a git directory. */
export const openCommits = (gitDir: string): CommitReader => {
  const directories = objectDirectories(path.join(commonOf(gitDir), 'objects'));
  const packs = directories.flatMap(packsIn);
  const objectOf: FindObject = (id) => {
    for (const directory of directories) {
      const file = path.join(directory, id.slice(0, 2), id.slice(2));
      if (existsSync(file)) return looseObject(readRegularFileSync(file, maxObject));
    }
    for (const pack of packs) {
      const offset = pack.offsetOf(id);
      if (offset !== null) return pack.read(offset, objectOf);
    }
    return null;
  };
  return {
    parentsOf: (id) => {
      const object = objectOf(id);
      return object === null ? null : parentsIn(object.toString('latin1'));
    },
    close: () => {
      for (const pack of packs) pack.close();
    },
  };
};

type FindObject = (id: string) => Buffer | null;

const commonOf = (gitDir: string): string => {
  const file = path.join(gitDir, 'commondir');
  return existsSync(file) ? path.resolve(gitDir, textIn(file).trim()) : gitDir;
};

const objectDirectories = (first: string): string[] => {
  const all = [first];
  // The loop appends those that others borrow from.
  for (const directory of all) {
    const file = path.join(directory, 'info/alternates');
    const lines = existsSync(file) ? textIn(file).split('\n') : [];
    for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
      const other = path.resolve(directory, line);
      if (!all.includes(other) && all.length < maxDirectories) all.push(other);
    }
  }
  return all;
};

const maxDirectories = 16;

const textIn = (file: string): string => readRegularFileSync(file, maxObject).toString('utf8');

/** Bytes. */
const maxObject = 1_024 ** 2;

/** Without its header. */
const looseObject = (bytes: Buffer): Buffer => {
  const inflated = inflateSync(bytes, { maxOutputLength: maxObject });
  return inflated.subarray(inflated.indexOf(0) + 1);
};

/** The headers of a commit end at its first empty line. */
const parentsIn = (commit: string): string[] => {
  const headers = commit.split('\n\n', 1)[0] ?? '';
  return [...headers.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, id = '']) => id);
};

interface Pack {
  readonly offsetOf: (id: string) => number | null;
  readonly read: (offset: number, objectOf: FindObject) => Buffer | null;
  readonly close: () => void;
}

const packsIn = (directory: string): Pack[] => {
  const folder = path.join(directory, 'pack');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.idx') && existsSync(path.join(folder, name.replace(/idx$/, 'pack'))))
    .map((name) => openPack(path.join(folder, name.replace(/\.idx$/, ''))));
};

const openPack = (file: string): Pack => {
  const [index, data] = [openSync(`${file}.idx`, 'r'), openSync(`${file}.pack`, 'r')];
  const head = bytesAt(index, 0, fanoutAt + 1_024);
  const count = head.readUInt32BE(fanoutAt + 255 * 4);
  if (head.readUInt32BE(0) !== 0xff_74_4f_63 || head.readUInt32BE(4) !== 2)
    throw new Error(`${file}.idx has an unknown format`);
  const namesAt = fanoutAt + 1_024;
  const offsetsAt = namesAt + count * (20 + 4);
  const offsetAt = (entry: number): number => {
    const offset = bytesAt(index, offsetsAt + entry * 4, 4).readUInt32BE(0);
    if (offset < 0x80_00_00_00) return offset;
    const place = offsetsAt + count * 4 + (offset - 0x80_00_00_00) * 8;
    return Number(bytesAt(index, place, 8).readBigUInt64BE(0));
  };
  const read: Pack['read'] = (offset, objectOf) => {
    const bytes = bytesAt(data, offset, entryLength);
    let at = 0;
    const type = (bytes[0]! >> 4) & 7;
    while ((bytes[at]! & 0x80) !== 0) at += 1;
    at += 1;
    if (type < ofsDelta) return inflated(bytes.subarray(at));
    const base = type === ofsDelta ? offsetBefore(bytes, at) : null;
    const other =
      base === null ? objectOf(bytes.toString('hex', at, at + 20)) : read(offset - base.distance, objectOf);
    const delta = inflated(bytes.subarray(base === null ? at + 20 : base.end));
    return other && delta && withDelta(other, delta);
  };
  return {
    offsetOf: (id) => {
      const wanted = Buffer.from(id, 'hex');
      const first = wanted[0]!;
      let [low, high] = [
        first === 0 ? 0 : head.readUInt32BE(fanoutAt + (first - 1) * 4),
        head.readUInt32BE(fanoutAt + first * 4),
      ];
      while (low < high) {
        const middle = (low + high) >>> 1;
        const order = wanted.compare(bytesAt(index, namesAt + middle * 20, 20));
        if (order === 0) return offsetAt(middle);
        if (order < 0) high = middle;
        else low = middle + 1;
      }
      return null;
    },
    read,
    close: () => {
      closeSync(index);
      closeSync(data);
    },
  };
};

const fanoutAt = 8;
const ofsDelta = 6;

/** Bytes: more than a commit takes, unless somebody wrote a book into it. */
const entryLength = 256 * 1_024;

const bytesAt = (descriptor: number, position: number, length: number): Buffer => {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position));
};

/** Null if it is longer than what was read. */
const inflated = (bytes: Buffer): Buffer | null => {
  try {
    return inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxObject });
  } catch {
    return null;
  }
};

const offsetBefore = (bytes: Buffer, start: number): { distance: number; end: number } => {
  let at = start;
  let distance = bytes[at]! & 0x7f;
  while ((bytes[at]! & 0x80) !== 0) {
    at += 1;
    distance = (distance + 1) * 128 + (bytes[at]! & 0x7f);
  }
  return { distance, end: at + 1 };
};

/** Copies from the base and inserts what is new, as the delta says. */
const withDelta = (base: Buffer, delta: Buffer): Buffer => {
  let at = 0;
  for (const _ of ['size of the base', 'size of the result']) {
    while ((delta[at]! & 0x80) !== 0) at += 1;
    at += 1;
  }
  const parts: Buffer[] = [];
  while (at < delta.length) {
    const instruction = delta[at]!;
    at += 1;
    if ((instruction & 0x80) === 0) {
      parts.push(delta.subarray(at, at + instruction));
      at += instruction;
      continue;
    }
    let [offset, size] = [0, 0];
    for (let bit = 0; bit < 4; bit += 1) {
      if ((instruction & (1 << bit)) === 0) continue;
      offset += delta[at]! * 256 ** bit;
      at += 1;
    }
    for (let bit = 0; bit < 3; bit += 1) {
      if ((instruction & (0x10 << bit)) === 0) continue;
      size += delta[at]! * 256 ** bit;
      at += 1;
    }
    parts.push(base.subarray(offset, offset + (size === 0 ? 0x1_00_00 : size)));
  }
  return Buffer.concat(parts);
};
