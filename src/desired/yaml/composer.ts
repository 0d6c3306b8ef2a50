import { Composer, Lexer, LineCounter, Parser, type Document, type YAMLError } from 'yaml';
import { diagnosticAt, quote, type Diagnostic, type Position } from '../diagnostic.ts';
import { treeOf } from './composed-tree.ts';
import type { ParsedYaml, YamlDocument } from './tree.ts';

/** A template needs six levels. Beyond some thousand the library's recursion would crash the process. */
const maxDepth = 64;

/** Reads the file as far as possible, and reports every error with its position. */
export const composeYaml = (source: string): ParsedYaml => {
  const stream: Stream = { source, lines: new LineCounter(), unclosed: new Map(), diagnostics: [] };
  const read = compose(stream).map((document) => documentOf(document, stream));
  return {
    documents: read.map(({ document }) => document),
    diagnostics: [...stream.diagnostics, ...read.flatMap(({ diagnostics }) => diagnostics)],
  };
};

interface Stream {
  readonly source: string;
  readonly lines: LineCounter;
  /** The start of each unclosed quoted text, by the offset where the library gives up. */
  readonly unclosed: Map<number, number>;
  /** About the stream as a whole. */
  readonly diagnostics: Diagnostic[];
}

const compose = (stream: Stream): Document.Parsed[] => {
  const { source, lines, unclosed, diagnostics } = stream;
  // Failsafe: every scalar stays text. Numbers and booleans are read where one is expected.
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, prettyErrors: false });
  const parser = new Parser(lines.addNewLine);
  const documents: Document.Parsed[] = [];
  const take = (tokens: ReturnType<Parser['next']>): void => {
    for (const token of tokens) {
      if (token.type === 'directive') diagnostics.push(...refuseVersion(token, stream));
      for (const document of composer.next(token)) documents.push(document);
    }
  };
  const giveUp = (message: string): Document.Parsed[] => {
    diagnostics.push(diagnosticAt('yaml-syntax', positionAt(lines, parser.offset), message));
    return [];
  };
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(source)) {
    if (isUnclosed(lexeme)) unclosed.set(parser.offset + lexeme.length, parser.offset);
    take(parser.next(lexeme));
    if (parser.stack.length > maxDepth) {
      return giveUp(`lists and mappings are nested more than ${maxDepth} deep`);
    }
  }
  take(parser.end());
  documents.push(...composer.end());
  // Errors of a stream without documents belong to no document.
  for (const error of composer.streamInfo().errors) diagnostics.push(syntaxError(error, stream));
  return documents;
};

const isUnclosed = (lexeme: string): boolean =>
  (lexeme.startsWith('"') || lexeme.startsWith("'")) && (lexeme.length === 1 || !lexeme.endsWith(lexeme[0]!));

const refuseVersion = (directive: { source: string; offset: number }, { lines }: Stream): Diagnostic[] => {
  const version = /^%YAML\s+(\S+)/.exec(directive.source)?.[1];
  if (version === undefined || version === '1.2') return [];
  const message = `these files are YAML 1.2, where \`no\` and \`010\` are text and number, not ${quote(version)}: remove the line`;
  return [diagnosticAt('yaml-version', positionAt(lines, directive.offset), message)];
};

const documentOf = (
  document: Document.Parsed,
  stream: Stream,
): { document: YamlDocument; diagnostics: readonly Diagnostic[] } => {
  const { contents, errors, range } = document;
  const tree = treeOf(contents, stream.lines);
  const isSyntaxWrong = errors.some((error) => !harmless.has(error.code));
  const syntax = errors.map((error) => syntaxError(error, stream));
  const start = positionAt(stream.lines, contents?.range[0] ?? range[0]);
  return {
    document: { root: tree.root, isBroken: isSyntaxWrong || tree.isTooMuch, ...start },
    diagnostics: isSyntaxWrong ? onePerLine(syntax) : [...syntax, ...tree.diagnostics],
  };
};

