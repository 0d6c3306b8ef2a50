import { sameElements } from '../../lib/same-elements.ts';
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

/**
 * Unreadable files are part of the fingerprint, not an error. While nothing changes it is the same object, and the lines
 * of thousands of files are neither written nor compared by their letters.
 */
export const fingerprints = (scan: ScanFiles): TakeFingerprint => {
  const contents = fileContents();
  const lineOf = linesByFile();
  let last: { readonly lines: readonly string[]; readonly fingerprint: Fingerprint } | null = null;
  return async () => {
    const { realRoots, directories, files, missing } = await scan();
    const lines = [
      ...realRoots,
      ...files.filter(({ real }) => realRoots.includes(real)).map(whichFile),
      ...[...directories].map(([real, identity]) => `${real} ${identity}`),
    ];
    const directoryLineCount = lines.length;
    // One after the other: reading thousands of files at once could use up the file descriptors.
    for (const file of files) {
      const mark = contents.markOf(file);
      lines.push(lineOf(file, typeof mark === 'string' ? mark : await mark));
    }
    contents.forgetAllBut(files);
    for (const { path, reason } of missing) lines.push(`${path} ${reason}`);
    if (last !== null && sameElements(lines, last.lines)) return last.fingerprint;
    const fingerprint = {
      realRoots,
      directories: lines.slice(0, directoryLineCount).join('\n'),
      files: lines.join('\n'),
    };
    last = { lines, fingerprint };
    return fingerprint;
  };
};

/** An unchanged file has the same line, which is found equal at once. */
const linesByFile = (): ((file: WatchedFile & { readonly path: string }, mark: string) => string) => {
  const known = new WeakMap<WatchedFile, { readonly mark: string; readonly line: string }>();
  return (file, mark) => {
    const before = known.get(file);
    if (before?.mark === mark) return before.line;
    const line = `${file.path} ${file.real} ${mark}`;
    known.set(file, { mark, line });
    return line;
  };
};

const whichFile = ({ real, identity: { dev, ino } }: WatchedFile): string => `${real} ${dev}:${ino}`;
