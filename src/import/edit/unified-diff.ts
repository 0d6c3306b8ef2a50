import { lineAfter } from '../existing-entries.ts';
import { inOrder, spliced, type Splice } from './splices.ts';

/**
 * The change of one file as a patch for `git apply` and `patch -p1` in the working directory; empty if nothing changes.
 * Without the line `diff --git`, after which git would look for the path from the top of the checkout.
 */
export const unifiedDiff = (path: string, text: string, splices: readonly Splice<unknown>[]): string => {
  const blocks = blocksOf(text, splices);
  if (blocks.length === 0) return '';
  const lines = linesOf(text);
  return [
    `--- ${ended(`a/${path}`)}\n+++ ${ended(`b/${path}`)}\n`,
    ...hunksOf(blocks, lines.length).map((hunk) => hunkText(hunk, lines)),
  ].join('');
};

/** Lines that are replaced by others. */
interface LineBlock {
  /** Of the first line, from 0. */
  readonly at: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

interface Hunk {
  readonly first: number;
  readonly end: number;
  readonly blocks: readonly LineBlock[];
  /** Lines by which earlier hunks have moved this one. */
  readonly moved: number;
}

const contextLines = 3;

const blocksOf = (text: string, splices: readonly Splice<unknown>[]): LineBlock[] => {
  const groups: { start: number; end: number; splices: Splice<unknown>[] }[] = [];
  for (const splice of inOrder(splices)) {
    const start = text.lastIndexOf('\n', splice.start - 1) + 1;
    const isWholeLines = splice.start === start && splice.text.endsWith('\n');
    const end =
      isWholeLines && splice.end === start ? start : lineAfter(text, Math.max(splice.end, splice.start + 1));
    const last = groups.at(-1);
    if (last && start <= last.end) {
      last.end = Math.max(last.end, end);
      last.splices.push(splice);
    } else groups.push({ start, end, splices: [splice] });
  }
  return groups.flatMap((group): LineBlock[] => {
    const old = text.slice(group.start, group.end);
    const own = group.splices.map((one) => ({
      ...one,
      start: one.start - group.start,
      end: one.end - group.start,
    }));
    return trimmed(lineNumber(text, group.start), linesOf(old), linesOf(spliced(old, own)));
  });
};

/** Without lines at the ends that stay. */
const trimmed = (at: number, removed: readonly string[], added: readonly string[]): LineBlock[] => {
  let first = 0;
  while (first < removed.length && removed[first] === added[first]) first += 1;
  let last = 0;
  const most = Math.min(removed.length, added.length) - first;
  while (last < most && removed.at(-1 - last) === added.at(-1 - last)) last += 1;
  const block = {
    at: at + first,
    removed: removed.slice(first, removed.length - last),
    added: added.slice(first, added.length - last),
  };
  return block.removed.length + block.added.length === 0 ? [] : [block];
};

const hunksOf = (blocks: readonly LineBlock[], lines: number): Hunk[] => {
  const hunks: Hunk[] = [];
  let moved = 0;
  for (const block of blocks) {
    const first = Math.max(0, block.at - contextLines);
    const end = Math.min(lines, block.at + block.removed.length + contextLines);
    const last = hunks.at(-1);
    if (last && first <= last.end)
      hunks[hunks.length - 1] = { ...last, end, blocks: [...last.blocks, block] };
    else hunks.push({ first, end, blocks: [block], moved });
    moved += block.added.length - block.removed.length;
  }
  return hunks;
};

const hunkText = ({ first, end, blocks, moved }: Hunk, lines: readonly string[]): string => {
  const body: string[] = [];
  let at = first;
  let grown = 0;
  for (const block of blocks) {
    body.push(...lines.slice(at, block.at).map((line) => marked(' ', line)));
    body.push(...block.removed.map((line) => marked('-', line)));
    body.push(...block.added.map((line) => marked('+', line)));
    at = block.at + block.removed.length;
    grown += block.added.length - block.removed.length;
  }
  body.push(...lines.slice(at, end).map((line) => marked(' ', line)));
  const before = end - first;
  const after = before + grown;
  // A range without lines is named by the line before it.
  const startOf = (line: number, count: number): number => (count === 0 ? line : line + 1);
  const ranges = `-${startOf(first, before)},${before} +${startOf(first + moved, after)},${after}`;
  return `@@ ${ranges} @@\n${body.join('')}`;
};

const marked = (mark: string, line: string): string =>
  line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`;

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const lineNumber = (text: string, offset: number): number => {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
};

/** As git quotes a path with characters that would end it; a tab ends one with blanks. */
const ended = (path: string): string => {
  if (/["\\\n\t\r]/.test(path)) return JSON.stringify(path);
  return path.includes(' ') ? `${path}\t` : path;
};
