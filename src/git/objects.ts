import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { readRegularFileSync } from '../regular-file.ts';
import { sharedDirectoryOf, textIfThere } from './checkout.ts';
import { withDelta } from './delta.ts';
import { objectKinds, openPack, type ObjectKind, type Pack } from './pack.ts';

export interface GitObject {
  readonly kind: ObjectKind;
  readonly content: Buffer;
}

/** Reads objects of a git directory, loose and packed. */
export interface ObjectReader {
  /** Null if it is not there. Throws if it is malformed or takes too much work. */
  readonly read: (id: string) => GitObject | null;
  readonly close: () => void;
}

/** `commit`: any id, which says how long they are. */
export const openObjects = (gitDir: string, commit: string): ObjectReader => {
  const directories = objectDirectories(path.join(sharedDirectoryOf(gitDir), 'objects'));
  const packs = directories.flatMap(packsIn).flatMap((file) => packAt(file, commit.length / 2));
  let taken = 0;
  const mayTake = (bytes: number): void => {
    taken += bytes;
    if (bytes > maxObject || taken > maxWork) throw new Error('the git directory has too large objects');
  };
  const looseObject = (id: string): GitObject | null => {
    const folder = directories.find((one) => existsSync(looseFile(one, id)));
    if (folder === undefined) return null;
    const bytes = readRegularFileSync(looseFile(folder, id), maxObject);
    const object = inflateSync(bytes, { maxOutputLength: maxObject });
    mayTake(object.length);
    const end = object.indexOf(0);
    const kind = objectKinds.find((one) => object.toString('latin1', 0, end).startsWith(`${one} `));
    if (kind === undefined) throw new Error('an object has an unknown type');
    return { kind, content: object.subarray(end + 1) };
  };
  const packed = (id: string): PackedPlace | null => {
    for (const pack of packs) {
      const offset = pack.offsetOf(id);
      if (offset !== null) return { pack, offset };
    }
    return null;
  };
  const read = (id: string): GitObject | null => {
    const deltas: Buffer[] = [];
    let [wanted, place] = [id, null as PackedPlace | null];
    for (;;) {
      const found = place === null ? looseObject(wanted) : null;
      place ??= packed(wanted);
      if (found === null && place === null) return null;
      const entry = found ?? place!.pack.entryAt(place!.offset, mayTake);
      if (entry.kind !== null) {
        const { kind, content } = entry;
        return {
          kind,
          content: deltas.reduceRight((base, delta) => withDelta(base, delta, mayTake), content),
        };
      }
      deltas.push(entry.content);
      if (deltas.length > maxDeltas) throw new Error('an object is a delta of too many others');
      if (typeof entry.base === 'string') [wanted, place] = [entry.base, null];
      else place = { pack: place!.pack, offset: entry.base! };
    }
  };
  return {
    read,
    close: () => {
      for (const pack of packs) pack.close();
    },
  };
};

interface PackedPlace {
  readonly pack: Pack;
  readonly offset: number;
}

/** Without those that cannot be read, or are about to be removed. */
const packAt = (file: string, idLength: number): Pack[] => {
  try {
    return [openPack(file, idLength)];
  } catch {
    return [];
  }
};

const looseFile = (directory: string, id: string): string =>
  path.join(directory, id.slice(0, 2), id.slice(2));

const objectDirectories = (first: string): string[] => {
  const all = [first];
  // The loop appends those that others borrow from.
  for (const directory of all) {
    const lines = textIfThere(path.join(directory, 'info/alternates')).split('\n');
    for (const line of lines.filter((one) => one !== '' && !one.startsWith('#'))) {
      const other = path.resolve(directory, line);
      if (!all.includes(other) && all.length < maxDirectories) all.push(other);
    }
  }
  return all;
};

const packsIn = (directory: string): string[] => {
  const folder = path.join(directory, 'pack');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.idx') && existsSync(path.join(folder, name.replace(/idx$/, 'pack'))))
    .slice(0, maxPacks)
    .map((name) => path.join(folder, name.replace(/\.idx$/, '')));
};

const maxDirectories = 16;
/** Git packs them together from 50 on. */
const maxPacks = 500;
/** Bytes of a commit, or of a folder with 200,000 files. */
const maxObject = 8 * 1_024 ** 2;
/** Bytes that one reader unpacks: the commits of a long history. */
const maxWork = 128 * 1_024 ** 2;
/** Git makes 50 at most unless it is told otherwise. */
const maxDeltas = 512;
