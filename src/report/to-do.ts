import { escapeControl, shortText } from '../lib/escape-control.ts';
import { groupBy } from '../model/group.ts';
import type { RecordData } from '../model/record.ts';
import { shellWord } from '../model/shell-word.ts';
import { waitForListings, type Difference } from '../plan/difference.ts';
import { patternOf } from '../plan/record-pattern.ts';

/**
 * What a person can do about the differences of a template, with the command to copy. What is the same for several, by cause,
 * is said of all of them. Every text is visible and harmless to a terminal. While an earlier write may still appear, nobody is
 * told to remove what the file may yet need, or what gives way to a record that is only written later.
 */
export const toDosOf = (
  template: string,
  differences: readonly Difference[],
  isSettled = true,
): ReadonlyMap<Difference, string> => {
  const inTheWay = new Set(
    differences.flatMap((one) => (one.action === 'blocked' ? [...conflictsOf(one), one.recordId] : [])),
  );
  const renames = renamesIn(differences);
  const kinds = groupBy(differences, (one) => {
    const kind = kindOf(one, inTheWay, renames);
    return isSettled || (one.action !== 'surplus' && kind !== 'conflict') ? kind : null;
  });
  return new Map(
    [...kinds].flatMap(([kind, some]) => {
      if (kind === null) return [];
      // What names another record too is said for each.
      const groups = kind === 'conflict' || kind === 'renamed' ? some.map((one) => [one]) : [some];
      return groups.flatMap((group) => {
        const said = sentences[kind](group, template, renames);
        return group.map((one) => [one, said] as const);
      });
    }),
  );
};

/** The records that `surplus: park` can rename, and their new names; where nothing else in the file could get them. */
const renamesIn = (differences: readonly Difference[]): ReadonlyMap<Difference, string> => {
  const found = new Map<Difference, string>();
  for (const some of groupBy(differences, (one) => dataIn(one).type).values()) {
    const [add, ...adds] = some.filter(({ action }) => action === 'add' || action === 'blocked');
    const [left, ...others] = some.filter((one) => one.action === 'surplus' && one.cause !== 'unknown');
    if (add?.action !== 'add' || !left || adds.length + others.length > 0) continue;
    const { name, content } = add.desired;
    if (name !== null && content === dataIn(left).content) found.set(left, name);
  }
  return found;
};

const kindOf = (
  one: Difference,
  inTheWay: ReadonlySet<number | undefined>,
  renames: ReadonlyMap<Difference, string>,
): keyof typeof sentences | null => {
  if (one.outcome === 'unknown') return 'unknown';
  if (one.outcome === 'applied' || one.outcome === 'failed') return null;
  switch (one.action) {
    case 'blocked':
      if (one.reason === 'vanished' && one.message.endsWith(waitForListings)) return null;
      return one.reason === 'cname-conflict' || one.reason === 'null-mx-conflict' ? 'conflict' : one.reason;
    case 'surplus':
      // What it blocks, or may be, says what to do about it: something else, or what undoes that.
      if (inTheWay.has(one.recordId)) return null;
      if (one.reason === 'duplicate') return 'duplicate';
      if (one.cause !== 'edited') return 'unlisted';
      return renames.has(one) ? 'renamed' : 'dropped';
    case 'add':
    case 'update':
    case 'park':
      if (one.skippedBy === 'mode-edits') return 'forced';
      if (one.action === 'park' || one.cause === 'edited' || one.cause === 'unknown') return null;
      return one.outcome === 'skipped' ? 'stopped' : 'drifted';
  }
};

type Sentence = (
  some: readonly Difference[],
  template: string,
  renames: ReadonlyMap<Difference, string>,
) => string;

const accepted: Sentence = (some, template) =>
  `${accept(template, some)} makes the file say what the service has`;

