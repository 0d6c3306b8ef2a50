import { escapeControl, shortText } from '../lib/escape-control.ts';
import { shellWord } from '../model/shell-word.ts';
import { groupBy } from '../model/group.ts';
import type { Difference } from '../plan/difference.ts';
import { patternOf } from '../plan/record-pattern.ts';
import type { TemplateResult } from '../result.ts';

/** What a person can do about a difference, with the command to copy. Every text is visible and harmless to a terminal. */
export interface ToDo {
  readonly own: () => string;
  /** The same for all differences of this template with the same cause, which is then said once. */
  readonly shared: string;
}

/** Parked: null if it is not known how many records are. */
type Differences = Pick<TemplateResult, 'template' | 'differences'> & { readonly parked: number | null };

/** The differences of a template to which somebody can do something. */
export const toDosOf = (template: Differences): ReadonlyMap<Difference, ToDo> => {
  const kindOf = kindsIn(template);
  const kinds = groupBy(template.differences, kindOf);
  return new Map(
    [...kinds].flatMap(([kind, some]) => {
      if (kind === null) return [];
      const shared = sentence(kind, some, template);
      return some.map((one): [Difference, ToDo] => {
        const own = (): string => (some.length === 1 ? shared : sentence(kind, [one], template));
        return [one, { own, shared: ownKinds.has(kind) ? own() : shared }];
      });
    }),
  );
};

type Kind =
  | 'dropped'
  | 'renamed'
  | 'unlisted'
  | 'duplicate'
  | 'drifted'
  | 'forced'
  | 'stopped'
  | 'conflict'
  | 'not-converging'
  | 'refused'
  | 'vanished';

const kindsIn = ({ differences, parked }: Differences): ((difference: Difference) => Kind | null) => {
  const inTheWay = new Set(
    differences.flatMap((one) => (one.action === 'blocked' ? (one.conflicts ?? []) : [])),
  );
  const missing = groupBy(differences.filter(isMissing), typeOf);
  const surplus = groupBy(
    differences.filter((one) => one.action === 'surplus' && one.cause !== 'unknown'),
    typeOf,
  );
  // A pass takes records that the file once listed, parked ones first. Of several, the choice is the pass's.
  const isRenamed = (one: Difference): boolean => {
    const [add, another] = missing.get(typeOf(one)) ?? [];
    if (add?.action !== 'add' || another || surplus.get(typeOf(one))?.length !== 1 || parked !== 0)
      return false;
    return add.desired.name !== null && dataIn(one).content === add.desired.content;
  };
  return (one) => {
    if (one.outcome !== undefined && one.outcome !== 'skipped') return null;
    switch (one.action) {
      case 'blocked':
        return one.reason === 'cname-conflict' || one.reason === 'null-mx-conflict' ? 'conflict' : one.reason;
      case 'surplus':
        // What it blocks says what to do about it.
        if (inTheWay.has(one.recordId)) return null;
        if (one.reason === 'duplicate') return 'duplicate';
        return !isDropped(one) ? 'unlisted' : isRenamed(one) ? 'renamed' : 'dropped';
      case 'add':
      case 'update':
      case 'park':
        if (one.skippedBy === 'mode-edits') return 'forced';
        if (one.action === 'park' || one.cause === 'edited' || one.cause === 'unknown') return null;
        return one.outcome === 'skipped' ? 'stopped' : 'drifted';
    }
  };
};

/** What names another record too. */
const ownKinds: ReadonlySet<Kind> = new Set(['conflict', 'renamed']);

type Surplus = Extract<Difference, { action: 'surplus' }>;

/** A record that the file listed before an edit. */
const isDropped = (one: Difference): one is Surplus =>
  one.action === 'surplus' && one.reason === 'unlisted' && one.cause === 'edited';

const isMissing = (one: Difference): boolean =>
  one.action === 'add' || (one.action === 'blocked' && one.current === undefined);

const dataIn = (one: Difference): Surplus['current'] =>
  one.action === 'surplus' ? one.current : one.desired;

const typeOf = (one: Difference): string => dataIn(one).type;

