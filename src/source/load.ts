import { createHash } from 'node:crypto';
import { desiredState, noTemplates } from '../desired/desired-state.ts';
import { resolveFile, type ResolvedFile, type TemplateSettings } from '../desired/template.ts';
import {
  isMissing,
  maxFileSize,
  parseFile,
  type FileContent,
  type SourceFile,
} from '../desired/parse-file.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { sameElements } from '../lib/same-elements.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { isFragmentPath, type DesiredState } from '../model/template.ts';
import { isAtRest, readBeginning } from '../regular-file.ts';
import { filesIn, scanFiles, type Scan, type ScannedFile } from './scan.ts';
import { isStill, readSnapshot, type Places, type Snapshot } from './snapshot.ts';
import { Uploads, type Taken, type Version } from './uploads.ts';

export interface LoadOptions extends TemplateSettings {
  /** Directories and files. */
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
  /** Where the last load has found files; null if nothing was loaded. */
  readonly scan: () => Scan | null;
  /** Of all files that the last load has taken, their paths and contents; null if any were absent, or could not be read. */
  readonly digest: () => string | null;
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

/** What a load keeps for the next one with the same settings. */
interface Load extends Places {
  readonly key: string;
  readonly state: DesiredState;
  readonly isRead: boolean;
  /** What was taken last of each file, by its path. */
  readonly taken: ReadonlyMap<string, Taken>;
  /** By all that a file's templates depend on. */
  readonly resolved: ReadonlyMap<string, ResolvedFile>;
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
  let last: Promise<unknown> = Promise.resolve();

  const loadNow = async (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
    // Everything that results depend on, besides the files.
    const key = JSON.stringify(options);
    const before = previous?.key === key ? previous : null;
    const { paths, cwd = '' } = options;
    const rescan = (known?: Scan): Promise<Scan> => scanFiles(paths, cwd, known);
    let scan = await rescan(before?.scan);
    const wait = before === null ? (uploads?.firstWait(filesIn(scan), cwd) ?? 0) : 0;
    if (wait > 0) {
      await clock.sleep(wait, signal ?? new AbortController().signal);
      scan = await rescan();
    }
    const mayDiffer = uploads?.begin(filesIn(scan), cwd) === true || read !== undefined;
    if (!mayDiffer && before && isSettled(before) && (await isStill(before, scan))) return before.state;
    /** The paths of files that say too little. */
    const held = new Set<string>();
    const take = async (file: ScannedFile, startedAt: number): Promise<Taken> => {
      const inUse = before?.taken.get(file.path)?.version ?? null;
      const isKnown = inUse?.file === file && inUse.isAtRest && read === undefined;
      const version = isKnown ? inUse : await versionOf(file, startedAt, inUse, read);
      const taken = uploads?.take(version, inUse) ?? { version, doubt: null };
      return taken.doubt && held.has(file.path) ? { version: inUse, doubt: 'waits' } : taken;
    };
    for (;;) {
      const snapshot = await readSnapshot({ scan, included: before?.included ?? new Map() }, rescan, take);
      if (snapshot === null) {
        const reason = 'the files kept changing while they were read';
        const missing = paths.map((path) => ({ path, reason }));
        const state = desiredState([], missing, [], options.strict);
        const none = { scan, included: new Map(), taken: new Map(), resolved: new Map() };
        previous = { ...none, ...before, key, state, isRead: false };
        return state;
      }
      const { taken, included, isRead } = snapshot;
      const resolved = await resolveAll(snapshot.files, options, before?.resolved, signal);
      const described = stateOf(snapshot, [...resolved.values()], options);
      const judged = uploads?.judge(taken, described);
      for (const file of judged?.waiting ?? []) held.add(file);
      if (judged && judged.waiting.length > 0) continue;
      for (const [file, { doubt }] of taken)
        if (doubt === 'waits' && before?.taken.get(file)?.doubt !== 'waits') onWait(file);
      const found = { ...described, templates: judged?.templates ?? described.templates };
      const state = before && isSame(before.state, found) ? before.state : found;
      scan = snapshot.scan;
      previous = { key, scan, included, isRead, taken: withoutBytes(taken), resolved, state };
      return state;
    }
  };

  return {
    scan: () => previous?.scan ?? null,
    digest: () => previous && digestOf(previous),
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

/** Whether a later change of a file that was read shows in a scan. */
const isSettled = ({ isRead, taken }: Load): boolean =>
  isRead && [...taken.values()].every(({ version }) => version?.isAtRest === true);

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

const stateOf = (
  { missing, taken }: Snapshot,
  readings: readonly ResolvedFile[],
  { paths, strict, allowEmpty = false }: LoadOptions,
): DesiredState => {
  const waiting = [...taken].filter(([path, { version }]) => version === null && !isFragmentPath(path));
  const mayHaveNone = allowEmpty || missing.length > 0 || waiting.length > 0;
  const absent = readings.some(({ isFragment }) => !isFragment) || mayHaveNone ? [] : [noTemplates(paths)];
  const state = desiredState(readings, missing, absent, strict);
  return { ...state, files: state.files + waiting.length };
};

/** The bytes of a file are in its templates when it is resolved. */
const withoutBytes = (all: ReadonlyMap<string, Taken>): ReadonlyMap<string, Taken> =>
  new Map(
    [...all].map(([path, taken]) => {
      const { version } = taken;
      if (version === null || version.content.bytes.length === 0) return [path, taken];
      return [path, { ...taken, version: { ...version, content: { ...version.content, bytes: noBytes } } }];
    }),
  );

/** The same wherever the files are mounted. */
const digestOf = ({ scan, isRead, taken }: Load): string | null => {
  const files = filesIn(scan);
  if (!isRead || files.length < scan.found.size) return null;
  const roots = [...new Set(files.map(({ root }) => root.path))];
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
const inputsOf = (given: SourceFile): unknown => {
  const files = new Set([given]);
  // The loop appends fragments to its own set, so deep includes need no recursion.
  for (const { includes } of files)
    for (const target of includes.values()) if (!isMissing(target)) files.add(target);
  return [...files].map(({ path, hash, includes }) => [
    path,
    hash,
    [...includes].map(([text, target]) => [text, isMissing(target) ? target : target.path]),
  ]);
};
