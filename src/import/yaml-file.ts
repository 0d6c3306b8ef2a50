import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type ParsedNode, type YAMLMap } from 'yaml';
import type { DesiredRecord, Place } from '../model/record.ts';
import type { DesiredTemplate } from '../model/template.ts';
import { quotedText, scalarText } from './entry.ts';

export interface FileEntry {
  readonly index: number;
  readonly node: ParsedNode;
  /** What it describes, in its order. */
  readonly records: readonly DesiredRecord[];
}

/** Why an entry cannot be changed. */
export class EditRefused extends Error {}

/** A template or a fragment in its file, of which parts change. Each change may throw `EditRefused`. */
export class YamlFile {
  readonly path: string;
  /** As it is on disk, with its line ends. */
  readonly text: string;
  readonly entries: readonly FileEntry[];
  readonly #list: ParsedNode | null | undefined;
  /** What takes the place of parts of the text. */
  readonly #splices: { readonly start: number; readonly end: number; readonly text: string }[] = [];

  constructor(path: string, text: string, { source, records }: DesiredTemplate) {
    const documents = parseAllDocuments(text, { schema: 'failsafe', keepSourceTokens: true });
    const roots = [...documents].flatMap(({ contents }) => (isMap(contents) ? contents : []));
    const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
    const offsetOf = ({ line, column }: Place): number => (lineStarts[line - 1] ?? text.length) + column - 1;
    const start = path === source.file ? offsetOf(source) : 0;
    const root = roots.findLast(({ range }) => range[0] <= start) ?? roots[0];
    const own = records.filter((record) => record.source.file === path);
    let next = 0;
    this.path = path;
    this.text = text;
    this.#list = root && valueOf(root, 'records');
    this.entries = (isSeq(this.#list) ? this.#list.items : []).map((node, index) => {
      const first = next;
      while (next < own.length && offsetOf(own[next]!.source) < node.range[2]) next += 1;
      return { index, node, records: own.slice(first, next) };
    });
  }

  /** The text with all changes. */
  edited(): string {
    let made = '';
    let at = 0;
    for (const { start, end, text } of this.#splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      made += this.text.slice(at, start) + text;
      at = Math.max(at, end);
    }
    return made + this.text.slice(at);
  }

  /** A field of an entry, which may not have it yet. Null is refused, since it would take it away. */
  setField(map: YAMLMap.Parsed, key: string, value: string | number | null): void {
    if (value === null) throw new EditRefused(`the service states no \`${key}\``);
    const known = valueOf(map, key);
    if (known !== undefined) return this.replaceScalar(known, value);
    const field = `${key}: ${scalarText(value)}`;
    const last = map.items.at(-1)!;
    const end = Math.max(last.key.range[1], last.value?.range[1] ?? 0);
    if (map.flow === true) this.#splices.push({ start: end, end, text: `, ${field}` });
    else this.#insertLine(end, map.range[0], field);
  }

  /** Another value, in the quotation marks that are there. */
  replaceScalar(node: ParsedNode | null, value: string | number): void {
    if (isAlias(node)) throw new EditRefused(`its value is that of \`&${node.source}\``);
    const [start = 0, end = start] = node?.range ?? [];
    if (!isScalar(node) || start === end) throw new EditRefused('its value is no text');
    const [variable] = /(?<!\$)\$\{[^{}]*\}/.exec(String(node.value)) ?? [];
    if (variable !== undefined) throw new EditRefused(`its value comes from the variable \`${variable}\``);
    const mark = this.text[start]!;
    const written = /["']/.test(mark) ? quotedText(String(value), mark) : scalarText(value);
    // A text of several lines ends with the last of them.
    const [lineEnd = ''] = /\r?\n$/.exec(this.text.slice(start, end)) ?? [];
    this.#splices.push({ start, end, text: written + lineEnd });
  }

  /** Whole lines, with the comments directly above. */
  removeEntry(index: number): void {
    const [start, end] = this.#rangeOf(index);
    const above = this.text.slice(index === 0 ? 0 : this.#lineAfter(this.#rangeOf(index - 1)[1]), start);
    const [own = ''] = /(?:^[ \t]*#.*\n)*[ \t]*(?![^])/m.exec(above) ?? [];
    this.#splices.push({ start: start - own.length, end: this.#lineAfter(end), text: '' });
  }

  /** A new entry in a line after another one. */
  addEntry(after: number, entry: string): void {
    const [start, end] = this.#rangeOf(after);
    this.#insertLine(end, start, `- ${entry}`);
  }

  /** From the dash to the end of the value. */
  #rangeOf(index: number): readonly [number, number] {
    const list = this.#list;
    if (!isSeq(list) || list.flow === true || list.items.length === 0)
      throw new EditRefused('the file has no list `records` of entries that begin with `-`');
    const { range } = list.items[index]!;
    const { srcToken: token } = list;
    const marks = token?.type === 'block-seq' ? token.items[index]?.start : undefined;
    return [marks?.find(({ type }) => type === 'seq-item-ind')?.offset ?? range[0], range[1]];
  }

  /** After the line in which something ends, indented as what begins at `like`. */
  #insertLine(end: number, like: number, content: string): void {
    const line = ' '.repeat(like - this.text.lastIndexOf('\n', like - 1) - 1) + content;
    const at = this.#lineAfter(end);
    const eol = this.text.includes('\r\n') ? '\r\n' : '\n';
    const text = this.text[at - 1] === '\n' ? line + eol : eol + line;
    this.#splices.push({ start: at, end: at, text });
  }

  #lineAfter(offset: number): number {
    if (this.text[offset - 1] === '\n') return offset;
    const end = this.text.indexOf('\n', offset);
    return end < 0 ? this.text.length : end + 1;
  }
}

export const valueOf = (map: YAMLMap.Parsed, key: string): ParsedNode | null | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key)?.value;
