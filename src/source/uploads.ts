import path from 'node:path';
import type { FileContent } from '../desired/parse-file.ts';
import type { Clock } from '../lib/clock.ts';
import { canonicalName } from '../model/canonical.ts';
import { pushTo } from '../model/group.ts';
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
  /** The templates with the version before the first change; null: there was none. */
  readonly before: readonly DesiredTemplate[] | null;
  readonly endedLine: boolean;
}

/** Milliseconds. */
const short = 3_000;
const long = 30_000;

/**
 * A file that is being uploaded is not a file yet: a copy that arrives in place is for a while a shorter file, which may end
 * within a record or a number. So what was changed in place (same inode), and what there was no version of, waits while it
 * may be half. Whatever takes the place of a file at once needs no wait, and neither does what git has brought, as the
 * commit shows.
 *
 * | the new version                                                      | after its last change            |
 * | -------------------------------------------------------------------- | -------------------------------- |
 * | has no final newline, where the one before had one                   | waits 30 s                       |
 * | lacks a record of a type and name, a rule under `ignore`, or `mode`  | waits 30 s                       |
 * | lacks a template, perhaps since it has an error: nothing is written  | waits 3 s                        |
 * | is the first one                                                     | waits 3 s, parks nothing in 30 s |
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
    const checkoutOf = openCheckouts();
    const someOf = new Map(files.map(({ root, real }) => [root.real, real]));
    const commits = new Map([...someOf].map(([root, real]) => [root, checkoutOf(real)?.commit ?? null]));
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
    if (change === null || this.#clock.now() - change.since >= long) return { version: read, doubt: null };
    return change.endedLine && !endsLine
      ? { version: inUse, doubt: 'waits' }
      : { version: read, doubt: 'taken' };
  }

  /** Null: there is nothing to wait for. */
  #changeOf(file: ScannedFile, inUse: Version | null): FileChange | null {
    const known = this.#changes.get(file.path);
    const times = timesMark(file.identity);
    if (known?.times === times) return known;
    const now = this.#clock.now();
    if (inUse === null)
      return { times, since: writtenAt(file, this.#cwd, now), before: null, endedLine: true };
    const { ino, dev } = inUse.file.identity;
    const isInPlace = ino === file.identity.ino && dev === file.identity.dev;
    if (!isInPlace || timesMark(inUse.file.identity) === times) return null;
    const before = known?.before ?? this.#said.get(file.path) ?? [];
    return { times, since: now, before, endedLine: known?.endedLine ?? inUse.endsLine };
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
    const doubted = [...this.#changes].filter(([file]) => taken.get(file)?.doubt === 'taken');
    const waiting = doubted
      .filter(([file, { since, before }]) => now - since < waitFor(before, said.get(file) ?? []))
      .map(([file]) => file);
    if (waiting.length > 0) return { waiting, templates };
    for (const [file, { since }] of this.#changes)
      if (!taken.has(file) || now - since >= long) this.#changes.delete(file);
    this.#remember(taken, said, unusable);
    const firsts = new Map(
      doubted.flatMap(([file, { before, since }]) => (before ? [] : [[file, since + long]])),
    );
    return { waiting, templates: templates.map((one) => this.#mark(one, firsts)) };
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

  #mark(one: DesiredTemplate, firsts: ReadonlyMap<string, number>): DesiredTemplate {
    const until = Math.max(...filesOf(one).map((file) => firsts.get(file) ?? 0));
    if (until === 0) return one;
    const known = this.#marked.get(one);
    if (known?.incomplete?.until === until) return known;
    const marked = { ...one, incomplete: { until, sets: [] } };
    this.#marked.set(one, marked);
    return marked;
  }
}

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

/** Milliseconds that a version of a file waits after its last change. */
const waitFor = (before: readonly DesiredTemplate[] | null, now: readonly DesiredTemplate[]): number => {
  if (before === null) return short;
  const current = new Map(now.map((one) => [keyOf(one), one]));
  const waits = before.map((one) => {
    const after = current.get(keyOf(one));
    if (after === undefined) return short;
    return lacks(one, after) ? long : 0;
  });
  return Math.max(0, ...waits);
};

/** Whether it lacks records, or may write what the earlier one kept it from. */
const lacks = (before: DesiredTemplate, after: DesiredTemplate): boolean =>
  modes.indexOf(after.mode) < modes.indexOf(before.mode) ||
  hasFewer(before.ignore, after.ignore, (rule) => JSON.stringify(rule)) ||
  hasFewer(before.records, after.records, ({ type, name }) => `${type} ${canonicalName(name)}`);

const hasFewer = <One>(before: readonly One[], after: readonly One[], keyFor: (one: One) => string) => {
  const counts = new Map<string, number>();
  for (const key of after.map(keyFor)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return before.map(keyFor).some((key) => {
    const left = (counts.get(key) ?? 0) - 1;
    counts.set(key, left);
    return left < 0;
  });
};

const filesOf = ({ source, fragments = [] }: DesiredTemplate): string[] => [source.file, ...fragments];

const keyOf = ({ template, id }: DesiredTemplate): string => `${id} ${template}`;
