import { createHash } from 'node:crypto';
import { isMissing, type FileContent, type SourceFile } from '../desired/source-file.ts';
import { sameElements } from '../lib/same-elements.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { isFragmentPath, type DesiredState } from '../model/template.ts';
import { desiredState, noTemplates } from '../desired/desired-state.ts';
import { parseFile } from '../desired/parse-file.ts';
import { resolveFile, type ResolvedFile, type TemplateSettings } from '../desired/resolve-template.ts';
import { isAtRest } from '../regular-file.ts';
import { bytesOf, contentHash, contentOf } from './content.ts';
import type { ScanResult, ScannedFile } from './scan.ts';
import {
  isUnchanged,
  scanPaths,
  readSnapshot,
  type Basis,
  type ContentOf,
  type Snapshot,
} from './snapshot.ts';
import { endingOf, Uploads, type Ending, type Version } from './uploads.ts';

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
  /** Whether files were loaded before, so that only changed ones take time. */
  readonly hasCache: () => boolean;
  /** Where the last load has found files; null if nothing was loaded, or they kept changing. */
  readonly places: () => ScanResult | null;
  /** Of all files that the last load has taken, their paths and contents; null if any were absent, or could not be read. */
  readonly digest: () => string | null;
  /** Milliseconds after which a load may give something else by time alone; null: never. */
  readonly dueIn: () => number | null;
}

export interface LoaderOptions {
  /** Whether files that may be half uploaded wait; else they are read as they are. */
  readonly waits?: boolean;
  readonly clock?: Pick<Clock, 'now' | 'sleep'>;
  /** Called with the path of a file that begins to wait, since it may be half uploaded. */
  readonly onWait?: (file: string) => void;
  /** The text to read in place of that of a file, by its path. */
  readonly textOf?: (path: string) => string | undefined;
}

/** A loader with a cache by content: an unchanged file costs nothing. Long work yields to other tasks. */
export const createTemplateLoader = ({
  waits = false,
  clock = systemClock,
  onWait = () => undefined,
  textOf,
}: LoaderOptions = {}): TemplateLoader => {
  const uploads = waits ? new Uploads(clock) : null;
  let previous: Load | null = null;
  let digested: { readonly load: Load | null; readonly digest: string | null } = { load: null, digest: null };
  let last: Promise<unknown> = Promise.resolve();
  let waited: ReadonlySet<string> = new Set();
  const loadNow = async (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
    if (previous?.key !== keyOf(options)) previous = null;
    const { paths, cwd = '' } = options;
    let scan = await scanPaths(paths, cwd, previous?.basis?.result);
    const wait = previous === null ? (uploads?.firstWait(scan.result.files, cwd) ?? 0) : 0;
    if (wait > 0) {
      await clock.sleep(wait, signal ?? new AbortController().signal);
      scan = await scanPaths(paths, cwd);
    }
    uploads?.begin(scan.result.files);
    const mayDiffer = uploads?.isOpen === true || textOf !== undefined;
    if (!mayDiffer && previous?.basis && (await isUnchanged(previous.basis, scan))) return previous.state;
    const held = new Set<string>();
    for (;;) {
      const reader = new Reader(previous, { uploads, textOf, cwd, held });
      const snapshot = await readSnapshot(paths, reader.contentOf, { cwd, first: scan });
      const load = await loadOf(options, snapshot, reader, previous, signal);
      const { templates } = load.state;
      const waiting = uploads?.waiting(reader.changed, templates) ?? [];
      for (const file of waiting) held.add(file);
      if (waiting.length > 0) continue;
      for (const file of reader.waiting) if (!waited.has(file)) onWait(file);
      waited = reader.waiting;
      uploads?.keep(new Set([...load.versions.keys(), ...reader.leftOut]));
      const marked = uploads?.marked(reader.changed.keys(), templates) ?? templates;
      const state = { ...load.state, templates: marked };
      previous = { ...load, state: previous && isSame(previous.state, state) ? previous.state : state };
      return previous.state;
    }
  };
  const inTurn = (begin: () => Promise<DesiredState>): Promise<DesiredState> => {
    const loaded = last.then(begin, begin);
    last = loaded;
    return loaded;
  };
  return {
    hasCache: () => previous !== null,
    places: () => previous?.basis?.result ?? null,
    digest: () => {
      if (digested.load !== previous) digested = { load: previous, digest: previous && digestOf(previous) };
      return digested.digest;
    },
    dueIn: () => uploads?.dueIn() ?? null,
    load: (options, signal) => inTurn(() => loadNow(options, signal)),
  };
};

