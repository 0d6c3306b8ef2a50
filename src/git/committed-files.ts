import { openObjects, type ObjectReader } from './objects.ts';
import type { CheckedOut } from './revision.ts';

/** The files of one commit. Folders that were read are kept. */
export interface CommittedFiles {
  readonly commit: string;
  /** The object of a file; null if the commit has none. Throws if the commit cannot be read. */
  readonly idOf: (names: readonly string[]) => string | null;
  /** Whether git stores another content than it checks out, as Git LFS and git-crypt do. */
  readonly isFiltered: (id: string) => boolean;
}

export const openCommittedFiles = ({ gitDir, commit }: CheckedOut): CommittedFiles => {
  const folders = new Map<string, ReadonlyMap<string, string>>();
  const filtered = new Map<string, boolean>();
  const use = <T>(task: (reader: ObjectReader) => T): T => {
    const reader = openObjects(gitDir, commit);
    try {
      return task(reader);
    } finally {
      reader.close();
    }
  };
  const folderAt = (names: readonly string[]): ReadonlyMap<string, string> | null => {
    const key = names.join('/');
    const known = folders.get(key);
    if (known) return known;
    const parent = names.length === 0 ? null : folderAt(names.slice(0, -1));
    const id = parent?.get(names.at(-1)!) ?? null;
    if (names.length > 0 && id === null) return null;
    const found = use((reader) => entriesIn(reader, id ?? treeOf(reader, commit), commit.length / 2));
    folders.set(key, found);
    return found;
  };
  return {
    commit,
    idOf: (names) => folderAt(names.slice(0, -1))?.get(names.at(-1)!) ?? null,
    isFiltered: (id) => {
      const known = filtered.get(id);
      if (known !== undefined) return known;
      const stored = use((reader) => reader.read(id)?.content.toString('latin1', 0, 40) ?? '');
      const found = markers.some((marker) => stored.startsWith(marker));
      filtered.set(id, found);
      return found;
    },
  };
};

const markers = ['version https://git-lfs', '\0GITCRYPT\0'];

const treeOf = (reader: ObjectReader, commit: string): string => {
  const text = reader.read(commit)?.content.toString('latin1') ?? '';
  return /^tree ([0-9a-f]+)\n/.exec(text)?.[1] ?? '';
};

/** An entry is its mode, a blank, its name, a zero and its id. */
const entriesIn = (reader: ObjectReader, id: string, idLength: number): ReadonlyMap<string, string> => {
  const tree = reader.read(id);
  if (tree?.kind !== 'tree') throw new Error('the commit is incomplete');
  const entries = new Map<string, string>();
  for (let at = 0; at < tree.content.length;) {
    const blank = tree.content.indexOf(0x20, at);
    const end = tree.content.indexOf(0, blank);
    if (blank === -1 || end === -1) throw new Error('a folder of the commit is malformed');
    at = end + 1 + idLength;
    entries.set(tree.content.toString('utf8', blank + 1, end), tree.content.toString('hex', end + 1, at));
  }
  return entries;
};
