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
  return { check, at, message: messageOf(error, source.slice(at, at + 80)) };
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

/** In the library's own words, and what to do. `rest`: what stands there. */
const messageOf = ({ code, message }: YAMLError, rest: string): string => {
  const [address] = /^[\da-f]*:[\da-f:]*:(?=\s*(?:$|[\n,\]}]))/i.exec(rest) ?? [];
  if (address !== undefined) return endsInColon(address);
  const [text = ''] = rest.split(/[\n,\]}]/, 1);
  if (code === 'BAD_SCALAR_START' || (code === 'BAD_ALIAS' && rest.startsWith('*')))
    return `a value that begins with \`${rest[0]}\` is not plain text in YAML; quote it: ${quote(`"${text.trim()}"`)}`;
  const said = message.charAt(0).toLowerCase() + message.slice(1);
  const [, advice] = advices.find(([pattern]) => pattern.test(message)) ?? [];
  return advice === undefined ? said : `${said}: ${advice}`;
};

const advices: readonly (readonly [message: RegExp, advice: string])[] = [
  [/^Implicit keys need/, 'a key ends at a colon and a blank, as in `key: value`'],
  [/items must start|^Sequence item without/, 'an entry begins with `-`, and its keys in the same column'],
  [/^Flow /, 'a bracket is missing; or the lines are not indented; or a blank and `#` begin a comment'],
  [/^Block collections/, 'quote a text with a colon and a blank; or a comma is missing before the next key'],
  [/^Unexpected block-seq-ind/, 'a list begins on a line of its own, below its key'],
  [/^Invalid escape/, 'remove the backslash, or write two of them where one belongs to the text'],
  [
    /^Nested mappings/,
    'quote a text with a colon and a blank; a blank follows each `-`; keys begin in one column',
  ],
  [/^Tabs/, 'write blanks instead'],
  [/^Unexpected/, 'quote a text with quotes, commas or brackets as a whole'],
];
