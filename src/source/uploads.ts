import path from 'node:path';
import type { FileContent } from '../desired/source-file.ts';
import type { Clock } from '../lib/clock.ts';
import { canonicalName } from '../model/canonical.ts';
import { pushTo } from '../model/group.ts';
import type { RecordData } from '../model/record.ts';
import { modes, type DesiredTemplate } from '../model/template.ts';
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
interface Change {
  readonly times: string;
  /** When its last change was seen, or is said to have been; ms since the epoch. */
  readonly since: number;
  /** Whether there was no version before the first change. */
  readonly isNew: boolean;
  /** The templates with the version before the first change; of a new file, with what was taken of it. */
  readonly before: readonly DesiredTemplate[];
  readonly endedLine: boolean;
  /** Of its checkout, before the first change. */
  readonly commit: string | null;
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
  #changes = new Map<string, Change>();
  /** The commits of the given paths at this look, and at the one before. */
  #commits: CommitOf = () => null;
  #commitsBefore: CommitOf | null = null;
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
    this.#commitsBefore = this.#commitsBefore === null ? commits : this.#commits;
    this.#commits = commits;
    this.#cwd = cwd;
    return this.#changes.size > 0;
  }

  /** What to take of a file, by the version in use and the templates that it is part of. */
  take(read: Version, inUse: Version | null, templates: readonly DesiredTemplate[]): Taken {
    const { file } = read;
    const known = this.#changes.get(file.path);
    if (known === undefined && inUse?.file === file) return { version: read, doubt: null };
    const change = this.#changeOf(file, inUse, known, templates);
    if (change === null) {
      this.#changes.delete(file.path);
      return { version: read, doubt: null };
    }
    this.#changes.set(file.path, change);
    return change.endedLine && !read.endsLine
      ? { version: inUse, doubt: 'waits' }
      : { version: read, doubt: 'taken' };
  }

  /** Null: there is nothing to wait for. */
  #changeOf(
    file: ScannedFile,
    inUse: Version | null,
    known: Change | undefined,
    templates: readonly DesiredTemplate[],
  ): Change | null {
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
    const before = inUse === null ? [] : ofFile(file.path, templates);
    const change = known ?? {
      isNew: inUse === null,
      before,
      endedLine: inUse?.endsLine ?? true,
      commit: this.#commitsBefore?.(file) ?? null,
    };
    if (change.commit !== this.#commits(file)) return null;
    return { ...change, times, since, before: change.isNew && !isKnown ? before : change.before };
  }

  /**
   * By what the files say that were taken in doubt: those that have to wait after all, and the templates, marked where
   * something may be missing. The same templates give the same objects. Forgets files that are gone.
   */
  judge(
    taken: ReadonlyMap<string, Taken>,
    templates: readonly DesiredTemplate[],
  ): { readonly waiting: readonly string[]; readonly templates: readonly DesiredTemplate[] } {
    const now = this.#clock.now();
    const lacks = new Map<string, FileLack>();
    const waiting: string[] = [];
    for (const [file, change] of this.#changes) {
      const { since } = change;
      const { version = null, doubt } = taken.get(file) ?? { doubt: null };
      if (!taken.has(file)) this.#changes.delete(file);
      if (doubt !== 'taken') continue;
      const lack = lackOf(change, templates, file);
      if (lack === null) continue;
      const mayBeCut = lack.isUnrestrained || (lack.endsAnew && version?.endsBracket !== true);
      if (now - since < (mayBeCut ? long : short)) waiting.push(file);
      lacks.set(file, { until: since + long, sets: lack.sets });
    }
    return {
      waiting,
      templates: lacks.size === 0 ? templates : templates.map((one) => this.#mark(one, lacks)),
    };
  }

  #mark(one: DesiredTemplate, all: ReadonlyMap<string, FileLack>): DesiredTemplate {
    const lacks = filesOf(one).flatMap((file) => all.get(file) ?? []);
    if (lacks.length === 0) return one;
    const prefix = `${one.template}\n`;
    const sets = lacks.flatMap((lack) => lack.sets).filter((set) => set.startsWith(prefix));
    const incomplete = {
      until: Math.max(...lacks.map(({ until }) => until)),
      sets: sets.map((set) => set.slice(prefix.length)),
    };
    const known = this.#marked.get(one);
    if (JSON.stringify(known?.incomplete) === JSON.stringify(incomplete)) return known!;
    const marked = { ...one, incomplete };
    this.#marked.set(one, marked);
    return marked;
  }

  /** Milliseconds after which something changes by time alone; null: nothing does. */
  dueIn(): number | null {
    const now = this.#clock.now();
    const ends = [...this.#changes.values()].flatMap(({ since }) => [since + short, since + long]);
    const next = ends.filter((end) => end > now);
    return next.length === 0 ? null : Math.min(...next) - now;
  }
}

/** Milliseconds. */
const short = 3_000;
const long = 30_000;

type CommitOf = (file: ScannedFile) => string | null;

const commitsOf = (files: readonly ScannedFile[]): CommitOf => {
  const checkoutOf = openCheckouts();
  const someOf = new Map(files.map(({ root, real }) => [root.real, real]));
  const commits = new Map([...someOf].map(([root, real]) => [root, checkoutOf(real)?.commit ?? null]));
  return ({ root }) => commits.get(root.real) ?? null;
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

interface FileLack {
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Record sets that have fewer records, by template and set. */
  readonly sets: readonly string[];
}

/** What a file lacks of its earlier version; null: nothing. Without an earlier one nobody knows. */
const lackOf = (
  { isNew, before }: Change,
  templates: readonly DesiredTemplate[],
  file: string,
): { readonly sets: string[]; readonly isUnrestrained: boolean; readonly endsAnew: boolean } | null => {
  const now = ofFile(file, templates);
  const counts = setsOf(now);
  const sets = [...setsOf(before)].flatMap(([set, count]) => ((counts.get(set) ?? 0) < count ? set : []));
  // It may write what the earlier one kept it from: the rest may still come. What is gone, or has an error, writes nothing.
  const isUnrestrained = before.some(({ template, mode, ignore }) =>
    now.some(
      (one) =>
        one.template === template &&
        (modes.indexOf(one.mode) < modes.indexOf(mode) || lacksRule(one, ignore)),
    ),
  );
  if (isNew) return { sets: [], isUnrestrained, endsAnew: false };
  if (sets.length === 0 && !isUnrestrained) return null;
  const last = lastKey(now, file);
  // Else it may be the beginning of another record.
  const isKnown = before.some(({ template, records }) =>
    records.some((one) => keyOf(template, one) === last),
  );
  return { sets, isUnrestrained, endsAnew: last !== null && !isKnown };
};

const filesOf = ({ source, fragments = [] }: DesiredTemplate): string[] => [source.file, ...fragments];

/** The templates that a file is part of. Lists of templates are never changed. */
const ofFile = (file: string, templates: readonly DesiredTemplate[]): readonly DesiredTemplate[] => {
  let byFile = indexes.get(templates);
  if (byFile === undefined) {
    byFile = new Map();
    for (const one of templates) for (const place of filesOf(one)) pushTo(byFile, place, one);
    indexes.set(templates, byFile);
  }
  return byFile.get(file) ?? [];
};

const indexes = new WeakMap<readonly DesiredTemplate[], Map<string, DesiredTemplate[]>>();

/** The number of records in each record set, by template and set. */
const setsOf = (templates: readonly DesiredTemplate[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { template, records } of templates)
    for (const { type, name } of records) {
      const set = `${template}\n${type} ${canonicalName(name)}`;
      counts.set(set, (counts.get(set) ?? 0) + 1);
    }
  return counts;
};

const lacksRule = ({ ignore }: DesiredTemplate, rules: DesiredTemplate['ignore']): boolean => {
  const known = new Set(ignore.map((rule) => JSON.stringify(rule)));
  return rules.some((rule) => !known.has(JSON.stringify(rule)));
};

/** The last record of the file itself; null without any. */
const lastKey = (templates: readonly DesiredTemplate[], file: string): string | null => {
  const own = templates.flatMap(({ template, records }) =>
    records.filter(({ source }) => source.file === file).map((record) => ({ template, record })),
  );
  const last = own.reduce<(typeof own)[number] | null>((one, other) => {
    const { line = 0, column = 0 } = one?.record.source ?? {};
    const { source } = other.record;
    return source.line > line || (source.line === line && source.column >= column) ? other : one;
  }, null);
  return last && keyOf(last.template, last.record);
};

const keyOf = (template: string, { type, name, content, priority, ttl }: RecordData): string =>
  JSON.stringify([template, type, name, content, priority, ttl]);