/** After these errors the library can go on: the rest of the document is valid. */
const harmless: ReadonlySet<string> = new Set([
  'BAD_ALIAS',
  'BAD_SCALAR_START',
  'BAD_DQ_ESCAPE',
  'TAG_RESOLVE_FAILED',
]);

/** One mistake often causes several errors: only the first in a line is kept. */
const onePerLine = (diagnostics: readonly Diagnostic[]): Diagnostic[] => {
  const lines = new Set<number>();
  return diagnostics.filter(({ line }) => !lines.has(line) && lines.add(line));
};

const syntaxError = (error: YAMLError, { source, lines, unclosed }: Stream): Diagnostic => {
  const [offset] = error.pos;
  const opening = unclosed.get(offset);
  if (error.code === 'MISSING_CHAR' && opening !== undefined) {
    return diagnosticAt(
      'yaml-syntax',
      positionAt(lines, opening),
      'the quoted text that begins here has no end',
    );
  }
  const check = error.code === 'TAG_RESOLVE_FAILED' ? 'yaml-tag' : 'yaml-syntax';
  const before = source.slice(Math.max(0, offset - excerptLength), offset);
  const rest = source.slice(offset, offset + excerptLength);
  return diagnosticAt(check, positionAt(lines, offset), explain(error, rest, before));
};

/** Characters of the invalid text that are considered for a message. */
const excerptLength = 80;

const explain = ({ code, message }: YAMLError, rest: string, before: string): string => {
  const [text = ''] = rest.split(/[\n,\]}]/, 1);
  const quoted = `quote it: "${text.trim()}${text.length === excerptLength ? '...' : ''}"`;
  const said = message.charAt(0).toLowerCase() + message.slice(1);
  if (code === 'BAD_SCALAR_START') {
    return `a value that begins with \`${rest[0]}\` is not plain text in YAML; ${quoted}`;
  }
  if (message.startsWith('Implicit keys need to be on a single line'))
    return 'a key ends at a colon and a blank, as in `key: value`: there is none';
  const bracket = /^Flow .* end with a (.)$/.exec(message)?.[1];
  if (bracket !== undefined && / #[^\n]*\n[^\n]*$/.test(before))
    return `a \`${bracket}\` is missing before this: a blank and \`#\` begin a comment; quote a text that has them`;
  if (bracket !== undefined) return `a \`${bracket}\` is missing before this, or the lines are not indented`;
  if (/^All (?:mapping|sequence) items must start|^Sequence item without/.test(message))
    return 'this line does not begin where those before it begin: an entry begins with `-`, and keys of one entry begin in the same column';
  const key = /^[^,:{}\n]*\s(\w+): /.exec(rest)?.[1];
  if (message.startsWith('Block collections') && key !== undefined)
    return `a comma is missing before ${quote(key)}`;
  if (code === 'BAD_ALIAS' && rest.startsWith('*')) return `a lone \`*\` is not text in YAML; ${quoted}`;
  if (message.startsWith('Nested mappings')) {
    const line = before.slice(before.lastIndexOf('\n') + 1);
    if (/^\s*-[^\s-]/.test(line)) return 'a blank is missing after the `-`';
    if (/^[^\n]*\n\s+[\w"']+\s*:\s/.test(rest) && !/:\s/.test(text))
      return `the line after this is indented more than ${quote(/[\w-]*\w/.exec(line)?.[0] ?? '')}: keys of one entry begin in the same column`;
    return `${said}; if ${quote(text)} is one text, quote it: unquoted text ends at a colon and a blank`;
  }
  if (code === 'UNEXPECTED_TOKEN' && rest.startsWith(','))
    return 'entries that begin with `-` have no comma between them: remove it';
  if (code === 'UNEXPECTED_TOKEN' && /^["']/.test(rest) && /["'][ \t]+$/.test(before))
    return 'a quoted text ends at its closing quote: write one text within one pair of quotes';
  if (code === 'UNEXPECTED_TOKEN' && rest.startsWith('{')) {
    return `${said}; a text with \`{\` inside braces must be quoted: "\${name}"`;
  }
  return said;
};

const positionAt = (lines: LineCounter, offset: number): Position => {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
};
