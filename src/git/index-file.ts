/** What git recorded of a file when it was last added, committed or checked out. */
export interface IndexEntry {
  /** The file's size in bytes and its modification time in seconds and nanoseconds, at that moment. */
  readonly size: number;
  readonly seconds: number;
  readonly nanoseconds: number;
  /** Hex digits of the object that holds the content. */
  readonly object: string;
}

export interface GitIndex {
  /** By path below the checkout's root. */
  readonly entries: ReadonlyMap<string, IndexEntry>;
  /** Whether something below a folder was added to the index since the last commit or checkout; '' is the root. */
  readonly isChanged: (folder: string) => boolean;
}

/** Parses git's index, versions 2 to 4 with SHA-1 (gitformat-index(5)). Null if it has another format. */
export const parseIndex = (bytes: Buffer): GitIndex | null => {
  if (bytes.length < 32 || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  const entries = new Map<string, IndexEntry>();
  let at = 12;
  let name = '';
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const isExtended = (bytes.readUInt16BE(at + 60) & 0x4000) !== 0;
    const nameAt = at + (isExtended ? 64 : 62);
    const entry = {
      seconds: bytes.readUInt32BE(at + 8),
      nanoseconds: bytes.readUInt32BE(at + 12),
      size: bytes.readUInt32BE(at + 36),
      object: bytes.toString('hex', at + 40, at + 60),
    };
    if (version === 4) {
      const [dropped, textAt] = offsetAt(bytes, nameAt);
      const end = bytes.indexOf(0, textAt);
      // How many characters to drop from the end of the previous name; each character is a byte here.
      name = name.slice(0, name.length - dropped) + bytes.toString('latin1', textAt, end);
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, nameAt);
      name = bytes.toString('latin1', nameAt, end);
      at += (Math.floor((end - at) / 8) + 1) * 8;
    }
    entries.set(Buffer.from(name, 'latin1').toString('utf8'), entry);
  }
  const changed = changedFolders(bytes, at);
  return changed && { entries, isChanged: (folder) => changed.has(folder) };
};

/** A number of variable length, as in packs: each byte but the last has its highest bit set. */
const offsetAt = (bytes: Buffer, start: number): [number, number] => {
  let at = start;
  let value = bytes[at]! & 0x7f;
  while ((bytes[at]! & 0x80) !== 0) {
    at += 1;
    value = (value + 1) * 128 + (bytes[at]! & 0x7f);
  }
  return [value, at + 1];
};

/** The extension with the cached trees: a folder without a tree has changed. */
const changedFolders = (bytes: Buffer, start: number): ReadonlySet<string> | null => {
  const changed = new Set<string>();
  for (let at = start; at + 8 <= bytes.length - 20;) {
    const [kind, size] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32BE(at + 4)];
    // A split index has its entries in another file.
    if (kind === 'link') return null;
    if (kind === 'TREE') readTrees(bytes.subarray(at + 8, at + 8 + size), changed);
    at += 8 + size;
  }
  return changed;
};

const readTrees = (bytes: Buffer, changed: Set<string>): void => {
  let at = 0;
  const readTree = (parent: string): void => {
    const end = bytes.indexOf(0, at);
    const lineEnd = bytes.indexOf(10, end);
    const name = bytes.toString('utf8', at, end);
    const [entries = 0, trees = 0] = bytes
      .toString('latin1', end + 1, lineEnd)
      .split(' ')
      .map(Number);
    const folder = parent === '' ? name : `${parent}/${name}`;
    if (entries < 0) changed.add(folder);
    at = lineEnd + 1 + (entries < 0 ? 0 : 20);
    for (let left = trees; left > 0; left -= 1) readTree(folder);
  };
  readTree('');
};
