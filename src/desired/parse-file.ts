import { YAMLException } from 'js-yaml';
import { LineCounter } from 'yaml';
import type { CheckId } from './check-id.ts';
import { explainSyntax } from './explain-syntax.ts';
import { templateSchema } from './schema.ts';
import { parseYaml, type MappingNode, type YamlNode, type YamlProblem } from './yaml.ts';

/** The content of a file: its documents, as they stand there. */
export interface ParsedFile {
  /** With line feeds as line ends and without a byte order mark. */
  readonly text: string;
  /** The line and column of an offset. */
  readonly placeOf: ReturnType<typeof placesIn>;
  /** At least one. Of a file that is no YAML, only what tells which templates it describes. */
  readonly documents: readonly YamlNode[];
  readonly isBroken: boolean;
  /** About the file as a whole: its encoding and its YAML. */
  readonly problems: readonly YamlProblem[];
}

/** A template file or a fragment, with what it includes. */
export interface SourceFile extends FileContent {
  /** For people: the given path, and the relative path from there. */
  readonly path: string;
  readonly isFragment: boolean;
  /** By the text of the include: the fragment, or why there is none. */
  readonly includes: ReadonlyMap<string, SourceFile | Missing>;
}

export interface FileContent {
  /** Of the bytes. */
  readonly hash: string;
  /** Null for a file without includes, which is parsed when its templates are needed. */
  readonly parsed: ParsedFile | null;
  readonly bytes: Uint8Array;
}

/** What could not be read. */
export interface Missing {
  readonly path: string;
  readonly reason: string;
  /** A link that leads out of the directories given as templates. */
  readonly isOutside?: true;
}

export const isMissing = (file: SourceFile | Missing): file is Missing => 'reason' in file;

