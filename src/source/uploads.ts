import path from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import { timesMark } from '../regular-file.ts';
import { openCheckouts } from './checkout.ts';
import { extentOf, lackOf, type Extent, type Lack } from './extent.ts';
import type { ScannedFile } from './scan.ts';

/** A file that was changed in place a moment ago, or that is new. */
interface Change {
  readonly times: string;
  /** When its last change was seen, or is said to have been; ms since the epoch. */
  readonly since: number;
  /** What the version before the first change said; null: there was none. */
  readonly before: Extent | null;
  readonly endedLine: boolean;
  /** Of its checkout, before the first change. */
  readonly commit: string | null;
}

/** How the text of a file ends. */
export interface Ending {
  /** With a newline. */
  readonly endsLine: boolean;
  /** With a bracket, before it: what stands in brackets is whole. */
  readonly endsBracket: boolean;
}

export const endingOf = (bytes: Buffer): Ending => {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 100));
  return { endsLine: end.endsWith('\n'), endsBracket: /[}\]]\s*$/.test(end) };
};

/** The version of a file that is in use. */
export interface Version extends Ending {
  readonly file: ScannedFile;
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
  #changes = new Map<string, Change>();
  /** The commits of the given paths at this look, and at the one before. */
  #commits: CommitOf | null = null;
  #commitsBefore: CommitOf = () => null;
  readonly #marked = new WeakMap<DesiredTemplate, DesiredTemplate>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether something changes by time alone, or by a commit. */
  get isOpen(): boolean {
    return this.#changes.size > 0;
  }

  /** Begins a look at these files. */
  begin(files: readonly ScannedFile[]): void {
    const commits = commitsOf(files);
    this.#commitsBefore = this.#commits ?? commits;
    this.#commits = commits;
  }

  /** Notes how a file stands to the version in use, and what all files said then. Null: there is nothing to wait for. */
  note(
    file: ScannedFile,
    version: Version | undefined,
    cwd: string,
    state: DesiredState | null,
  ): Change | null {
    const known = this.#changes.get(file.path);
    if (known === undefined && version?.file === file) return null;
    const change = this.#changeOf(file, version, known, cwd, state);
    if (change === null) this.#changes.delete(file.path);
    else this.#changes.set(file.path, change);
    return change;
  }

  #changeOf(
    file: ScannedFile,
    version: Version | undefined,
    known: Change | undefined,
    cwd: string,
    state: DesiredState | null,
  ): Change | null {
    const times = timesMark(file.identity);
    const now = this.#clock.now();
    const isKnown = known?.times === times;
    if (version !== undefined && !isKnown) {
      const { ino, dev } = version.file.identity;
      const isInPlace = ino === file.identity.ino && dev === file.identity.dev;
      if (!isInPlace || timesMark(version.file.identity) === times) return null;
    }
    const since = isKnown ? known.since : version === undefined ? writtenAt(file, cwd, now) : now;
    if (now - since >= long) return null;
    const { before, endedLine, commit } = known ?? {
      before: version === undefined ? null : extentOf(state?.templates ?? [], file.path),
      endedLine: version?.endsLine ?? true,
      commit: this.#commitsBefore(file),
    };
    if (commit !== this.#commits?.(file)) return null;
    return { times, since, before, endedLine, commit };
  }

  /** Whether it has to wait, whatever it says. */
  isCut(change: Change, endsLine: boolean): boolean {
    return !endsLine && change.endedLine;
  }

  /** The files among these that have to wait, by what their new versions say. */
  waiting(files: ReadonlyMap<string, Ending>, templates: readonly DesiredTemplate[]): string[] {
    const now = this.#clock.now();
    return [...files].flatMap(([file, { endsBracket }]) => {
      const change = this.#changes.get(file);
      const lack = change && lackIn(change, file, templates);
      if (!lack) return [];
      const mayBeCut = lack.isUnrestrained || (lack.endsAnew && !endsBracket);
      return now - change.since < (mayBeCut ? long : short) ? file : [];
    });
  }

  /** Marks the templates of which something may be missing. The same templates give the same objects. */
  marked(files: Iterable<string>, templates: readonly DesiredTemplate[]): readonly DesiredTemplate[] {
    const lacks = [...files].flatMap((file) => {
      const change = this.#changes.get(file);
      const lack = change && lackIn(change, file, templates);
      return lack ? { file, until: change.since + long, sets: lack.sets } : [];
    });
    if (lacks.length === 0) return templates;
    return templates.map((one) => {
      const own = lacks.filter(({ file }) => one.source.file === file || one.fragments?.includes(file));
      return own.length === 0 ? one : this.#mark(one, own);
    });
  }

  #mark(
    one: DesiredTemplate,
    lacks: readonly { readonly until: number; readonly sets: readonly string[] }[],
  ): DesiredTemplate {
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

  /** Milliseconds after which files that are new to it may be read. */
  firstWait(files: readonly ScannedFile[], cwd: string): number {
    const now = this.#clock.now();
    return Math.max(0, ...files.map((file) => writtenAt(file, cwd, now) + short - now));
  }

  /** Milliseconds after which something changes by time alone; null: nothing does. */
  dueIn(): number | null {
    const now = this.#clock.now();
    const waits = [...this.#changes.values()].flatMap(({ since }) => [
      since + short - now,
      since + long - now,
    ]);
    const next = waits.filter((wait) => wait > 0);
    return next.length === 0 ? null : Math.min(...next);
  }

  /** Forgets files that are gone. */
  keep(files: ReadonlySet<string>): void {
    for (const file of this.#changes.keys()) if (!files.has(file)) this.#changes.delete(file);
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

/** There was no version before it: nobody knows what it lacks. */
const lackIn = ({ before }: Change, file: string, templates: readonly DesiredTemplate[]): Lack | null =>
  before === null
    ? { sets: [], isUnrestrained: false, endsAnew: false }
    : lackOf(before, extentOf(templates, file));

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
