import { fileContents, type WatchedFile } from './file-contents.ts';

/** The state of the template files at one moment. Equal fingerprints mean that nothing changed. */
export interface Fingerprint {
  /** The real path of each root that exists. */
  readonly realRoots: readonly string[];
  /** Which directories and files the roots lead to, and which directories lie below them. */
  readonly directories: string;
  /** The directories, and every template file and fragment below them. */
  readonly files: string;
}

export type TakeFingerprint = () => Promise<Fingerprint>;

/** Lists the template files and fragments, and what cannot be read. */
export type ScanFiles = () => Promise<{
  readonly realRoots: readonly string[];
  readonly directories: ReadonlyMap<string, string>;
  readonly files: readonly (WatchedFile & { readonly path: string })[];
  readonly missing: readonly { readonly path: string; readonly reason: string }[];
}>;

/** Unreadable files are part of the fingerprint, not an error. */
export const fingerprints = (scan: ScanFiles): TakeFingerprint => {
  const contents = fileContents();
  return async () => {
    const { realRoots, directories, files, missing } = await scan();
    const lines = [
      ...realRoots,
      ...files.filter(({ real }) => realRoots.includes(real)).map(whichFile),
      ...[...directories].map(([real, identity]) => `${real} ${identity}`),
    ];
    const directoryLines = lines.join('\n');
    // One after the other: reading thousands of files at once could use up the file descriptors.
    for (const file of files) {
      const mark = contents.markOf(file);
      lines.push(`${file.path} ${file.real} ${typeof mark === 'string' ? mark : await mark}`);
    }
    contents.forgetAllBut(files);
    for (const { path, reason } of missing) lines.push(`${path} ${reason}`);
    return { realRoots, directories: directoryLines, files: lines.join('\n') };
  };
};

const whichFile = ({ real, identity: { dev, ino } }: WatchedFile): string => `${real} ${dev}:${ino}`;
