/** A word of a zone file as it is written, with its quotation marks and escapes. */
export interface ZoneWord {
  readonly text: string;
  /** Whether a comment begins directly after it, as at the first `;` of a text without quotation marks. */
  readonly isCut: boolean;
}

/** A record or a directive: one line, or several in parentheses (RFC 1035 §5.1). */
export interface ZoneEntry {
  /** From 1. */
  readonly line: number;
  /** Whether it begins with a blank, and so belongs to the name before it. */
  readonly isIndented: boolean;
  readonly words: readonly ZoneWord[];
}

/** What is wrong with a line of a zone file, or with the whole of it, for people. */
export class ZoneMistake extends Error {
  line: number | null;

  constructor(message: string, line: number | null = null) {
    super(message);
    this.line = line;
  }
}

/** The entries of a master file. Throws a `ZoneMistake`. */
export const zoneEntries = (text: string): ZoneEntry[] => {
  const entries: ZoneEntry[] = [];
  let entry = { line: 1, isIndented: false, words: [] as ZoneWord[] };
  let line = 1;
  /** The lines of parentheses that are open. */
  const opened: number[] = [];
  for (const { 0: part, index } of text.matchAll(parts)) {
    if (part === '(') opened.push(line);
    else if (part === ')' && opened.length > 0) opened.pop();
    else if (unfit.has(part)) throw new ZoneMistake(unfit.get(part)!, line);
    else if (/^[\r\n]/.test(part)) {
      line += 1;
      if (opened.length > 0) continue;
      if (entry.words.length > 0) entries.push(entry);
      entry = { line, isIndented: false, words: [] };
    } else if (/^[ \t]/.test(part)) entry.isIndented ||= entry.words.length === 0;
    else if (!part.startsWith(';'))
      entry.words.push({ text: part, isCut: text[index + part.length] === ';' });
  }
  if (opened.length > 0) throw new ZoneMistake('nothing closes its parenthesis', opened[0]);
  if (entry.words.length > 0) entries.push(entry);
  return entries;
};

/** Line ends, blanks, parentheses, comments, texts in quotation marks, and words, which may end in one: `alpn="h2"`. */
const parts =
  /\r\n?|\n|[ \t]+|[()]|;[^\r\n]*|(?:[^ \t\r\n"();\\]|\\[^\r\n])*"(?:[^"\\\r\n]|\\[^\r\n])*"|(?:[^ \t\r\n"();\\]|\\[^\r\n])+|[^]/g;

/** What is no part of anything. */
const unfit: ReadonlyMap<string, string> = new Map([
  [')', 'it closes a parenthesis that nothing opens'],
  ['"', 'it has a quotation mark that nothing closes'],
  ['\\', 'it ends with a backslash, which escapes nothing'],
]);
