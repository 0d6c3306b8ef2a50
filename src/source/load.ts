import { createHash } from 'node:crypto';
import { desiredState, noTemplates } from '../desired/desired-state.ts';
import { maxFileSize, parseFile } from '../desired/parse-file.ts';
import { resolveFile, type ResolvedFile, type TemplateSettings } from '../desired/template.ts';
import { isMissing, type FileContent, type SourceFile } from '../desired/source-file.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { sameElements } from '../lib/same-elements.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { isFragmentPath, type DesiredState, type DesiredTemplate } from '../model/template.ts';
import { isAtRest, readBeginning } from '../regular-file.ts';
import { scanFiles, type ScanResult, type ScannedFile } from './scan.ts';
import { isUnchanged, readSnapshot, type Basis, type Snapshot } from './snapshot.ts';
import { Uploads, type Taken, type Version } from './uploads.ts';

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
  /** The bytes to take for those of a file, by its path, each time anew. */
  readonly read?: (path: string, readFile: () => Promise<Buffer>) => Promise<Buffer>;
}

/** A loader that keeps what it has read of each file: an unchanged one costs nothing. Long work yields to other tasks. */
export const createTemplateLoader = ({
  waits = false,
  clock = systemClock,
  onWait = () => undefined,
  read,
}: LoaderOptions = {}): TemplateLoader => {
  const uploads = waits ? new Uploads(clock) : null;
  let previous: Load | null = null;
  let digested: { readonly load: Load | null; readonly digest: string | null } = { load: null, digest: null };
  let last: Promise<unknown> = Promise.resolve();

  const loadNow = async (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
    // Everything that results depend on, besides the files.
    const key = JSON.stringify(options);
    if (previous?.key !== key) previous = null;
    const before = previous;
    const { paths, cwd = '' } = options;
    const scan = (known?: ScanResult): Promise<ScanResult> => scanFiles(paths, known?.byReal, cwd);
    let first = await scan(before?.basis?.scan);
    const wait = before === null ? (uploads?.firstWait(first.files, cwd) ?? 0) : 0;
    if (wait > 0) {
      await clock.sleep(wait, signal ?? new AbortController().signal);
      first = await scan();
    }
    const mayDiffer = uploads?.begin(first.files, cwd) === true || read !== undefined;
    if (!mayDiffer && before?.basis && (await isUnchanged(before.basis, first))) return before.state;
    /** The paths of files that say too little. */
    const held = new Set<string>();
    const take = async (file: ScannedFile, startedAt: number): Promise<Taken> => {
      const inUse = before?.taken.get(file.path)?.version ?? null;
      const isKnown = inUse?.file === file && inUse.isAtRest && read === undefined;
      const version = isKnown ? inUse : await versionOf(file, startedAt, inUse, read);
      const taken = uploads?.take(version, inUse, before?.usable ?? []);
      if (taken?.doubt && held.has(file.path)) return { version: inUse, doubt: 'waits' };
      return taken ?? { version, doubt: null };
    };
    for (;;) {
      const snapshot = await readSnapshot({ first, scan, take });
      const load = await loadOf(options, snapshot, before, signal);
      const judged = uploads && snapshot && uploads.judge(load.taken, load.state.templates);
      for (const file of judged?.waiting ?? []) held.add(file);
      if (judged && judged.waiting.length > 0) continue;
      for (const [file, { doubt }] of load.taken)
        if (doubt === 'waits' && before?.taken.get(file)?.doubt !== 'waits') onWait(file);
      const state = { ...load.state, templates: judged?.templates ?? load.state.templates };
      previous = { ...load, key, state: before && isSame(before.state, state) ? before.state : state };
      return previous.state;
    }
  };

  return {
    places: () => previous?.basis?.scan ?? null,
    digest: () => {
      if (digested.load !== previous) digested = { load: previous, digest: previous && digestOf(previous) };
      return digested.digest;
    },
    dueIn: () => uploads?.dueIn() ?? null,
    load: (options, signal) => {
      const begin = (): Promise<DesiredState> => loadNow(options, signal);
      const loaded = last.then(begin, begin);
      last = loaded;
      return loaded;
    },
  };
};

/** What texts say as template files without includes, by their paths; nothing is read. */
export const loadTexts = async (
  settings: TemplateSettings,
  texts: ReadonlyMap<string, string>,
): Promise<DesiredState> => {
  const files = [...texts].map(([path, text]) => ({
    path,
    isFragment: isFragmentPath(path),
    hash: path,
    parsed: null,
    bytes: Buffer.from(text),
    includes: new Map(),
  }));
  const readings = await resolveAll(files, settings);
  return desiredState([...readings.values()], [], [], settings.strict);
};

