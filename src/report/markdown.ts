import { escapeCommands } from '../lib/escape-control.ts';
import type { Report } from '../result.ts';
import { shorten, wrap } from './columns.ts';
import { bodyLines } from './text.ts';
import { stateText, viewOf, type Section } from './view.ts';

/** The limit of a GitHub comment. GitLab's is higher. */
const limit = 65_536;

/** The report as a comment on a pull request: one summary line, and a fold for each template that differs. */
export const renderMarkdown = (report: Report): string => {
  const { summary, causes, sections, problems, aside } = viewOf(report);
  const head = [`### dns-template-sync: ${summary}`, causes, aside && code(aside, 600)].filter(Boolean);
  const rows = sections.reduce((sum, one) => sum + Math.max(1, one.rows?.length ?? 0), 0);
  const list = problems.flatMap(({ words }) =>
    wrap(shorten(words, 600), 98).map((line, at) => `${at === 0 ? '- ' : '  '}${line}`),
  );
  const folds = [
    ...(problems.length === 0 ? [] : [fold('Problems', problems.length <= few, list)]),
    ...sections.map((one) => {
      // As in a terminal.
      const lines = bodyLines(one, 0, 100).map(([text]) => text);
      return fold(titleOf(one), rows <= few, lines);
    }),
  ];
  const beginning = `${head.join('\n\n')}\n`;
  return beginning + fitted(folds, limit - beginning.length);
};

/** So few that they are shown open. */
const few = 10;

const titleOf = (section: Section): string => {
  const { title, file } = section;
  return `${code(title)} <b>${stateText(section)}</b>${file === undefined ? '' : ` ${code(file)}`}`;
};

/**
 * A collapsible part of a comment. GitHub links user names, issues and commits in all text but code. The fence is longer than
 * any that the text may have; the sign of each difference decides its colour.
 */
const fold = (title: string, isOpen: boolean, lines: readonly string[]) => {
  const text = lines.map(escapeCommands).join('\n');
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  const block = text === '' ? '' : `${fence}diff\n${text}\n${fence}\n`;
  const open = isOpen ? ' open' : '';
  return { title, whole: `\n<details${open}><summary>${title}</summary>\n\n${block}\n</details>\n` };
};

/**
 * Whole folds, as many as there is room for, and above them the titles of those that are left out: one that is too large does
 * not hide those after it.
 */
const fitted = (folds: readonly ReturnType<typeof fold>[], room: number): string => {
  const all = folds.map(({ whole }) => whole).join('');
  if (all.length <= room) return all;
  const shown = new Set(fitting(folds, room - roomForTitles, ({ whole }) => whole));
  const left = folds.filter((one) => !shown.has(one)).map(({ title }) => `- ${title}\n`);
  const named = fitting(left, roomForTitles - cutNote.length - 40, (line) => line);
  const more = left.length > named.length ? `- and ${left.length - named.length} more\n` : '';
  return [cutNote, ...named, more, ...[...shown].map(({ whole }) => whole)].join('');
};

const roomForTitles = 8_192;

const fitting = <Item>(items: readonly Item[], room: number, textOf: (item: Item) => string): Item[] => {
  let left = room;
  return items.filter((item) => {
    const { length } = textOf(item);
    if (length > left) return false;
    left -= length;
    return true;
  });
};

const cutNote =
  '\n**Cut short:** these do not fit into a comment. The json and html formats of the report have everything.\n\n';

/**
 * Foreign text outside of a fence: code, with special characters as entities. Without `dir`, right-to-left letters would
 * change the order of the text beside them.
 */
const code = (text: string, width = 72): string => {
  const plain = shorten(text, width).replaceAll(special, (one) => `&#${one.codePointAt(0)};`);
  return `<code dir="ltr">${plain}</code>`;
};

/**
 * Everything but letters, digits and characters without meaning in Markdown or HTML; and the dot that makes
 * `www.` a link.
 */
const special = /[^\p{L}\p{M}\p{N} .,;=+-]|(?<=www)\./giu;
