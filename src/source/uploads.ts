import path from 'node:path';
import type { FileContent } from '../desired/parse-file.ts';
import type { Clock } from '../lib/clock.ts';
import { canonicalName } from '../model/canonical.ts';
import { pushTo } from '../model/group.ts';
import type { DesiredRecord } from '../model/record.ts';
import { modes, type DesiredState, type DesiredTemplate } from '../model/template.ts';
import { timesMark } from '../regular-file.ts';
import { openCheckouts } from './checkout.ts';
import type { ScannedFile } from './scan.ts';

/** What a file said when it was read. */
export interface Version {
  readonly file: ScannedFile;
  readonly content: FileContent;
  /** Whether a later write changes its times. */
  readonly isAtRest: boolean;
  /** Whether it ends with a newline. */
  readonly endsLine: boolean;
  /** Whether it ends with a bracket, before that: what stands in brackets is whole. */
  readonly endsBracket: boolean;
}

/** What a load takes of a file. */
export interface Taken {
  /** Null: it is not a file yet. */
  readonly version: Version | null;
  /** That it may be half: it is taken as it is, or waits, and the version before it stands. */
  readonly doubt: 'taken' | 'waits' | null;
}

/** A file that was changed in place a moment ago, or that is new. */
interface FileChange {
  readonly times: string;
  /** When its last change was seen, or is said to have been; ms since the epoch. */
  readonly since: number;
  /** Whether there was no version before the first change. */
  readonly isNew: boolean;
  /** The templates with the version before the first change; of a new file, with what was taken of it. */
  readonly before: readonly DesiredTemplate[];
  readonly endedLine: boolean;
}

/**
 * A file that is being uploaded is not a file yet: a copy that arrives in place is for a while a shorter file, which may end
 * within a record or a number. So what was changed in place (same inode), and what there was no version of, waits while it
 * may be half. Whatever takes the place of a file at once needs no wait, and neither does what git has brought, as the
 * commit shows.
 *
 * | the new version                                              | after its last change                         |
 * | ------------------------------------------------------------ | --------------------------------------------- |
 * | has no final newline, where the one before had one           | waits 30 s                                    |
 * | lacks records                                                | waits 3 s; what it drops stays for 30 s       |
 * | lacks records, and its last one is new and not in brackets   | waits 30 s                                    |
 * | lacks `mode` or a rule under `ignore`                        | waits 30 s                                    |
 */
export class Uploads {
  readonly #clock: Pick<Clock, 'now'>;
  #cwd = '';
  readonly #changes = new Map<string, FileChange>();
  /** The templates that each file was part of last, also those that have errors now. */
  #said = new Map<string, readonly DesiredTemplate[]>();
  /** By the real paths of the roots, at this look. */
  #commits: ReadonlyMap<string, string | null> | null = null;
  #isByGit: (file: ScannedFile) => boolean = () => false;
  readonly #marked = new WeakMap<DesiredTemplate, DesiredTemplate>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Milliseconds after which files that are all new may be read. */
  firstWait(files: readonly ScannedFile[], cwd: string): number {
    const now = this.#clock.now();
    return Math.max(0, ...files.map((file) => writtenAt(file, cwd, now) + short - now));
  }

  /** Begins a look at these files. True: they may give something else by time alone, or by a commit. */
  begin(files: readonly ScannedFile[], cwd: string): boolean {
    const commits = commitsOf(files);
    const before = this.#commits ?? commits;
    this.#isByGit = ({ root }) => before.get(root.real) !== commits.get(root.real);
    this.#commits = commits;
    this.#cwd = cwd;
    return this.#changes.size > 0;
  }

  /** What to take of a file, by the version in use. */
  take(read: Version, inUse: Version | null): Taken {
    const { file, endsLine } = read;
    const change = this.#isByGit(file) ? null : this.#changeOf(file, inUse);
    if (change === null) this.#changes.delete(file.path);
    else this.#changes.set(file.path, change);
    return change?.endedLine && !endsLine
      ? { version: inUse, doubt: 'waits' }
      : { version: read, doubt: change && 'taken' };
  }

