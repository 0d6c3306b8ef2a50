import path from 'node:path';
import { canonicalName } from '../model/canonical.ts';
import { pushTo } from '../model/group.ts';
import type { DesiredRecord } from '../model/record.ts';
import { modes, surplusPolicies, type DesiredState, type DesiredTemplate } from '../model/template.ts';
import { timesMark } from '../regular-file.ts';
import type { openCheckouts } from './checkout.ts';
import type { ScannedFile } from './scan.ts';
import type { Version } from './snapshot.ts';

/** A file that was changed in place a moment ago, or that is new. */
interface SeenChange {
  readonly times: string;
  /** When its last change was seen, or is said to have been; ms since the epoch. */
  readonly since: number;
  /** Whether there was no version before the first change. */
  readonly isNew: boolean;
  /** The templates with the version before the first change; of a new file, with what was taken of it. */
  readonly before: readonly DesiredTemplate[];
  readonly endedLine: boolean;
}

/** What is remembered of files from one look to the next, by path. */
export interface Uploads {
  readonly changes: ReadonlyMap<string, SeenChange>;
  /** The templates that each file was part of last, also those that have errors now. */
  readonly said: ReadonlyMap<string, readonly DesiredTemplate[]>;
  /** By the folders of the checkouts. */
  readonly commits: ReadonlyMap<string, string>;
  /** The real paths of the given ones. */
  readonly roots: readonly string[];
}

export const noUploads: Uploads = { changes: new Map(), said: new Map(), commits: new Map(), roots: [] };

interface Stands {
  /** The files as they are, and the versions in use, by path. */
  readonly versions: ReadonlyMap<string, Version>;
  readonly inUse: ReadonlyMap<string, Version | null>;
  /** From before the files were read. */
  readonly commits: Uploads['commits'];
  readonly checkoutOf: CheckoutOf;
  readonly roots: Uploads['roots'];
  readonly cwd: string;
  readonly now: number;
  /** By how much the clock has leapt since the files were looked at last: in that time nobody need have gone on writing. */
  readonly leap: number;
}

/**
 * A file that is being uploaded is not a file yet: a copy that arrives in place is for a while a shorter file, which may end
 * within a record or a number. So what was changed in place (same inode), and what there was no version of, waits while it
 * may be half. Whatever takes the place of a file at once needs no wait, if its times show that, and neither does what git has
 * brought, as the commit shows. Else what is made anew in the place of a file waits like that.
 *
 * | the new version                                              | after its last change                         |
 * | ------------------------------------------------------------ | --------------------------------------------- |
 * | has no final newline, where the one before had one           | waits 30 s                                    |
 * | has none either, and does not end in a bracket               | waits 30 s: it may end within a value         |
 * | lacks records                                                | waits 3 s; what it drops stays for 30 s       |
 * | lacks records, and its last one is new and not in brackets   | waits 30 s                                    |
 * | lacks a rule under `ignore`                                  | waits 30 s                                    |
 * | allows more by its `mode`, `surplus`, `adopt` or `limits`    | waits 30 s                                    |
 *
 * `describe` tells what the files say where those that are held say what they said before. Gives that with the templates marked
 * where something may be missing: the same templates give the same objects.
 */