/** What texts say as template files without includes, by their paths; nothing is read. */
export const loadTexts = async (
  settings: TemplateSettings,
  texts: ReadonlyMap<string, string>,
): Promise<DesiredState> => {
  const files = await Promise.all(
    [...texts].map(async ([path, text]): Promise<SourceFile> => {
      const isFragment = isFragmentPath(path);
      const parsed = await parseFile(Buffer.from(text), isFragment);
      return { path, isFragment, hash: path, parsed, includes: new Map() };
    }),
  );
  const readings = await resolveAll(files, settings);
  return desiredState({ files, missing: [] }, [...readings.values()], [], settings.strict);
};

/** Everything that results depend on, besides the files. */
const keyOf = (options: LoadOptions): string => JSON.stringify(options);

/** What a load keeps for the next one with the same settings. */
interface Load {
  readonly key: string;
  readonly state: DesiredState;
  readonly basis: Basis | null;
  /** Contents of files whose times are old enough to identify them. */
  readonly resting: ReadonlyMap<ScannedFile, ReadContent>;
  /** By the hash of a content, without those that are known by their files alone. */
  readonly byHash: ReadonlyMap<string, FileContent>;
  /** What is in use, by path. */
  readonly versions: ReadonlyMap<string, Version & ReadContent>;
  /** By all that a file's templates depend on. */
  readonly resolved: ReadonlyMap<string, ResolvedFile>;
}

interface ReadContent extends Ending {
  readonly content: FileContent;
}

interface ReaderOptions {
  readonly textOf: LoaderOptions['textOf'] | undefined;
  readonly uploads: Uploads | null;
  readonly cwd: string;
  /** The paths of files of which the version in use stands. */
  readonly held: ReadonlySet<string>;
}

/** Reads the contents of files for one load, as far as they are not known. */
class Reader {
  readonly #previous: Load | null;
  readonly #options: ReaderOptions | null;
  readonly resting = new Map<ScannedFile, ReadContent>();
  readonly byHash = new Map<string, FileContent>();
  readonly versions = new Map<string, Version & ReadContent>();
  /** The paths of files that may be half, and are read. */
  readonly changed = new Map<string, ReadContent>();
  /** The paths of files that wait. */
  readonly waiting = new Set<string>();
  /** Those of them of which there is no earlier version. */
  readonly leftOut = new Set<string>();

  constructor(previous: Load | null, options: ReaderOptions | null = null) {
    this.#previous = previous;
    this.#options = options;
  }

  readonly contentOf: ContentOf = (file, startedAt) => {
    const text = this.#options?.textOf?.(file.path);
    if (text !== undefined) return this.parse(Buffer.from(text), isFragmentPath(file.path));
    const known = this.#previous?.resting.get(file);
    if (known !== undefined) return this.#use(file, known, startedAt);
    return bytesOf(file).then(async (bytes) => {
      const content = await this.parse(bytes, isFragmentPath(file.path));
      return this.#use(file, { content, ...endingOf(bytes) }, startedAt);
    });
  };

  /** The content of this hash, if it is known. */
  known(hash: string): FileContent | undefined {
    const content = this.#previous?.byHash.get(hash) ?? this.byHash.get(hash);
    if (content !== undefined) this.byHash.set(hash, content);
    return content;
  }

  async parse(bytes: Buffer, isFragment: boolean): Promise<FileContent> {
    const hash = contentHash(bytes, isFragment);
    const content = this.known(hash) ?? (await contentOf(hash, bytes, isFragment));
    if (!content.bytes) this.byHash.set(hash, content);
    return content;
  }

