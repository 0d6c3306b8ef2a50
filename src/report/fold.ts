/** A collapsible part of a comment. */
export interface Fold {
  readonly title: string;
  /** Whether it is open at first. */
  readonly isOpen?: boolean;
  /** Parts are independent, so that the last ones can be left out if there is no room. */
  readonly parts: readonly string[];
}

/**
 * Joins folds. If there is no room for all, it lists `names` first and cuts the longest folds, so that one
 * large template cannot hide the others.
 */
export const fitted = (folds: readonly Fold[], names: readonly string[], room: number): string => {
  const whole = folds.map((fold) => textOf(fold, fold.parts)).join('');
  if (whole.length <= room) return whole;
  const list = listOf(names, room / 2);
  const left = room - list.length - cutNote.length;
  const shown = withinFrames(folds, left / 2);
  const kept = shareOut(shown, left - sumOf(shown.map(frameOf)));
  return list + shown.map((fold) => textOf(fold, kept.get(fold) ?? [])).join('') + cutNote;
};

const textOf = ({ title, isOpen = false }: Fold, parts: readonly string[]): string =>
  `\n<details${isOpen ? ' open' : ''}><summary>${title}</summary>\n\n${parts.join('')}\n</details>\n`;

/** The length of a fold without its parts, with the note that some are missing. */
const frameOf = (fold: Fold): number => textOf(fold, []).length + moreNote(fold.parts.length).length;

const withinFrames = (folds: readonly Fold[], room: number): readonly Fold[] => {
  let used = 0;
  const end = folds.findIndex((fold) => (used += frameOf(fold)) > room);
  return end === -1 ? folds : folds.slice(0, end);
};

/** The shortest first: they leave room to the others. */
const shareOut = (folds: readonly Fold[], room: number): ReadonlyMap<Fold, readonly string[]> => {
  const kept = new Map<Fold, readonly string[]>();
  let left = room;
  let count = folds.length;
  for (const fold of folds.toSorted((one, other) => sizeOf(one.parts) - sizeOf(other.parts))) {
    const parts = partsWithin(fold.parts, left / count);
    kept.set(fold, parts);
    left -= sizeOf(parts);
    count -= 1;
  }
  return kept;
};

const partsWithin = (parts: readonly string[], room: number): readonly string[] => {
  let used = 0;
  const end = parts.findIndex((part) => (used += part.length) > room);
  return end === -1 ? parts : [...parts.slice(0, end), moreNote(parts.length - end)];
};

const moreNote = (count: number): string => `\n${count} more lines are not shown here.\n`;

const listOf = (names: readonly string[], room: number): string => {
  let used = 0;
  const end = names.findIndex((name) => (used += name.length + 2) > room);
  const shown = end === -1 ? names : names.slice(0, end);
  if (shown.length === 0) return '';
  const more = names.length - shown.length;
  return `\n**Not in sync:** ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}\n`;
};

const sizeOf = (parts: readonly string[]): number => sumOf(parts.map(({ length }) => length));

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const cutNote =
  '\n**Cut short:** the report does not fit into a comment. Its json and html formats have everything.\n';
