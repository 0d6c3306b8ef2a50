import path from 'node:path';
import { createTemplateLoader, type LoadOptions, type TemplateLoader } from './load.ts';
import { openOwnFiles } from './own-files.ts';
import { openCheckouts } from './checkout.ts';
import type { Look } from './watch.ts';
import type { Clock } from '../lib/clock.ts';
import { UserError } from '../errors.ts';
import type { Publication, PublishedHead } from '../model/published.ts';
import type { DesiredState } from '../model/template.ts';
import { MemoryError } from '../state/memory.ts';
import { Publisher } from '../state/publisher.ts';
import type { SnapshotStore } from '../state/snapshots.ts';

/** Where the passes of one client take its template files from. */
export interface TemplateSource {
  readonly load: (signal?: AbortSignal) => Promise<DesiredState>;
  /** Whether files were loaded before, so that only changed ones take time. */
  readonly hasCache: () => boolean;
  /** Whether the files of this machine are other ones than were loaded last, for a watcher. */
  readonly look: () => Promise<Look>;
  /** The git commit of a file that was loaded last, for one pass. */
  readonly revisions: () => (file: string) => string | null;
  /** Offers the files of this machine to others; null where they are not shared. */
  readonly publish: () => Promise<Publication | null>;
  /** A pass has gone over the files that were loaded last. */
  readonly wasPassed: () => Promise<void>;
}

export interface OwnTemplatesOptions {
  /** Whether files that may be half uploaded wait, as they do for a daemon. */
  readonly waits: boolean;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** The files of this machine. */
export const ownTemplates = (options: LoadOptions, own: OwnTemplatesOptions): TemplateSource => {
  const loader = createTemplateLoader(own);
  let taken: DesiredState | null = null;
  return {
    load: async (signal) => {
      taken = await loader.load(options, signal);
      return taken;
    },
    hasCache: loader.hasCache,
    look: () => lookWith(loader, options, () => taken),
    revisions: () => {
      const checkoutOf = openCheckouts();
      return (file) => checkoutOf(path.resolve(options.cwd ?? '', file))?.commit ?? null;
    },
    publish: () => Promise.resolve(null),
    wasPassed: () => Promise.resolve(),
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

export interface SharedTemplatesOptions {
  readonly load: LoadOptions;
  readonly snapshots: SnapshotStore;
  /** What the client is known by. */
  readonly client: () => string;
  /** Milliseconds after which published files that nobody has are abandoned. */
  readonly patience: number;
}

/** The files that the source has published, whatever is on this machine. */
export const sharedTemplates = ({
  load: options,
  snapshots,
  client,
  patience,
}: SharedTemplatesOptions): TemplateSource => {
  const loader = createTemplateLoader();
  const watched = createTemplateLoader();
  let seen: DesiredState | null = null;
  const publisher = new Publisher(snapshots, openOwnFiles(options.paths, options.cwd), patience);
  let loaded: LoadedSnapshot | null = null;
  let passed = '';
  const contents = async (hashes: readonly string[]): Promise<ReadonlyMap<string, Buffer>> => {
    const found = await snapshots.contents(hashes);
    if (found.size < hashes.length) throw new ReplacedError();
    return found;
  };
  const loadNewest = async (signal?: AbortSignal): Promise<LoadedSnapshot> => {
    const of = client();
    const head = await snapshots.head(of);
    if (head === null) throw new UserError(nothingPublished);
    if (head.mayBeOld) throw new UserError(notOffered);
    if (loaded?.of === of && loaded.head.number === head.number && loaded.head.digest === head.digest)
      return { ...loaded, head };
    const snapshot = await snapshots.read(of);
    if (snapshot === null) throw new UserError(nothingPublished);
    const state = await loader.loadPublished(options, snapshot.files, contents, signal);
    return { of, head: snapshot, state };
  };
  return {
    load: async (signal) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          loaded = await loadNewest(signal);
          return loaded.state;
        } catch (error) {
          // What was loaded last is as new as anybody can know.
          if (error instanceof MemoryError && loaded?.of === client()) return loaded.state;
          if (!(error instanceof ReplacedError) || attempt === tries) throw error;
        }
      }
    },
    hasCache: loader.hasCache,
    look: () => lookWith(watched, options, () => seen),
    revisions: () => () => loaded?.head.revision ?? null,
    publish: async () => {
      seen = await watched.load(options);
      return publisher.offer(client());
    },
    wasPassed: async () => {
      if (loaded === null) return;
      const { of, head } = loaded;
      const publication = `${of} ${head.number} ${head.digest}`;
      if (publication === passed) return;
      await snapshots.pass(of, head.number);
      passed = publication;
    },
  };
};

interface LoadedSnapshot {
  readonly of: string;
  readonly head: PublishedHead;
  readonly state: DesiredState;
}

/** Newer files took the place of those that are read just now. */
class ReplacedError extends Error {
  override message = 'the template files are replaced faster than they can be read';
}

const tries = 5;

const notOffered =
  'PostgreSQL failed over or was restored, and the newest template files may be lost: nothing is written until a process that has them has offered them again, with --role source or all';

const nothingPublished =
  'no template files of this client have been published yet: start a process that has them, with --role source or all';