/** What is foreign stands between backquotes, which it cannot end. */
const quoted = (text: string): string =>
  `\`${escapeControl(shortText(text, maxShown)).replaceAll('`', "'")}\``;

/** Characters of a command: any real one is shorter. */
const maxShown = 400;

const sentence = (
  kind: Kind,
  some: readonly Difference[],
  { template, differences }: Differences,
): string => {
  const run = (command: string): string => quoted(`dns-template-sync ${command}`);
  const name = shellWord(template);
  const accept = run(['accept', name, ...recordsIn(some)].join(' '));
  const ids = some.flatMap((one) => ('recordId' in one && one.recordId !== undefined ? [one.recordId] : []));
  const it = some.length === 1 ? 'it' : 'them';
  switch (kind) {
    case 'dropped':
      return `you took ${it} out of the file, and the service cannot delete: remove ${named(ids)} in the panel, or let \`surplus: park\` move ${it} aside.`;
    case 'renamed': {
      const add = differences.find((one) => one.action === 'add' && typeOf(one) === typeOf(some[0]!));
      return `the service cannot delete: with \`surplus: park\`, ${named(ids)} would be renamed to ${quoted(add === undefined ? '' : (dataIn(add).name ?? ''))}; without it, remove ${named(ids)} in the panel.`;
    }
    case 'unlisted':
      return `${accept} takes ${it} into the file. Or remove ${named(ids)} in the panel, name ${it} under \`ignore\`, or let \`surplus: park\` with \`adopt: true\` move ${it} aside.`;
    case 'duplicate':
      return `remove ${named(ids)} in the panel, or let \`surplus: park\` move ${it} aside, with \`adopt: true\` unless the file once listed ${it}.`;
    case 'drifted':
      return `${accept} makes the file say what the service has; a pass writes what the file says.`;
    case 'forced':
      return `${accept} makes the file say what the service has; ${run(`apply --force ${name}`)} writes what the file says.`;
    case 'stopped':
      return `${accept} makes the file say what the service has.`;
    case 'conflict':
      return clearTheWay(some[0]!, differences);
    case 'not-converging':
      return `${accept} makes the file say what the service has. Or change the record in the panel.`;
    case 'refused':
      return 'change the record in the file to one that the service accepts. An apply retries at once.';
    case 'vanished':
      return `find out who removes ${it}. Then ${run(`apply --retry ${name}`)} adds ${it} again.`;
  }
};

/** The records as `accept` takes them; none stands for all that differ. */
const recordsIn = (some: readonly Difference[]): readonly string[] => {
  if (some.length > 2 * maxRecords) return [];
  const patterns = [...new Set(some.map((one) => patternOf(dataIn(one)).replaceAll('*', String.raw`\*`)))];
  return patterns.length > maxRecords ? [] : patterns.map(shellWord);
};

const maxRecords = 5;

/** What stands at the subdomain itself has no name, and cannot be moved aside. */
const clearTheWay = (one: Difference, differences: readonly Difference[]): string => {
  const ids = one.action === 'blocked' ? (one.conflicts ?? []) : [];
  const records = ids.length === 0 ? 'what is in the way' : named(ids);
  if (dataIn(one).name === null) return `remove ${records} in the panel, or change the file.`;
  const isListed = (id: number): boolean =>
    differences.some((other) => isDropped(other) && other.recordId === id);
  const adopt = ids.every(isListed) ? '' : ' with `adopt: true`';
  return `remove ${records} in the panel, change the file, or let \`surplus: park\`${adopt} move ${ids.length === 1 ? 'it' : 'them'} aside.`;
};

/** `record 5`, `records 5, 6 and 7`, `records 5, 6, 7, 8, 9 and 12 more`. */
const named = (ids: readonly number[]): string => {
  if (ids.length === 1) return `record ${ids[0]}`;
  const shown = ids.length > maxRecords ? ids.slice(0, maxRecords) : ids.slice(0, -1);
  const last = ids.length > maxRecords ? `${ids.length - maxRecords} more` : ids.at(-1);
  return `records ${shown.join(', ')} and ${last}`;
};
