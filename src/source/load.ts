import { isMissing, type FileContent, type SourceFile } from '../desired/source-file.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { PublishedFile } from '../model/published.ts';
import type { DesiredState } from '../model/template.ts';
import { desiredState, noTemplates } from '../desired/desired-state.ts';
import { resolveFile, type ResolvedFile } from '../desired/resolve-file.ts';
import type { ScanResult, ScannedFile } from './scan.ts';
import {
  isNewer,
  isUnchanged,
  scanPaths,
  readSnapshot,
  type Scan,
  type ParseCache,
  type Snapshot,
  type SnapshotFingerprint,
} from './snapshot.ts';
import { contentHash, contentOf } from './own-files.ts';
import { readPublished, type FetchContents } from './read-published.ts';
import type { TemplateSettings } from '../desired/resolve-template.ts';

export interface LoadOptions extends TemplateSettings {
  /** Directories, read at most 100 deep, and files. */
  readonly paths: readonly string[];
  /** What relative paths start from; default: the working directory of the process. */
  readonly cwd?: string;
  /** Having no template files is not an error. */
  readonly allowEmpty?: boolean;
}

export interface TemplateLoader {
  /**
   * Reads all files as they are at one moment. Errors come back as problems; it does not throw. Unchanged
   * files give the same object, and an unchanged text the same template object. Loads run one after the
   * other; an aborted signal rejects between two templates.
   */
  readonly load: (options: LoadOptions, signal?: AbortSignal) => Promise<DesiredState>;
  /** The same from files that another process has published. Contents that are known are not asked for. */
  readonly loadPublished: (
    options: LoadOptions,
    files: readonly PublishedFile[],
    contents: FetchContents,
    signal?: AbortSignal,
  ) => Promise<DesiredState>;
  /** Lists the files for a watcher. The next load can start from this scan. */
  readonly scan: (options: Pick<LoadOptions, 'paths' | 'cwd'>) => Promise<ScanResult>;
  /** Whether files were loaded before, so that only changed ones take time. */
  readonly hasCache: () => boolean;
}

/** A loader with a cache by content: an unchanged file costs nothing. Long work yields to other tasks. */
export const createTemplateLoader = (): TemplateLoader => {
  let previous: PreviousLoad | null = null;
  let recentScan: { readonly paths: readonly string[]; readonly scan: Scan } | null = null;
  const scanNow = ({ paths, cwd }: Pick<LoadOptions, 'paths' | 'cwd'>): Promise<Scan> =>
    scanPaths(paths, { cwd, before: previous?.fingerprint?.result });
  /** Used only as the first of two scans, which have to agree: files may have changed since. */
  const takeRecentScan = (paths: readonly string[]): Scan | null => {
    const taken = recentScan;
    recentScan = null;
    if (!previous?.fingerprint || taken?.paths.join('\n') !== paths.join('\n')) return null;
    return isNewer(previous.fingerprint, taken.scan) ? taken.scan : null;
  };
  let last: Promise<unknown> = Promise.resolve();
  const loadNow = async (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
    if (previous?.key !== keyOf(options)) previous = null;
    const scan = takeRecentScan(options.paths) ?? (await scanNow(options));
    if (previous?.fingerprint && (await isUnchanged(previous.fingerprint, scan))) return previous.state;
    const read = (cache: ParseCache): Promise<Snapshot> =>
      readSnapshot(options.paths, cache, { cwd: options.cwd, first: scan });
    previous = await loadAnew(options, read, previous, signal);
    return previous.state;
  };
  const inTurn = (begin: () => Promise<DesiredState>): Promise<DesiredState> => {
    const loaded = last.then(begin, begin);
    last = loaded;
    return loaded;
  };
  return {
    hasCache: () => previous !== null,
    scan: async (options) => {
      const scan = await scanNow(options);
      recentScan = { paths: options.paths, scan };
      return scan.result;
    },
    load: (options, signal) => inTurn(() => loadNow(options, signal)),
    loadPublished: (options, files, contents, signal) =>
      inTurn(async () => {
        if (previous?.key !== keyOf(options)) previous = null;
        const read = (cache: ParseCache): Promise<Snapshot> => readPublished(files, contents, cache);
        previous = await loadAnew(options, read, previous, signal);
        return previous.state;
      }),
  };
};

/** Everything that results depend on, besides the files. */
const keyOf = (options: LoadOptions): string => JSON.stringify(options);

