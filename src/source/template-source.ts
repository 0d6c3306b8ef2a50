import path from 'node:path';
import { createTemplateLoader, type LoadOptions, type TemplateLoader } from './load.ts';
import { openCheckouts } from './checkout.ts';
import type { Look } from './watch.ts';
import type { Clock } from '../lib/clock.ts';
import type { DesiredState } from '../model/template.ts';

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
    look: () => lookWith(loader, options, () => taken),
    revisions,
    version: async () => {
      const { files } = await loader.load(options);
      const digest = loader.digest();
      if (digest === null || (files === 0 && options.allowEmpty !== true)) return null;
      const found = loader.places()?.files ?? [];
      const commits = new Set(found.map((file) => file.path).map(revisions()));
      return { digest, commit: commits.size === 1 ? [...commits][0]! : null };
    },
  };
};

const lookWith = async (
  loader: TemplateLoader,
  options: LoadOptions,
  taken: () => DesiredState | null,
): Promise<Look> => {
  const found = await loader.load(options);
  const { directories = new Map<string, string>() } = loader.places() ?? {};
  // Before the first pass there is nothing to tell: it comes in any case.
  const known = taken();
  const change = known === null || found === known ? null : found;
  return { change, directories, dueIn: loader.dueIn() };
};
