import path from 'node:path';
import { maxFileSize } from '../desired/parse-file.ts';
import type { Clock } from '../lib/clock.ts';
import type { DesiredState } from '../model/template.ts';
import { readBeginning } from '../regular-file.ts';
import { openCheckouts } from './checkout.ts';
import { createTemplateLoader, type LoadOptions } from './load.ts';
import { filesIn } from './scan.ts';
import type { Look } from './watch.ts';

/** Where the passes of one client take its template files from. */
export interface TemplateSource {
  readonly load: (signal?: AbortSignal) => Promise<DesiredState>;
  /** Whether the files are other ones than were loaded last, for a watcher. */
  readonly look: () => Promise<Look>;
  /** The git commit of a file that was loaded last, for one pass. */
  readonly revisions: () => (file: string) => string | null;
  /** By what other processes can tell whether they have the same files; null if they are absent or cannot be read. */
  readonly version: () => Promise<SourceVersion | null>;
}

export interface SourceVersion {
  /** Of all files, their paths and contents. */
  readonly digest: string;
  /** The git commit of the checkout that all of them are in; null if there is none or several. */
  readonly commit: string | null;
}

export interface TemplateSourceOptions {
  /** Whether files that may be half uploaded wait, as they do for a daemon. */
  readonly waits: boolean;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Called with the path of a file that begins to wait. */
  readonly onWait?: (file: string) => void;
}

/** The files of this machine. */
export const openTemplateSource = (options: LoadOptions, more: TemplateSourceOptions): TemplateSource => {
  const loader = createTemplateLoader(more);
  let taken: DesiredState | null = null;
  const revisions = (): ((file: string) => string | null) => {
    const checkoutOf = openCheckouts();
    return (file) => checkoutOf(path.resolve(options.cwd ?? '', file))?.commit ?? null;
  };
  return {
    load: async (signal) => {
      taken = await loader.load(options, signal);
      return taken;
    },
    look: async () => {
      const found = await loader.load(options);
      // Before the first pass there is nothing to tell: it comes in any case.
      const change = taken === null || found === taken ? null : found;
      return { change, directories: loader.scan()?.directories ?? new Map() };
    },
    revisions,
    version: async () => {
      const { files } = await loader.load(options);
      const digest = loader.digest();
      const scan = loader.scan();
      if (scan === null || digest === null || (files === 0 && options.allowEmpty !== true)) return null;
      const commits = new Set(
        filesIn(scan)
          .map((one) => one.path)
          .map(revisions()),
      );
      return { digest, commit: commits.size === 1 ? [...commits][0]! : null };
    },
  };
};

/** The template files of this machine, and as they would be with other texts. */
export interface WorkingCopy {
  /** The content of a file. */
  readonly read: (path: string) => Promise<Buffer | undefined>;
  /** The templates if these files had these texts; one after the other. */
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
}

export const openWorkingCopy = (options: LoadOptions): WorkingCopy => {
  let given: ReadonlyMap<string, string> = new Map();
  const loader = createTemplateLoader({
    read: (file, readFile) => {
      const text = given.get(file);
      return text === undefined ? readFile() : Promise.resolve(Buffer.from(text));
    },
  });
  return {
    read: (file) => readBeginning(path.resolve(options.cwd ?? '', file), maxFileSize + 1),
    load: (texts) => {
      given = texts;
      return loader.load(options);
    },
  };
};