/** What a load keeps for the next one with the same settings. */
interface PreviousLoad {
  readonly key: string;
  readonly state: DesiredState;
  readonly fingerprint: SnapshotFingerprint | null;
  /** Those whose times are old enough to identify them. */
  readonly files: ReadonlyMap<ScannedFile, SourceFile>;
  /** By the hash of a content. */
  readonly parsed: ReadonlyMap<string, FileContent>;
  /** By all that a file's templates depend on. */
  readonly resolved: ReadonlyMap<string, ResolvedFile>;
}

const loadAnew = async (
  options: LoadOptions,
  readFiles: (cache: ParseCache) => Promise<Snapshot>,
  previous: PreviousLoad | null,
  signal?: AbortSignal,
): Promise<PreviousLoad> => {
  const { paths, cwd: _, allowEmpty = false, ...settings } = options;
  const read = new Map<ScannedFile, SourceFile>();
  const parsed = new Map<string, FileContent>();
  const known = (hash: string): FileContent | undefined => {
    const content = previous?.parsed.get(hash) ?? parsed.get(hash);
    if (content !== undefined) parsed.set(hash, content);
    return content;
  };
  const cache: ParseCache = {
    parse: async (bytes, isFragment) => {
      const hash = contentHash(bytes, isFragment);
      const content = known(hash) ?? (await contentOf(hash, bytes, isFragment));
      if (!content.bytes) parsed.set(hash, content);
      return content;
    },
    known,
    get: (found) => {
      const file = previous?.files.get(found);
      if (file) read.set(found, file);
      return file;
    },
    set: (found, file) => read.set(found, file),
  };
  const snapshot = await readFiles(cache);
  const before = previous?.resolved ?? new Map<string, ResolvedFile>();
  const resolved = await resolveAll(snapshot.files, settings, before, signal);
  const ofFile = new Map([...resolved.values()].map((made) => [made.file.path, made]));
  const readings = [...ofFile.values()];
  const files = snapshot.files.map((file) => ofFile.get(file.path)?.file ?? file);
  const { missing } = snapshot;
  const mayHaveNone = allowEmpty || missing.length > 0;
  const absent = readings.length > 0 || mayHaveNone ? [] : [noTemplates(paths)];
  const state = desiredState({ files, missing }, readings, absent, settings.strict);
  for (const [found, file] of read) {
    read.set(found, ofFile.get(file.path)?.file ?? file);
    if (file.parsed.documents.length > 0) parsed.set(file.hash, file);
  }
  return { key: keyOf(options), state, fingerprint: snapshot.fingerprint, files: read, parsed, resolved };
};

const resolveAll = async (
  files: readonly SourceFile[],
  settings: TemplateSettings,
  known: ReadonlyMap<string, ResolvedFile>,
  signal?: AbortSignal,
): Promise<Map<string, ResolvedFile>> => {
  const resolved = new Map<string, ResolvedFile>();
  for (const file of files) {
    if (file.isFragment) continue;
    const key = inputKeyOf(file);
    if (isYieldDue()) await yieldToOthers();
    resolved.set(key, known.get(key) ?? (await resolveFile(file, settings, signal)));
  }
  return resolved;
};

/** Keys of files without includes, which stay the same objects while they do not change. */
const inputKeys = new WeakMap<SourceFile, string>();

const inputKeyOf = (file: SourceFile): string => {
  const known = inputKeys.get(file);
  if (known !== undefined) return known;
  const key = JSON.stringify(inputsOf(file));
  if (file.includes.size === 0) inputKeys.set(file, key);
  return key;
};

/**
 * Everything that the templates of a file depend on, except settings: the content of the file and of its
 * fragments.
 */
const inputsOf = (file: SourceFile): unknown => {
  const files = [file];
  const numbers = new Map([[file, 0]]);
  const numberOf = (fragment: SourceFile): number => {
    const number = numbers.get(fragment) ?? files.push(fragment) - 1;
    numbers.set(fragment, number);
    return number;
  };
  const inputs: unknown[] = [];
  // The loop appends fragments to its own list, so deep includes need no recursion.
  for (const { path, hash, includes } of files) {
    const targets = [...includes].map(([text, target]) => [
      text,
      isMissing(target) ? target : numberOf(target),
    ]);
    inputs.push([path, hash, targets]);
  }
  return inputs;
};