const sentences = {
  dropped: (some) =>
    `you took ${it(some)} out of the file, and the service cannot delete: remove ${idsOf(some)} in the panel, or let \`surplus: park\` move ${it(some)} aside.`,
  renamed: (some, _, renames) =>
    `the service cannot delete: with \`surplus: park\`, a pass can rename ${idsOf(some)} to ${quoted(renames.get(some[0]!) ?? '')}; without it, remove ${idsOf(some)} in the panel.`,
  unlisted: (some, template) =>
    `${accept(template, some)} takes ${it(some)} into the file. Or remove ${idsOf(some)} in the panel, name ${it(some)} under \`ignore\`, or let \`surplus: park\` with \`adopt: true\` move all aside that the file never listed.`,
  duplicate: (some) => `remove ${idsOf(some)} in the panel, or ${aside(some)}.`,
  drifted: (...all) => `${accepted(...all)}; a pass writes what the file says.`,
  forced: (some, template, renames) =>
    `${accepted(some, template, renames)}; ${run(`apply --force ${shellWord(template)}`)} writes what the file says.`,
  stopped: (...all) => `${accepted(...all)}.`,
  'not-converging': (...all) => `${accepted(...all)}. Or change the record in the panel.`,
  refused: () => 'change the record in the file to one that the service accepts. An apply retries at once.',
  unknown: (some) =>
    `nothing. The next passes find out whether ${it(some)} arrived, and write ${it(some)} again only if not.`,
  vanished: (some, template) =>
    `find out who removes ${it(some)}. Then ${run(`apply --retry ${shellWord(template)}`)} adds ${it(some)} again.`,
  conflict: (some) => {
    const ids = some.flatMap(conflictsOf);
    const removal = `remove ${ids.length === 0 ? 'what is in the way' : named(ids)} in the panel`;
    // What has no name cannot be moved aside.
    return dataIn(some[0]!).name === null
      ? `${removal}, or change the file.`
      : `${removal}, change the file, or ${aside(ids)}.`;
  },
} satisfies Record<string, Sentence>;

const aside = (some: readonly unknown[]): string =>
  `let \`surplus: park\` move ${it(some)} aside (with \`adopt: true\`, all that the file never listed)`;

const conflictsOf = (one: Difference): readonly number[] =>
  one.action === 'blocked' ? (one.conflicts ?? []) : [];

const dataIn = (one: Difference): RecordData => (one.action === 'surplus' ? one.current : one.desired);

/** What ends a suspension: that of a whole client stays when one of its templates is resumed. */
export const resuming = (template: string, client: string): string =>
  `${run(`resume ${shellWord(template)}`)} ends the suspension; if all of client ${escapeControl(client)} is suspended, ${run(`resume --client ${shellWord(client)}`)} does.`;

const it = ({ length }: readonly unknown[]): string => (length === 1 ? 'it' : 'them');

/** What is foreign stands between backquotes, which it cannot end. Any real command is shorter. */
const quoted = (text: string): string => `\`${escapeControl(shortText(text, 400)).replaceAll('`', "'")}\``;

const run = (command: string): string => quoted(`dns-template-sync ${command}`);

/** Of more than a few records, all that differ are accepted. */
const accept = (template: string, some: readonly Difference[]): string => {
  const patterns = new Set(some.map((one) => patternOf(dataIn(one)).replaceAll('*', '\\*')));
  const words = [template, ...(patterns.size > few ? [] : patterns)];
  return run(`accept ${words.map(shellWord).join(' ')}`);
};

const few = 5;

const idsOf = (some: readonly Difference[]): string =>
  named(some.flatMap((one) => ('recordId' in one && one.recordId !== undefined ? [one.recordId] : [])));

/** `record 5`, `records 5, 6, 7`, `records 5, 6, 7, 8, 9 and 12 more`. */
const named = (ids: readonly number[]): string => {
  const more = ids.length > few ? ` and ${ids.length - few} more` : '';
  return `record${ids.length === 1 ? '' : 's'} ${ids.slice(0, few).join(', ')}${more}`;
};