export const withoutUploads = async <D extends { readonly state: DesiredState }>(
  before: Uploads,
  stands: Stands,
  describe: (held: ReadonlySet<string>) => Promise<D>,
): Promise<D & { readonly held: ReadonlySet<string>; readonly uploads: Uploads }> => {
  const { versions, commits, now } = stands;
  const changes = new Map<string, SeenChange>();
  const held = new Set<string>();
  for (const [file, version] of versions) {
    const change = changeOf(version, before, stands);
    if (change === null) continue;
    changes.set(file, change);
    const mayBeCut = change.endedLine || !version.endsBracket;
    if (!version.endsLine && mayBeCut) held.add(file);
  }
  for (;;) {
    const described = await describe(held);
    const { state } = described;
    const said = saidIn(state.templates);
    const lacks = new Map<string, Lack & { readonly until: number }>();
    const heldBefore = held.size;
    for (const [file, change] of changes) {
      const lack = held.has(file) ? null : lackOf(change, said.get(file) ?? [], file);
      if (lack === null) continue;
      const mayBeCut = lack.isUnrestrained || (lack.endsAnew && !versions.get(file)!.endsBracket);
      if (now - change.since < (mayBeCut ? long : short)) held.add(file);
      lacks.set(file, { ...lack, until: change.since + long });
    }
    if (held.size > heldBefore) continue;
    keepBroken(said, before.said, state, versions);
    const templates = state.templates.map((one) => marked(one, lacks));
    const uploads = { changes, said, commits, roots: stands.roots };
    return { ...described, state: { ...state, templates }, held, uploads };
  }
};

/** Milliseconds after which files that are all new may be read. */
export const firstWait = (
  files: readonly ScannedFile[],
  stands: Pick<Stands, 'cwd' | 'now' | 'roots'>,
): number => Math.max(0, ...files.map((file) => writtenAt(file, stands, stands.roots) + short - stands.now));

/** The commits of the checkouts in which the files are. */
export const commitsOf = (files: readonly ScannedFile[], checkoutOf: CheckoutOf): Uploads['commits'] =>
  new Map(
    files.flatMap(({ real }) => {
      const { root, commit = null } = checkoutOf(real) ?? {};
      return root === undefined || commit === null ? [] : [[root, commit]];
    }),
  );

type CheckoutOf = ReturnType<typeof openCheckouts>;

/** Milliseconds. */
const short = 3_000;
const long = 30_000;

/** Null: there is nothing to wait for. */
const changeOf = ({ file }: Version, before: Uploads, stands: Stands): SeenChange | null => {
  const { commits, checkoutOf, cwd, now, leap } = stands;
  // There may be several checkouts in a directory, and files beside them.
  const checkout = checkoutOf(file.real)?.root ?? '';
  const [was, is] = [before.commits.get(checkout), commits.get(checkout)];
  if (was !== undefined && is !== undefined && was !== is) return null;
  const inUse = stands.inUse.get(file.path) ?? null;
  const known = before.changes.get(file.path);
  const times = timesMark(file.identity);
  const isKnown = known?.times === times;
  if (inUse !== null && !isKnown) {
    const { ino, dev } = inUse.file.identity;
    const isInPlace = ino === file.identity.ino && dev === file.identity.dev;
    // Such as `tar` makes files anew where others were. Times are too coarse to tell each rename from that.
    const isWhole = isInPlace ? timesMark(inUse.file.identity) === times : isMoved(file, cwd, before.roots);
    if (isWhole) return null;
  }
  // Its time may be by the clock as it was.
  const written = (at: number): number => writtenAt(file, { cwd, now: at }, before.roots);
  const firstSince = inUse === null ? Math.max(written(now), written(now - leap) + leap) : now;
  const since = isKnown ? known.since + leap : firstSince;
  if (now - since >= long) return null;
  if (known && (isKnown || !known.isNew)) return { ...known, times, since };
  return {
    times,
    since,
    isNew: known?.isNew ?? inUse === null,
    before: inUse === null ? [] : (before.said.get(file.path) ?? []),
    endedLine: known?.endedLine ?? inUse?.endsLine ?? true,
  };
};

/**
 * When a file was written, by its own time. Long ago: it was moved there since, or a link led there, so that it is whole; or
 * its time lies so far ahead that it says nothing.
 */
const writtenAt = (
  file: ScannedFile,
  { cwd, now }: Pick<Stands, 'cwd' | 'now'>,
  roots: Uploads['roots'],
): number => {
  const written = Number(file.identity.mtimeNs / 1_000_000n);
  if (now - written >= long || written > now + aheadAtMost) return 0;
  return isMoved(file, cwd, roots) ? 0 : Math.min(written, now);
};

