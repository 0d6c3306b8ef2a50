import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileContents, type FileContents } from './file-contents.ts';

/** What template files are like at one moment. Equal means: nothing happened since. */
export interface Fingerprint {
  /** The real path of each root that exists. */
  readonly realRoots: readonly string[];
  /** Which directories and files the roots lead to. */
  readonly roots: string;
  /** That, and every entry below them. */
  readonly whole: string;
}

export type TakeFingerprint = () => Promise<Fingerprint>;

/**
 * Looks through symbolic links, since that is how mounted files change: a link is pointed at another tree.
 * Entries whose name starts with a dot are left out. What cannot be read is part of the print, and no error.
 */
export const fingerprints = (paths: readonly string[]): TakeFingerprint => {
  const contents = fileContents();
  return async () => {
    const roots = await Promise.all(paths.map((root) => rootOf(root)));
    const realRoots = roots.flatMap(({ real }) => real ?? []);
    const below = await Promise.all(realRoots.map((real) => entriesBelow(real, [], contents)));
    const entries = below.flat();
    contents.forgetAllBut(entries.map(({ entry }) => entry));
    const rootLines = roots.map(({ line }) => line).join('\n');
    return { realRoots, roots: rootLines, whole: [rootLines, ...entries.map(({ line }) => line)].join('\n') };
  };
};

interface Root {
  readonly real: string | null;
  readonly line: string;
}

const rootOf = async (root: string): Promise<Root> => {
  try {
    const real = await realpath(root);
    const { dev, ino } = await stat(real, { bigint: true });
    return { real, line: `${root} ${real} ${dev}:${ino}` };
  } catch (error) {
    return { real: null, line: `${root} ${codeOf(error)}` };
  }
};

interface Entry {
  readonly entry: string;
  readonly line: string;
}

/** The entry and each one below it. `above` are the directories on the way, against circles of links. */
const entriesBelow = async (
  entry: string,
  above: readonly string[],
  contents: FileContents,
): Promise<readonly Entry[]> => {
  try {
    const stats = await stat(entry, { bigint: true });
    const identity = `${stats.dev}:${stats.ino}`;
    if (!stats.isDirectory()) return [{ entry, line: `${entry} ${await contents.markOf(entry, stats)}` }];
    if (above.includes(identity)) return [];

    const names = (await readdir(entry)).filter((name) => !name.startsWith('.')).sort();
    const below = await Promise.all(
      names.map((name) => entriesBelow(path.join(entry, name), [...above, identity], contents)),
    );
    return [{ entry, line: `${entry} ${identity}` }, ...below.flat()];
  } catch (error) {
    return [{ entry, line: `${entry} ${codeOf(error)}` }];
  }
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