export const parseFile = (bytes: Uint8Array, isFragment: boolean): ParsedFile => {
  const { text, documents, isBroken, problems } = readBytes(bytes, isFragment);
  const mayQuote = ownKeys.test(text);
  return {
    text,
    placeOf: placesIn(text),
    documents: documents.length > 0 ? documents : [nothing],
    isBroken,
    problems: problems.slice(0, maxProblems).map((problem) => {
      const isQuoting = /[`"']/.test(problem.message) && !problem.message.startsWith('the file ');
      return isQuoting && !mayQuote ? { ...problem, message: noTemplate } : problem;
    }),
  };
};

/** More than are shown. */
const maxProblems = 1_001;

/**
 * Settings may lead to a file of another kind, as a token or a key: unless a key of a template begins a line, no message
 * quotes it.
 */
const ownKeys = new RegExp(`^[{ "']*(?:${Object.keys(templateSchema.shape).join('|')})["']?[ \\t]*:`, 'm');

const noTemplate = 'this is not YAML, and no key of a template begins a line: is it another kind of file?';

export const nothing: MappingNode = { kind: 'mapping', entries: [], at: 0 };

type Read = Pick<ParsedFile, 'text' | 'documents' | 'isBroken' | 'problems'>;

/** YAML allows UTF-16 and UTF-32 too; this program reads UTF-8 only. */
const readBytes = (bytes: Uint8Array, isFragment: boolean): Read => {
  if (bytes.length > maxFileSize)
    return broken('', 0, `the file is larger than ${maxFileMiB} MiB: ${howToSplit}`, 'unreadable');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    const lossy = new TextDecoder().decode(bytes);
    return broken(lossy, lossy.indexOf('\ufffd'), 'this is not UTF-8: save the file as UTF-8');
  }
  const forbidden = text.search(unprintable);
  if (forbidden >= 0) {
    const code = text.charCodeAt(forbidden).toString(16).toUpperCase().padStart(4, '0');
    const name =
      code === '000D' ? 'a carriage return without a line feed' : `the control character U+${code}`;
    return broken(text, forbidden, `${name} is not allowed in a YAML file`);
  }
  const excess = excessIn(text);
  return excess === null
    ? readYaml(text, isFragment)
    : broken(text, excess, `the file is too large: ${howToSplit}`);
};

const broken = (text: string, at: number, message: string, check: CheckId = 'yaml-syntax'): Read => ({
  text,
  documents: namesIn(text),
  isBroken: true,
  problems: [{ check, at, message }],
});

/** What a text that is no YAML says about which templates it describes: the lines that tell, at their places. */
const namesIn = (text: string): readonly YamlNode[] => {
  const lines: string[] = [];
  let end = 0;
  for (const { 0: line, index } of text.matchAll(/^(?:---|(?:template|id):[ \t]).*$/gm)) {
    lines.push(' '.repeat(Math.max(0, index - end - 1)), index > end ? '\n' : '', line);
    end = index + line.length;
    if (lines.length > 6 * maxDocuments) break;
  }
  const parsed = parsedOrWrong(lines.join(''));
  const roots = parsed instanceof YAMLException ? [] : parsed.roots;
  return roots.filter(({ kind }) => kind === 'mapping').slice(0, maxDocuments);
};

/** The fragments that it names, wherever it may name them. */
export const includesIn = ({ documents, isBroken }: ParsedFile): string[] =>
  documents
    .flatMap((root) => (root.kind === 'mapping' && !isBroken ? root.entries : []))
    .flatMap(({ key, value }) => (key === 'include' && value.kind === 'list' ? value.items : []))
    .flatMap((item) => (item.kind === 'scalar' ? (item.text ?? []) : []));

/** More than 100,000 records, which take a second. */
const maxFileMiB = 16;
export const maxFileSize = maxFileMiB * 1024 * 1024;

/** A template cannot be split into two template files. */
const howToSplit = 'move records to fragments, files named `_….yaml` that it names under `include`';

/** Characters that YAML 1.2 forbids, and lone carriage returns, which would be read as text. */
// oxlint-disable-next-line no-control-regex
const unprintable = /[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** Separators between values: 100,000 records have a million. Each takes some 200 octets of memory. */
const maxMarks = 2_000_000;

/** The offset of the first separator above the limit. */
const excessIn = (source: string): number | null => {
  if (source.length <= maxMarks) return null;
  const mark = /[,[{\n]|[-:] /g;
  for (let marks = 0; marks <= maxMarks; marks += 1) if (!mark.test(source)) return null;
  return mark.lastIndex - 1;
};

const readYaml = (given: string, isFragment: boolean): Read => {
  const parsed = parsedOrWrong(given);
  const isWrong = parsed instanceof YAMLException;
  const mistakes = isWrong ? explainSyntax(given, parsed) : [];
  const readable = isWrong ? parsedOrWrong(withLetters(given, mistakes)) : parsed;
  if (readable instanceof YAMLException) return { ...broken(given, 0, ''), problems: mistakes };
  const { text, roots } = readable;
  const problems = [...mistakes, ...readable.problems];
  // An extra `---` makes an empty document.
  const documents = roots.filter((root) => root.kind !== 'scalar' || root.text !== null);
  const [first, second] = documents;
  if (documents.length > maxDocuments) return broken(text, 0, tooMany, 'unreadable');
  if (!isFragment && first === undefined && problems.length === 0)
    return broken(text, 0, noDocument, 'wrong-type');
  if (isFragment && second !== undefined)
    return broken(text, second.at, 'a fragment is one document', 'wrong-type');
  return { text, documents, isBroken: false, problems };
};

/** A letter in place of each sign that begins no text, or is no escape: then the rest can be read. */
const withLetters = (given: string, problems: readonly YamlProblem[]): string => {
  let text = given;
  for (const { at } of problems)
    if (/[@`*%\\]/.test(text.charAt(at))) text = `${text.slice(0, at)}x${text.slice(at + 1)}`;
  return text;
};

const maxDocuments = 50_000;

const tooMany = `the file has more than ${maxDocuments} templates: put some into other files`;

const noDocument = 'the file describes no template: write `template: NAME` and its `records`, or remove it';

/** People close a bracket at the beginning of a line, which YAML does not allow: then a blank goes before it. */
const parsedOrWrong = (
  text: string,
): (ReturnType<typeof parseYaml> & { readonly text: string }) | YAMLException => {
  try {
    return { text, ...parseYaml(text) };
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const indented = text.replaceAll(/^[\]}]/gm, ' $&');
    const again = indented === text ? error : parsedOrWrong(indented);
    return again instanceof YAMLException ? error : again;
  }
};

/** The line and column of an offset. */
const placesIn = (text: string): ((at: number) => { readonly line: number; readonly column: number }) => {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return (at) => {
    const { line, col: column } = lines.linePos(at);
    return { line, column };
  };
};
