import { randomUUID } from 'node:crypto';
import { mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** One of the ways in which template files are changed in practice, all below a directory `home`. */
export interface Way {
  readonly name: string;
  /** What the program is told to watch. */
  readonly root: string;
  /** The file that it then reads. */
  readonly read: string;
  readonly prepare: (home: string, content: string) => Promise<void>;
  readonly change: (home: string, content: string) => Promise<void>;
}

export const writeBelow = async (home: string, file: string, content: string): Promise<void> => {
  await mkdir(path.dirname(path.join(home, file)), { recursive: true });
  await writeFile(path.join(home, file), content);
};

/** A link in the place of whatever is there, in one step. */
export const pointBelow = (home: string, link: string, target: string): Promise<void> =>
  moveOver(home, link, (temporary) => symlink(target, temporary));

/** What replaces a link or file in one step, as those do who want no reader to see half of it. */
const moveOver = async (
  home: string,
  target: string,
  make: (temporary: string) => Promise<void>,
): Promise<void> => {
  const temporary = path.join(home, randomUUID());
  await make(temporary);
  await rename(temporary, path.join(home, target));
};

/** Saves a file as most editors do. */
const saveOver =
  (file: string): Way['change'] =>
  (home, content) =>
    moveOver(home, file, (temporary) => writeFile(temporary, content));

/** A tree with `a.yaml` under a fresh name, as the kubelet makes them. */
const tree = async (home: string, content: string): Promise<string> => {
  const name = `..${randomUUID()}`;
  await writeBelow(home, path.join('root', name, 'a.yaml'), content);
  return name;
};

const known: readonly (Omit<Way, 'prepare'> & Partial<Way>)[] = [
  {
    name: 'a file written in place',
    root: 'root',
    read: 'root/zones/a.yaml',
    change: (home, content) => writeBelow(home, 'root/zones/a.yaml', content),
  },
  {
    name: 'a file saved by moving a new one over it',
    root: 'root',
    read: 'root/a.yaml',
    change: saveOver('root/a.yaml'),
  },
  {
    name: 'a file that was given by its own path',
    root: 'root/a.yaml',
    read: 'root/a.yaml',
    change: saveOver('root/a.yaml'),
  },
  {
    name: 'a ConfigMap whose ..data is swapped',
    root: 'root',
    read: 'root/a.yaml',
    prepare: async (home, content) => {
      await symlink(await tree(home, content), path.join(home, 'root/..data'));
      await symlink('..data/a.yaml', path.join(home, 'root/a.yaml'));
    },
    change: async (home, content) => {
      const old = await readlink(path.join(home, 'root/..data'));
      await pointBelow(home, 'root/..data', await tree(home, content));
      await rm(path.join(home, 'root', old), { recursive: true });
    },
  },
  {
    name: 'a git-sync link turned to another tree, the old one kept',
    root: 'git/current/zones',
    read: 'git/current/zones/a.yaml',
    prepare: async (home, content) => {
      await writeBelow(home, 'git/first/zones/a.yaml', content);
      await symlink('first', path.join(home, 'git/current'));
    },
    change: async (home, content) => {
      const name = randomUUID();
      await writeBelow(home, `git/${name}/zones/a.yaml`, content);
      await pointBelow(home, 'git/current', name);
    },
  },
  {
    name: 'a git-sync link turned to another tree, the old one deleted',
    root: 'git/current',
    read: 'git/current/a.yaml',
    prepare: async (home, content) => {
      await writeBelow(home, 'git/first/a.yaml', content);
      await symlink('first', path.join(home, 'git/current'));
    },
    change: async (home, content) => {
      const [name, old] = [randomUUID(), await readlink(path.join(home, 'git/current'))];
      await writeBelow(home, `git/${name}/a.yaml`, content);
      await pointBelow(home, 'git/current', name);
      await rm(path.join(home, 'git', old), { recursive: true });
    },
  },
  {
    name: 'the root replaced by rename',
    root: 'root',
    read: 'root/a.yaml',
    change: async (home, content) => {
      await writeBelow(home, 'new/a.yaml', content);
      await rename(path.join(home, 'root'), path.join(home, randomUUID()));
      await rename(path.join(home, 'new'), path.join(home, 'root'));
    },
  },
  {
    name: 'the root removed and made again',
    root: 'root',
    read: 'root/a.yaml',
    change: async (home, content) => {
      await rm(path.join(home, 'root'), { recursive: true });
      await writeBelow(home, 'root/a.yaml', content);
    },
  },
];

/** Where nothing else is said, the file is just there before. */
export const ways: readonly Way[] = known.map((way) => ({
  prepare: (home, content) => writeBelow(home, way.read, content),
  ...way,
}));
