import { createHash } from 'node:crypto';
import { desiredState, noTemplates } from '../desired/desired-state.ts';
import { resolveFile, type ResolvedFile, type TemplateSettings } from '../desired/template.ts';
import { isMissing, type Missing, type SourceFile } from '../desired/parse-file.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { sameElements } from '../lib/same-elements.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { isFragmentPath, type DesiredState, type DesiredTemplate } from '../model/template.ts';
import { openCheckouts } from './checkout.ts';
import { filesIn, isSameScan, scanFiles, type Scan } from './scan.ts';
import {
  readSnapshot,
  saysTheSame,
  sourceFiles,
  withoutBytes,
  type ReadFile,
  type Version,
} from './snapshot.ts';
import { commitsOf, filesOf, firstWait, noUploads, withoutUploads, type Uploads } from './uploads.ts';

export interface LoadOptions extends TemplateSettings {
  /** Directories and files. */
  readonly paths: readonly string[];
  /** What relative paths start from; default: the working directory of the process. */
  readonly cwd?: string;
  /** Having no template files is not an error. */
  readonly allowEmpty?: boolean;
}

export interface LoaderOptions {
  /** Whether files that may be half uploaded wait; else they are read as they are. */
  readonly waits?: boolean;
  readonly clock?: Clock;
  /** Called with the path of a file that begins to wait, since it may be half uploaded. */
  readonly onWait?: (file: string) => void;
  /** Called with the octets of all files that were found, before the first one is read. */
  readonly onFound?: (octets: number) => void;
  readonly read?: ReadFile;
}

/** What a load keeps for the next one with the same settings. */
interface Load extends Described {
  readonly key: string;
  readonly scan: Scan;
  /** Whether all that were found could be read: what could not, may be readable the next time, as it is. */
  readonly isRead: boolean;
  readonly held: ReadonlySet<string>;
  /** Those of them that say something else than was taken. */
  readonly waiting: ReadonlySet<string>;
  readonly uploads: Uploads;
}

/** What files describe. */
interface Described {
  readonly state: DesiredState;
  /** The version that was taken of each file, by its path; null: it is not a file yet. */
  readonly taken: ReadonlyMap<string, Version | null>;
  /** By all that a file's templates depend on. */
  readonly resolved: ReadonlyMap<string, ResolvedFile>;
}