  /** Null: there is nothing to wait for. */
  #changeOf(file: ScannedFile, inUse: Version | null): FileChange | null {
    const known = this.#changes.get(file.path);
    const times = timesMark(file.identity);
    const now = this.#clock.now();
    const isKnown = known?.times === times;
    if (inUse !== null && !isKnown) {
      const { ino, dev } = inUse.file.identity;
      const isInPlace = ino === file.identity.ino && dev === file.identity.dev;
      if (!isInPlace || timesMark(inUse.file.identity) === times) return null;
    }
    const since = isKnown ? known.since : inUse === null ? writtenAt(file, this.#cwd, now) : now;
    if (now - since >= long) return null;
    if (known && (isKnown || !known.isNew)) return { ...known, times, since };
    const before = inUse === null ? [] : (this.#said.get(file.path) ?? []);
    const isNew = known?.isNew ?? inUse === null;
    return { times, since, isNew, before, endedLine: known?.endedLine ?? inUse?.endsLine ?? true };
  }

  /**
   * By what the files say that were taken in doubt: those that have to wait after all, and the templates, marked where
   * something may be missing. The same templates give the same objects. Forgets files that are gone.
   */
  judge(
    taken: ReadonlyMap<string, Taken>,
    { templates, unusable }: DesiredState,
  ): { readonly waiting: readonly string[]; readonly templates: readonly DesiredTemplate[] } {
    const now = this.#clock.now();
    const said = new Map<string, DesiredTemplate[]>();
    for (const one of templates) for (const file of filesOf(one)) pushTo(said, file, one);
    const lacks = new Map<string, Lack & { readonly until: number }>();
    const waiting: string[] = [];
    for (const [file, change] of this.#changes) {
      const { version = null, doubt = null } = taken.get(file) ?? {};
      if (!taken.has(file)) this.#changes.delete(file);
      const lack = doubt === 'taken' ? lackOf(change, said.get(file) ?? [], file) : null;
      if (lack === null) continue;
      const mayBeCut = lack.isUnrestrained || (lack.endsAnew && version?.endsBracket !== true);
      if (now - change.since < (mayBeCut ? long : short)) waiting.push(file);
      lacks.set(file, { ...lack, until: change.since + long });
    }
    if (waiting.length === 0) this.#remember(taken, said, unusable);
    return {
      waiting,
      templates: lacks.size === 0 ? templates : templates.map((one) => this.#mark(one, lacks)),
    };
  }

  /** What a file with errors said before them is still at the service, and what comes next is held against it. */
  #remember(
    taken: ReadonlyMap<string, Taken>,
    said: Map<string, DesiredTemplate[]>,
    unusable: DesiredState['unusable'],
  ): void {
    const broken = new Set(unusable.map(({ file }) => file));
    const names = new Set([...said.values()].flatMap((all) => all.map(keyOf)));
    for (const [file, before] of this.#said)
      if (taken.has(file))
        for (const one of before)
          if (broken.has(one.source.file) && !names.has(keyOf(one))) pushTo(said, file, one);
    this.#said = said;
  }

  #mark(one: DesiredTemplate, all: ReadonlyMap<string, Lack & { readonly until: number }>): DesiredTemplate {
    const lacks = filesOf(one).flatMap((file) => all.get(file) ?? []);
    if (lacks.length === 0) return one;
    const incomplete = {
      until: Math.max(...lacks.map(({ until }) => until)),
      sets: lacks.flatMap(({ sets }) => sets.get(keyOf(one)) ?? []),
    };
    const known = this.#marked.get(one);
    if (JSON.stringify(known?.incomplete) === JSON.stringify(incomplete)) return known!;
    const marked = { ...one, incomplete };
    this.#marked.set(one, marked);
    return marked;
  }
}

/** Milliseconds. */
const short = 3_000;
const long = 30_000;

const commitsOf = (files: readonly ScannedFile[]): ReadonlyMap<string, string | null> => {
  const checkoutOf = openCheckouts();
  const someOf = new Map(files.map(({ root, real }) => [root.real, real]));
  return new Map([...someOf].map(([root, real]) => [root, checkoutOf(real)?.commit ?? null]));
};

/**
 * When a file was written, by its own time. Long ago: it was moved there since, or a link led there, so that it is whole; or
 * its time lies so far ahead that it says nothing.
 */
const writtenAt = ({ path: given, real, identity }: ScannedFile, cwd: string, now: number): number => {
  const written = Number(identity.mtimeNs / 1_000_000n);
  if (now - written >= long || written > now + aheadAtMost) return 0;
  const isMoved = identity.ctimeNs > identity.mtimeNs || path.resolve(cwd, given) !== real;
  return isMoved ? 0 : Math.min(written, now);
};

/** Milliseconds by which the clock of a file server may be ahead. */
const aheadAtMost = 60_000;

/** What a file lacks of its earlier version. */
interface Lack {
  /** Record sets that have fewer records, by template. */
  readonly sets: ReadonlyMap<string, readonly string[]>;
  /** Whether its last record may be the beginning of another one. */
  readonly endsAnew: boolean;
  /** Whether it may write what the earlier one kept it from: the rest may still come. */
  readonly isUnrestrained: boolean;
}

/** Null: nothing. Without an earlier version nobody knows. What has an error writes nothing. */
const lackOf = (
  { isNew, before }: FileChange,
  now: readonly DesiredTemplate[],
  file: string,
): Lack | null => {
  const current = new Map(now.map((one) => [keyOf(one), one]));
  const isUnrestrained = before.some((one) => loosens(one, current.get(keyOf(one))));
  if (isNew) return { sets: new Map(), endsAnew: false, isUnrestrained };
  const sets = new Map<string, readonly string[]>();
  for (const one of before) {
    const counts = setsOf(current.get(keyOf(one))?.records ?? []);
    const fewer = [...setsOf(one.records)].filter(([set, count]) => (counts.get(set) ?? 0) < count);
    if (fewer.length > 0)
      sets.set(
        keyOf(one),
        fewer.map(([set]) => set),
      );
  }
  if (sets.size === 0 && !isUnrestrained) return null;
  const ownIn = ({ records }: DesiredTemplate): readonly DesiredRecord[] =>
    records.filter(({ source }) => source.file === file);
  const last = now.findLast((one) => ownIn(one).length > 0);
  const earlier = before.filter((one) => last && keyOf(one) === keyOf(last)).flatMap(ownIn);
  const endsAnew = last !== undefined && !earlier.map(saying).includes(saying(ownIn(last).at(-1)!));
  return { sets, endsAnew, isUnrestrained };
};

const filesOf = ({ source, fragments = [] }: DesiredTemplate): string[] => [source.file, ...fragments];

const keyOf = ({ template, id }: DesiredTemplate): string => `${id} ${template}`;

const loosens = (before: DesiredTemplate, now: DesiredTemplate | undefined): boolean => {
  if (now === undefined) return false;
  const rules = new Set(now.ignore.map((rule) => JSON.stringify(rule)));
  return (
    modes.indexOf(now.mode) < modes.indexOf(before.mode) ||
    before.ignore.some((rule) => !rules.has(JSON.stringify(rule)))
  );
};

/** The number of records in each record set. */
const setsOf = (records: readonly DesiredRecord[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { type, name } of records) {
    const set = `${type} ${canonicalName(name)}`;
    counts.set(set, (counts.get(set) ?? 0) + 1);
  }
  return counts;
};

const saying = ({ type, name, content, priority, ttl }: DesiredRecord): string =>
  JSON.stringify([type, name, content, priority, ttl]);
