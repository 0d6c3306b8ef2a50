import type { YAMLException } from 'js-yaml';
import { Composer, Lexer, Parser, visit, type CST, type Document, type YAMLError } from 'yaml';
import { endsInColon, quote } from './problem.ts';
import { maxDepth, type YamlProblem } from './yaml.ts';

/** The mistakes in a text that is no YAML, the first of each line: one mistake often causes several errors. */
export const explainSyntax = (source: string, { reason, mark }: YAMLException): YamlProblem[] => {
  const problem = (message: string, at = mark?.position ?? 0): YamlProblem[] => [
    { check: 'yaml-syntax', at, message },
  ];
  const conflict = source.search(/^(?:<{7}|={7}|>{7})(?: .*)?$/m);
  if (conflict >= 0) return problem(unresolved, conflict);
  if (reason.includes('maxDepth')) return problem(tooDeep);
  if (source.length > maxExplained) return problem(reason);
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source)) {
    tokens.push(...parser.next(lexeme));
    // The library takes time and stack that grow faster than the depth.
    if (parser.stack.length > maxDepth) return problem(tooDeep, parser.offset);
  }
  tokens.push(...parser.end());
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, prettyErrors: false });
  const problems = [...composer.compose(tokens)].flatMap((document) =>
    document.errors.map((error) => problemOf(error, document, source)),
  );
  const byLine = new Map(problems.toReversed().map((one) => [source.lastIndexOf('\n', one.at - 1), one]));
  return problems.length === 0 ? problem(reason) : [...byLine.values()].toReversed();
};

const unresolved =
  'two versions of this file were merged, and a conflict is left: choose one, and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`';

const tooDeep = `lists and mappings are nested more than ${maxDepth} deep`;

/** Characters that the `yaml` library reads in a second, in any text. */
const maxExplained = 512 * 1024;

const problemOf = (error: YAMLError, document: Document.Parsed, source: string): YamlProblem => {
  const [at] = error.pos;
  const opening = error.code === 'MISSING_CHAR' ? openingOf(document, at) : null;
  if (opening !== null)
    return { check: 'yaml-syntax', at: opening, message: 'the quoted text that begins here has no end' };
  const check = error.code === 'TAG_RESOLVE_FAILED' ? 'yaml-tag' : 'yaml-syntax';
  const before = source.slice(Math.max(0, at - excerptLength), at);
  return { check, at, message: messageOf(error, source.slice(at, at + excerptLength), before) };
};

/** Where the quoted text begins at whose end a quotation mark is missing. */
const openingOf = (document: Document.Parsed, end: number): number | null => {
  let opening: number | null = null;
  visit(document, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') === true && range?.[1] === end) opening = range[0];
    },
  });
  return opening;
};

/** Characters of the invalid text that are considered for a message. */
const excerptLength = 80;

/** What to do, where the library's own words do not say it. */
const messageOf = ({ code, message }: YAMLError, rest: string, before: string): string => {
  const [text = ''] = rest.split(/[\n,\]}]/, 1);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const said = message.charAt(0).toLowerCase() + message.slice(1);
  const quoted = `quote it: "${text.trim()}${text.length === excerptLength ? '...' : ''}"`;
  const [address] = /^[\da-f]*:[\da-f:]*:(?=\s*(?:$|[\n,\]}]))/i.exec(rest) ?? [];
  if (address !== undefined) return endsInColon(address);
  if (code === 'BAD_SCALAR_START')
    return `a value that begins with \`${rest[0]}\` is not plain text in YAML; ${quoted}`;
  if (code === 'BAD_ALIAS' && rest.startsWith('*')) return `a lone \`*\` is not text in YAML; ${quoted}`;
  if (message.startsWith('Implicit keys need to be on a single line'))
    return 'a key ends at a colon and a blank, as in `key: value`: there is none';
  if (/^All (?:mapping|sequence) items must start|^Sequence item without/.test(message))
    return 'this line does not begin where those before it begin: an entry begins with `-`, and keys of one entry begin in the same column';
  const bracket = /^Flow .* end with a (.)$/.exec(message)?.[1];
  if (bracket !== undefined)
    return `a \`${bracket}\` is missing before this${/ #[^\n]*\n[^\n]*$/.test(before) ? ': a blank and `#` begin a comment; quote a text that has them' : ', or the lines are not indented'}`;
  const key = /^[^,:{}\n]*\s(\w+): /.exec(rest)?.[1];
  if (message.startsWith('Block collections') && key !== undefined)
    return `a comma is missing before ${quote(key)}`;
  if (message.startsWith('Nested mappings')) {
    if (/^\s*-[^\s-]/.test(line)) return 'a blank is missing after the `-`';
    if (/^[^\n]*\n\s+[\w"']+\s*:\s/.test(rest) && !/:\s/.test(text))
      return `the line after this is indented more than ${quote(/[\w-]*\w/.exec(line)?.[0] ?? '')}: keys of one entry begin in the same column`;
    return `${said}; if ${quote(text)} is one text, quote it: unquoted text ends at a colon and a blank`;
  }
  if (code === 'TAB_AS_INDENT') return `${said}: write blanks instead`;
  if (code !== 'UNEXPECTED_TOKEN') return said;
  if (rest.startsWith(',')) return 'entries that begin with `-` have no comma between them: remove it';
  if (/["'][ \t]*$/.test(before))
    return 'a quoted text ends at its closing quote: write one text within one pair of quotes, and twice a quote that is part of it';
  return rest.startsWith('{') ? `${said}; a text with \`{\` inside braces must be quoted: "\${name}"` : said;
};