/** A loader that keeps what it has read of each file: an unchanged one costs nothing. Long work yields to other tasks. */
export const createTemplateLoader = ({
  waits = false,
  clock = systemClock,
  onWait = () => undefined,
  onFound,
  read,
}: LoaderOptions = {}) => {
  let previous: Load | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let looked: { readonly now: number; readonly up: number } | null = null;

  /** By how much the time of day has leapt since the last look: the clock was set, or the machine has slept. What two clocks say differs by a little each time. */
  const lookAtClock = (): { readonly now: number; readonly leap: number } => {
    const [before, now, up] = [looked, clock.now(), clock.uptime().at];
    looked = { now, up };
    const leap = before === null ? 0 : now - before.now - (up - before.up);
    return { now, leap: Math.abs(leap) < 1_000 ? 0 : leap };
  };

  const loadNow = async (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
    // Everything that results depend on, besides the files.
    const key = JSON.stringify(options);
    const before = previous?.key === key ? previous : null;
    const { paths, cwd = '' } = options;
    const rescan = (known?: Scan): Promise<Scan> => scanFiles(paths, cwd, known?.included);
    let scan = await rescan(before?.scan);
    const isFirst = waits && before === null;
    const wait = isFirst ? firstWait(filesIn(scan), { cwd, now: clock.now(), roots: scan.realRoots }) : 0;
    if (wait > 0) {
      await clock.sleep(wait, signal ?? new AbortController().signal);
      scan = await rescan();
    }
    onFound?.(filesIn(scan).reduce((sum, { identity }) => sum + Number(identity.size), 0));
    const checkoutOf = openCheckouts();
    const commits = waits ? commitsOf(filesIn(scan), checkoutOf) : noUploads.commits;
    if (before && read === undefined && isSettled(before) && isSameScan(before.scan, scan)) {
      previous = { ...before, uploads: { ...before.uploads, commits, roots: scan.realRoots } };
      lookAtClock();
      return before.state;
    }
    // A link that is there at the start brings nothing either.
    const start = { ...nothing, uploads: { ...noUploads, roots: scan.realRoots } };
    const { taken: inUse, uploads, held: heldBefore } = { ...start, ...before };
    const snapshot = await readSnapshot(scan, rescan, inUse, read);
    if (snapshot === null) {
      const reason = 'the files kept changing while they were read';
      const missing = paths.map((path) => ({ path, reason }));
      const state = desiredState([], missing, [], options.strict);
      previous = { ...start, scan, ...before, key, state, isRead: false };
      return state;
    }
    let known = before?.resolved ?? nothing.resolved;
    const describe = async (waiting: ReadonlySet<string>): Promise<Described> => {
      const versions = [...snapshot.versions].map(
        ([path, version]) => [path, waiting.has(path) ? (inUse.get(path) ?? null) : version] as const,
      );
      const taken = new Map(versions);
      const all = sourceFiles(snapshot, taken);
      const files = all.flatMap((one) => (isMissing(one) ? [] : one));
      const resolved = await resolveAll(files, options, known, signal);
      known = new Map([...known, ...resolved]);
      return {
        taken,
        resolved,
        state: stateOf(all.filter(isMissing), taken, [...resolved.values()], options),
      };
    };
    const stands = {
      versions: snapshot.versions,
      inUse,
      commits,
      checkoutOf,
      roots: scan.realRoots,
      cwd,
      ...lookAtClock(),
    };
    const judged = waits
      ? await withoutUploads(uploads, stands, describe)
      : { ...(await describe(new Set())), held: nothing.held, uploads };
    for (const path of judged.held) if (!heldBefore.has(path)) onWait(path);
    const hashIn = (versions: Described['taken'], path: string) => versions.get(path)?.content.hash;
    const isOther = (path: string): boolean => hashIn(snapshot.versions, path) !== hashIn(judged.taken, path);
    const next = {
      ...judged,
      waiting: new Set([...judged.held].filter(isOther)),
      key,
      scan: snapshot.scan,
      isRead: snapshot.unread.size === 0,
      taken: new Map([...judged.taken].map(([path, version]) => [path, withoutBytes(version)])),
      state: before && isSame(before.state, judged.state) ? before.state : judged.state,
    };
    previous = next;
    return next.state;
  };

  return {
    /**
     * Reads all files as they are at one moment. Errors come back as problems; it does not throw. Unchanged files give the
     * same object, and an unchanged text the same template object. Loads run one after the other; an aborted signal
     * rejects between two templates.
     */
    load: (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
      const begin = (): Promise<DesiredState> => loadNow(options, signal);
      const loaded = last.then(begin, begin);
      last = loaded;
      return loaded;
    },
    /** Where the last load has found files; null if nothing was loaded. */
    scan: () => previous?.scan ?? null,
    /** Whether these templates are of the last load, and their files still say what it took; not told of many files. */
    isCurrent: async (templates: readonly DesiredTemplate[], cwd: string): Promise<boolean> => {
      const files = templates.flatMap(filesOf);
      if (previous === null || read !== undefined || files.length > fewFiles) return false;
      const { state, taken } = previous;
      if (!templates.every((one) => state.templates.includes(one))) return false;
      const same = files.map(async (file) => {
        const version = taken.get(file) ?? null;
        return version !== null && (await saysTheSame(version, cwd));
      });
      return (await Promise.all(same)).every(Boolean);
    },
    /** The files that the last load has left for later: what it took of them is not what they say now. */
    waiting: (): ReadonlySet<string> => previous?.waiting ?? nothing.waiting,
    /** Of all files that the last load has taken, their paths and contents; null if any were absent, or could not be read. */
    digest: () => previous && digestOf(previous),
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

const nothing = {
  taken: new Map<string, Version | null>(),
  resolved: new Map<string, ResolvedFile>(),
  held: new Set<string>(),
  waiting: new Set<string>(),
  uploads: noUploads,
};

/** A load of a thousand takes longer than to read these. */
const fewFiles = 20;

/** Whether a change shows in a scan: a later one of a file that was read, and none comes by time alone. */
const isSettled = ({ isRead, taken, uploads }: Load): boolean =>
  isRead && uploads.changes.size === 0 && [...taken.values()].every((version) => version?.isAtRest === true);

const stateOf = (
  missing: readonly Missing[],
  taken: Described['taken'],
  readings: readonly ResolvedFile[],
  { paths, strict, allowEmpty = false }: LoadOptions,
): DesiredState => {
  const waiting = [...taken].filter(([path, version]) => version === null && !isFragmentPath(path));
  const mayHaveNone = allowEmpty || missing.length > 0 || waiting.length > 0;
  const absent = readings.some(({ isFragment }) => !isFragment) || mayHaveNone ? [] : [noTemplates(paths)];
  const state = desiredState(readings, missing, absent, strict);
  const [awaited] = waiting.map(([path]) => path);
  return { ...state, files: state.files + waiting.length, ...(awaited !== undefined && { awaited }) };
};

/** The same wherever the files are mounted. */
const digestOf = ({ scan, isRead, taken }: Load): string | null => {
  const files = filesIn(scan);
  if (!isRead || files.length < scan.found.size) return null;
  const roots = [...new Set(files.map(({ root }) => root.path))];
  const lines = [...taken.values()].flatMap((version) => {
    if (version === null) return [];
    const { root, relative } = version.file;
    return JSON.stringify([roots.indexOf(root.path), relative, version.content.hash]);
  });
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
};

/** Whether the files say the same, whatever became of them meanwhile. */
const isSame = (one: DesiredState, other: DesiredState): boolean =>
  one.files === other.files &&
  one.awaited === other.awaited &&
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
