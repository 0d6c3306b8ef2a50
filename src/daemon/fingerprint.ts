import { realpath, stat } from 'node:fs/promises';
import { codeOf } from '../errors.ts';
import { fileContents, type WatchedFile } from './file-contents.ts';

/** What template files are like at one moment. Equal means: nothing happened since. */
export interface Fingerprint {
  /** The real path of each root that exists. */
  readonly realRoots: readonly string[];
  /** Which directories and files the roots lead to, and which directories lie below them. */
  readonly directories: string;
  /** That, and every template file and fragment below them. */
  readonly whole: string;
}

export type TakeFingerprint = () => Promise<Fingerprint>;

/** Finds the template files and fragments, and what is there and cannot be read. */
export type LookForFiles = () => Promise<{
  readonly directories: ReadonlyMap<string, string>;
  readonly files: readonly (WatchedFile & { readonly path: string })[];
  readonly missing: readonly { readonly path: string; readonly reason: string }[];
}>;

/** What cannot be read is part of the print, and no error. */
export const fingerprints = (paths: readonly string[], look: LookForFiles): TakeFingerprint => {
  const contents = fileContents();
  return async () => {
    const roots = await Promise.all(paths.map((root) => rootOf(root)));
    const { directories, files, missing } = await look();
    const lines = [
      ...roots.map(({ line }) => line),
      ...[...directories].map(([real, identity]) => `${real} ${identity}`),
    ];
    const directoryLines = lines.join('\n');
    // One after the other: of very many files, all at once would take more descriptors than there are.
    for (const file of files) {
      const mark = contents.markOf(file);
      lines.push(`${file.path} ${file.real} ${typeof mark === 'string' ? mark : await mark}`);
    }
    contents.forgetAllBut(files);
    for (const { path, reason } of missing) lines.push(`${path} ${reason}`);
    return {
      realRoots: roots.flatMap(({ real }) => real ?? []),
      directories: directoryLines,
      whole: lines.join('\n'),
    };
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