  #use(file: ScannedFile, read: ReadContent, startedAt: number): FileContent | null {
    const { uploads = null, cwd = '', held } = this.#options ?? {};
    const { path } = file;
    if (isAtRest(file.identity, startedAt)) this.resting.set(file, read);
    const version = this.#previous?.versions.get(path);
    const change = uploads?.note(file, version, cwd, this.#previous?.state ?? null) ?? null;
    this.changed.delete(path);
    this.waiting.delete(path);
    this.leftOut.delete(path);
    if (change !== null && (held?.has(path) || uploads?.isCut(change, read.endsLine))) {
      this.waiting.add(path);
      if (version === undefined) this.leftOut.add(path);
      else this.versions.set(path, version);
      return version?.content ?? null;
    }
    if (change !== null) this.changed.set(path, read);
    this.versions.set(path, { file, ...read });
    return read.content;
  }
}

const loadOf = async (
  options: LoadOptions,
  snapshot: Snapshot,
  reader: Reader,
  previous: Load | null,
  signal?: AbortSignal,
): Promise<Load> => {
  const { paths, cwd: _, allowEmpty = false, ...settings } = options;
  const { missing, basis } = snapshot;
  const resolved = await resolveAll(snapshot.files, settings, previous?.resolved, signal);
  const readings = [...resolved.values()];
  const ofPath = new Map(readings.map((made) => [made.file.path, made.file]));
  const files = snapshot.files.map((file) => ofPath.get(file.path) ?? file);
  const waiting = [...reader.leftOut].filter((file) => !isFragmentPath(file)).length;
  const mayHaveNone = allowEmpty || missing.length > 0 || waiting > 0;
  const absent = readings.length > 0 || mayHaveNone ? [] : [noTemplates(paths)];
  const state = desiredState({ files, missing }, readings, absent, settings.strict);
  // The bytes are in the templates now.
  const stripped = <Read extends ReadContent>(path: string, read: Read): Read => {
    const file = ofPath.get(path);
    return file?.hash === read.content.hash ? { ...read, content: file } : read;
  };
  for (const [found, read] of reader.resting) reader.resting.set(found, stripped(found.path, read));
  for (const [path, read] of reader.versions) reader.versions.set(path, stripped(path, read));
  for (const file of files) if (file.parsed.documents.length > 0) reader.byHash.set(file.hash, file);
  const { resting, byHash } = reader;
  // Files that kept changing were not read.
  const versions = basis === null ? (previous?.versions ?? reader.versions) : reader.versions;
  const counted = { ...state, files: state.files + waiting };
  return { key: keyOf(options), state: counted, basis, resting, byHash, versions, resolved };
};

/** The same wherever the files are mounted. */
const digestOf = ({ basis, versions }: Load): string | null => {
  if (basis === null || basis.result.missing.length > 0) return null;
  const roots = [...new Set(basis.result.files.map(({ root }) => root.path))];
  const lines = [...versions.values()].map(({ file: { root, relative }, content }) =>
    JSON.stringify([roots.indexOf(root.path), relative, content.hash]),
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
};

/** Whether the files say the same, whatever became of them meanwhile. */
const isSame = (one: DesiredState, other: DesiredState): boolean =>
  one.files === other.files &&
  sameElements(one.templates, other.templates) &&
  JSON.stringify([one.unusable, one.problems]) === JSON.stringify([other.unusable, other.problems]);

const resolveAll = async (
  files: readonly SourceFile[],
  settings: TemplateSettings,
  known: ReadonlyMap<string, ResolvedFile> = new Map(),
  signal?: AbortSignal,
): Promise<Map<string, ResolvedFile>> => {
  const resolved = new Map<string, ResolvedFile>();
  for (const file of files) {
    if (file.isFragment) continue;
    const key = JSON.stringify(inputsOf(file));
    if (isYieldDue()) await yieldToOthers();
    resolved.set(key, known.get(key) ?? (await resolveFile(file, settings, signal)));
  }
  return resolved;
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
