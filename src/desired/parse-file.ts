import { parsedOrWrong, readYaml } from './read-yaml.ts';
import { templateSchema } from './schema.ts';
import type { MappingNode, YamlNode, YamlProblem } from './yaml.ts';

/** The content of a file: its documents, as they stand there. */
export interface ParsedFile {
  /** With line feeds as line ends and without a byte order mark. */
  readonly text: string;
  readonly placeOf: (at: number) => { readonly line: number; readonly column: number };
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
  const { text: given, problem } = textIn(bytes);
  const { text, roots, problems } = problem ? { text: given, roots: null, problems: [] } : readYaml(given);
  // An extra `---` makes an empty document.
  const found = (roots ?? namesIn(text)).filter((root) => root.kind !== 'scalar' || root.text !== null);
  const mistake = problem ?? (roots && mistakeIn(found, isFragment, problems.length > 0));
  const documents = found.slice(0, maxDocuments);
  const mayQuote = ownKeys.test(text);
  return {
    text,
    placeOf: placesIn(text),
    documents: documents.length > 0 ? documents : [nothing],
    isBroken: roots === null || mistake !== null,
    problems: [
      ...problems.slice(0, maxProblems).map((one) => (mayQuote ? one : { ...one, message: noTemplate })),
      ...(mistake ? [mistake] : []),
    ],
  };
};

/** More than are shown. */
const maxProblems = 1_000;

/**
 * Settings may lead to a file of another kind, as a token or a key: unless a key of a template begins a line, no message
 * quotes it.
 */
const ownKeys = new RegExp(`^[{ "']*(?:${Object.keys(templateSchema.shape).join('|')})["']?[ \\t]*:`, 'm');

const noTemplate =
  'this is not YAML as templates have it, and no key of a template begins a line: is it another kind of file?';

export const nothing: MappingNode = { kind: 'mapping', entries: [], at: 0 };

/** YAML allows UTF-16 and UTF-32 too; this program reads UTF-8 only. Nothing in the problem is quoted. */
const textIn = (bytes: Uint8Array): { readonly text: string; readonly problem: YamlProblem | null } => {
  if (bytes.length > maxFileSize) return { text: '', problem: tooLarge(0) };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    const lossy = new TextDecoder().decode(bytes);
    const message = 'this is not UTF-8: save the file as UTF-8';
    return { text: lossy, problem: { check: 'yaml-syntax', at: lossy.indexOf('\ufffd'), message } };
  }
  const at = text.search(unprintable);
  if (at < 0) return { text, problem: excessIn(text) };
  const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
  const name = code === '000D' ? 'a carriage return without a line feed' : `the control character U+${code}`;
  return { text, problem: { check: 'yaml-syntax', at, message: `${name} is not allowed in a YAML file` } };
};

/** Characters that YAML 1.2 forbids, and lone carriage returns, which would be read as text. */
// oxlint-disable-next-line no-control-regex
const unprintable = /[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** More than 100,000 records, which take a second. */
const maxFileMiB = 16;
export const maxFileSize = maxFileMiB * 1024 * 1024;

/** Separators between values: 100,000 records have a million. Each takes some 200 octets of memory. */
const maxMarks = 2_000_000;

/** The first separator above the limit. */
const excessIn = (source: string): YamlProblem | null => {
  if (source.length <= maxMarks) return null;
  const mark = /[,[{\n]|[-:] /g;
  for (let marks = 0; marks <= maxMarks; marks += 1) if (!mark.test(source)) return null;
  return tooLarge(mark.lastIndex - 1);
};

/** A template cannot be split into two template files. */
const tooLarge = (at: number): YamlProblem => ({
  check: 'unreadable',
  at,
  message: `the file is too large, with more than ${maxFileMiB} MiB or ${maxMarks} values: move records to fragments, files named \`_….yaml\` that it names under \`include\``,
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
  return 'roots' in parsed ? parsed.roots.filter(({ kind }) => kind === 'mapping') : [];
};

/** What is wrong with the documents as a whole. */
const mistakeIn = (
  { length, 0: first, 1: second }: readonly YamlNode[],
  isFragment: boolean,
  isWrong: boolean,
): YamlProblem | null => {
  if (length > maxDocuments) return { check: 'unreadable', at: 0, message: tooMany };
  if (isFragment) return second ? { check: 'wrong-type', at: second.at, message: severalParts } : null;
  return first || isWrong ? null : { check: 'wrong-type', at: 0, message: noDocument };
};

const maxDocuments = 50_000;

const tooMany = `the file has more than ${maxDocuments} templates: put some into other files`;

const severalParts = 'a fragment is one document';

const noDocument = 'the file describes no template: write `template: NAME` and its `records`, or remove it';

/** The fragments that it names, wherever it may name them. */
export const includesIn = ({ documents, isBroken }: ParsedFile): string[] =>
  documents
    .flatMap((root) => (root.kind === 'mapping' && !isBroken ? root.entries : []))
    .flatMap(({ key, value }) => (key === 'include' && value.kind === 'list' ? value.items : []))
    .flatMap((item) => (item.kind === 'scalar' ? (item.text ?? []) : []));

/** The line and column of an offset. */
const placesIn = (text: string): ParsedFile['placeOf'] => {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => {
    let [line, end] = [0, starts.length];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if (starts[middle]! <= at) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: at - starts[line]! + 1 };
  };
};
