import path from 'node:path';
import { createTemplateLoader, type LoadOptions } from './load.ts';
import { openOwnFiles, type OwnVersion } from './own-files.ts';
import { readCommit, type CommitWords } from '../git/commit.ts';
import { createRevisions } from '../git/revision.ts';
import type { ScanResult } from './scan.ts';
import { createUncommitted } from '../git/uncommitted.ts';
import type { DesiredState } from '../model/template.ts';

/** Where the passes of one client take its template files from. */
export interface TemplateSource {
  readonly load: (signal?: AbortSignal) => Promise<DesiredState>;
  /** Whether files were loaded before, so that only changed ones take time. */
  readonly hasCache: () => boolean;
  /** Lists the files of this machine, for a watcher. */
  readonly scan: () => Promise<ScanResult>;
  /** The git commit of a file that was loaded last, for one pass. */
  readonly revisions: () => (file: string) => string | null;
  /** Who made a commit of its checkout, and why; null if that cannot be read here. */
  readonly readCommit: (file: string, revision: string) => CommitWords | null;
  /** Whether such a file differs from its commit, for one pass. */
  readonly uncommitted: () => (file: string) => boolean;
  /** By what other processes can tell whether they have the same files; null if they are absent or cannot be read. */
  readonly version: () => Promise<OwnVersion | null>;
}

/** The files of this machine. */
export const ownTemplates = (options: LoadOptions): TemplateSource => {
  const loader = createTemplateLoader();
  const own = openOwnFiles(options.paths, options.cwd);
  const uncommitted = createUncommitted();
  const placeOf = (file: string): string => path.resolve(options.cwd ?? '', file);
  return {
    load: (signal) => loader.load(options, signal),
    hasCache: loader.hasCache,
    scan: () => loader.scan(options),
    revisions: () => {
      const revisionOf = createRevisions();
      return (file) => revisionOf(placeOf(file));
    },
    readCommit: (file, revision) => readCommit(placeOf(file), revision),
    uncommitted: () => {
      const isUncommitted = uncommitted();
      return (file) => isUncommitted(placeOf(file));
    },
    version: () => own.version(options.allowEmpty === true),
  };
};
