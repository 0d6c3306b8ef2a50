import path from 'node:path';
import { maxFileSize } from '../desired/parse-file.ts';
import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import { readBeginning } from '../regular-file.ts';
import { openCheckouts } from './checkout.ts';
import { createTemplateLoader, type LoaderOptions, type LoadOptions } from './load.ts';
import { filesIn } from './scan.ts';
import { filesOf } from './uploads.ts';
import type { Look } from './watch.ts';

/** Where the passes of one client take its template files from: the files of this machine. */
export const openTemplateSource = (options: LoadOptions, more: Omit<LoaderOptions, 'read'>) => {
  const loader = createTemplateLoader(more);
  let taken: DesiredState | null = null;
  /** The git commit of a file that was loaded last, for one pass. */
  const revisions = (): ((file: string) => string | null) => {
    const checkoutOf = openCheckouts();
    return (file) => checkoutOf(path.resolve(options.cwd ?? '', file))?.commit ?? null;
  };
  return {
    load: async (signal?: AbortSignal): Promise<DesiredState> => {
      taken = await loader.load(options, signal);
      return taken;
    },
    /** Whether the files are other ones than were loaded last, for a watcher. */
    look: async (): Promise<Look> => {
      const found = await loader.load(options);
      // Before the first pass there is nothing to tell: it comes in any case.
      const change = taken === null || found === taken ? null : found;
      return { change, directories: loader.scan()?.directories ?? new Map() };
    },
    /**
     * What the files say by now, which counts as a change until it is loaded; null where that is still these templates. Nobody
     * knows yet what one that waits will say.
     */
    peek: async (templates: readonly DesiredTemplate[]): Promise<DesiredState | null> => {
      if (await loader.isCurrent(templates, options.cwd ?? '')) return null;
      const found = await loader.load(options);
      const waiting = loader.waiting();
      const isWhole = (one: DesiredTemplate): boolean => !filesOf(one).some((file) => waiting.has(file));
      return { ...found, templates: found.templates.filter(isWhole) };
    },
    revisions,
    /**
     * By what other processes can tell whether they have the same files: a digest of all their paths and contents, and the
     * git commit of the checkout that all of them are in; null if there is none or several. Null if files are absent or
     * cannot be read.
     */
    version: async (): Promise<{ readonly digest: string; readonly commit: string | null } | null> => {
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
export const openWorkingCopy = (options: LoadOptions) => {
  let given: ReadonlyMap<string, string> = new Map();
  const loader = createTemplateLoader({
    read: (file, readFile) => {
      const text = given.get(file);
      return text === undefined ? readFile() : Promise.resolve(Buffer.from(text));
    },
  });
  return {
    /** The content of a file. */
    read: (file: string): Promise<Buffer | undefined> =>
      readBeginning(path.resolve(options.cwd ?? '', file), maxFileSize + 1),
    /** The templates if these files had these texts; one after the other. */
    load: (texts: ReadonlyMap<string, string>): Promise<DesiredState> => {
      given = texts;
      return loader.load(options);
    },
  };
};