/** What a load keeps for the next one with the same settings. */
interface Load {
  readonly key: string;
  readonly state: DesiredState;
  /** Its templates, and what a file that has errors now said before. */
  readonly usable: readonly DesiredTemplate[];
  /** Null if the files kept changing. */
  readonly basis: Basis | null;
  /** What was taken last of each file, by its path. */
  readonly taken: ReadonlyMap<string, Taken>;
  /** By all that a file's templates depend on. */
  readonly resolved: ReadonlyMap<string, ResolvedFile>;
}

/** Reads a file, at most one byte more than allowed. Throws if it is not that file any more. */
const versionOf = async (
  file: ScannedFile,
  startedAt: number,
  inUse: Version | null,
  read: LoaderOptions['read'] = (_, readFile) => readFile(),
): Promise<Version> => {
  const { path, real, identity } = file;
  const bytes = await read(path, () => readBeginning(real, maxFileSize + 1, identity));
  // A template and a fragment of the same text are two.
  const isFragment = isFragmentPath(path);
  const hash = createHash('sha256')
    .update(isFragment ? '_' : ' ')
    .update(bytes)
    .digest('base64');
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 100));
  return {
    file,
    content: inUse?.content.hash === hash ? inUse.content : contentOf(hash, bytes, isFragment),
    isAtRest: isAtRest(identity, startedAt),
    endsLine: end.endsWith('\n'),
    endsBracket: /[}\]]\s*$/.test(end),
  };
};

/** A file with includes has to be parsed to find them; other files can wait. */
const contentOf = (hash: string, bytes: Buffer, isFragment: boolean): FileContent =>
  isFragment || mayInclude(bytes)
    ? { hash, parsed: parseFile(bytes, isFragment), bytes: noBytes }
    : { hash, parsed: null, bytes };

const noBytes = new Uint8Array();

/** Letters of a key can also be written as escapes, `\\x69`. */
const mayInclude = (bytes: Buffer): boolean =>
  ['include', '\\x', '\\u', '\\U', '\\\n', '\\\r'].some((text) => bytes.includes(text));

const loadOf = async (
  options: LoadOptions,
  snapshot: Snapshot<Taken> | null,
  before: Load | null,
  signal?: AbortSignal,
): Promise<Omit<Load, 'key'>> => {
  const { paths, strict, allowEmpty = false } = options;
  const { taken = new Map<string, Taken>(), resolved: known = new Map<string, ResolvedFile>() } =
    before ?? {};
  if (snapshot === null) {
    const reason = 'the files kept changing while they were read';
    const missing = paths.map((path) => ({ path, reason }));
    const state = desiredState([], missing, [], strict);
    return { state, usable: before?.usable ?? [], basis: null, taken, resolved: known };
  }
  const resolved = await resolveAll(snapshot.files, options, known, signal);
  const readings = [...resolved.values()];
  const waiting = [...snapshot.taken].filter(
    ([path, { version }]) => version === null && !isFragmentPath(path),
  );
  const mayHaveNone = allowEmpty || snapshot.missing.length > 0 || waiting.length > 0;
  const absent = readings.some(({ isFragment }) => !isFragment) || mayHaveNone ? [] : [noTemplates(paths)];
  const state = desiredState(readings, snapshot.missing, absent, strict);
  const broken = new Set(state.unusable.map(({ file }) => file));
  const names = new Set(state.templates.map(({ template }) => template));
  const said = before?.usable.filter(
    ({ source, template }) => broken.has(source.file) && !names.has(template),
  );
  return {
    state: { ...state, files: state.files + waiting.length },
    usable: [...state.templates, ...(said ?? [])],
    basis: { scan: snapshot.scan, lookups: snapshot.lookups, isRead: snapshot.isRead },
    taken: new Map([...snapshot.taken].map(([path, one]) => [path, withoutBytes(one)])),
    resolved,
  };
};

/** The bytes of a file are in its templates when it is resolved. */
const withoutBytes = (taken: Taken): Taken => {
  const { version, doubt } = taken;
  if (version === null || version.content.bytes.length === 0) return taken;
  return { version: { ...version, content: { ...version.content, bytes: noBytes } }, doubt };
};

/** The same wherever the files are mounted. */
const digestOf = ({ basis, taken }: Load): string | null => {
  if (basis === null || !basis.isRead || basis.scan.missing.length > 0) return null;
  const roots = [...new Set(basis.scan.files.map(({ root }) => root.path))];
  const lines = [...taken.values()].flatMap(({ version }) => {
    if (version === null) return [];
    const { root, relative } = version.file;
    return JSON.stringify([roots.indexOf(root.path), relative, version.content.hash]);
  });
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
    // A fragment is read by itself, besides.
    const key = JSON.stringify(file.isFragment ? [file.path, file.hash] : inputsOf(file));
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