/** Whether a file was whole before it came to its place. `roots`: those that were there before; a link to them brings nothing. */
const isMoved = (
  { path: given, root, relative, real, identity }: ScannedFile,
  cwd: string,
  roots: Uploads['roots'],
): boolean => {
  const isBelow = roots.includes(root.real) || roots.includes(real);
  const isOwn = isBelow && path.join(root.real, relative) === real;
  return identity.ctimeNs > identity.mtimeNs || (path.resolve(cwd, given) !== real && !isOwn);
};

/** Milliseconds by which the clock of a file server may be ahead. */
const aheadAtMost = 60_000;

const saidIn = (templates: readonly DesiredTemplate[]): Map<string, DesiredTemplate[]> => {
  const said = new Map<string, DesiredTemplate[]>();
  for (const one of templates) for (const file of filesOf(one)) pushTo(said, file, one);
  return said;
};

/** What a file with errors said before them is still at the service, and what comes next is held against it. */
const keepBroken = (
  said: Map<string, DesiredTemplate[]>,
  before: Uploads['said'],
  { templates, unusable }: DesiredState,
  versions: Stands['versions'],
): void => {
  const broken = new Set(unusable.map(({ file }) => file));
  const names = new Set(templates.map(keyOf));
  for (const [file, ones] of before)
    for (const one of versions.has(file) ? ones : [])
      if (broken.has(one.source.file) && !names.has(keyOf(one))) pushTo(said, file, one);
};

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
  { isNew, before }: SeenChange,
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
    const names = fewer.map(([set]) => set);
    if (names.length > 0) sets.set(keyOf(one), names);
  }
  if (sets.size === 0 && !isUnrestrained) return null;
  const ownIn = ({ records }: DesiredTemplate): readonly DesiredRecord[] =>
    records.filter(({ source }) => source.file === file);
  const last = now.findLast((one) => ownIn(one).length > 0);
  const earlier = before.filter((one) => last && keyOf(one) === keyOf(last)).flatMap(ownIn);
  const endsAnew = last !== undefined && !earlier.map(saying).includes(saying(ownIn(last).at(-1)!));
  return { sets, endsAnew, isUnrestrained };
};

export const filesOf = ({ source, fragments = [] }: DesiredTemplate): string[] => [source.file, ...fragments];

const keyOf = ({ template, id }: DesiredTemplate): string => `${id} ${template}`;

/** What keeps a template from writing often stands at the end of its file, where settings take its place while it is missing. */
const loosens = (before: DesiredTemplate, now: DesiredTemplate | undefined): boolean => {
  if (now === undefined) return false;
  const rules = new Set(now.ignore.map((rule) => JSON.stringify(rule)));
  const { limits } = before;
  return (
    modes.indexOf(now.mode) < modes.indexOf(before.mode) ||
    surplusPolicies.indexOf(now.surplus) > surplusPolicies.indexOf(before.surplus) ||
    (now.adopt && !before.adopt) ||
    (['maxAdds', 'maxChangePercent', 'minRecords'] as const).some((key) => now.limits[key] > limits[key]) ||
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

const marked = (
  one: DesiredTemplate,
  all: ReadonlyMap<string, Lack & { readonly until: number }>,
): DesiredTemplate => {
  const lacks = filesOf(one).flatMap((file) => all.get(file) ?? []);
  if (lacks.length === 0) return one;
  const incomplete = {
    until: Math.max(...lacks.map(({ until }) => until)),
    sets: lacks.flatMap(({ sets }) => sets.get(keyOf(one)) ?? []),
  };
  const before = markedBefore.get(one);
  if (before && JSON.stringify(before.incomplete) === JSON.stringify(incomplete)) return before;
  const result = { ...one, incomplete };
  markedBefore.set(one, result);
  return result;
};

const markedBefore = new WeakMap<DesiredTemplate, DesiredTemplate>();
