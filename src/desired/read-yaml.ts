import { YAMLException } from 'js-yaml';
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Composer,
  Lexer,
  Parser,
  visit,
  type Alias,
  type CST,
  type Document,
  type Node,
  type YAMLError,
} from 'yaml';
import { quote } from './problem.ts';
import {
  aliased,
  entryOf,
  knownTag,
  maxDepth,
  nulls,
  parseYaml,
  unknownTag,
  wrongVersion,
  type Tree,
  type Yaml,
  type YamlDocument,
  type YamlNode,
  type YamlProblem,
} from './yaml.ts';

/** Never throws: `yaml` explains what is no YAML. */
export const readYaml = (source: string): Yaml => {
  const excess = excessIn(source);
  if (excess !== null) return nothingBut({ check: 'yaml-syntax', at: excess, message: tooMuch });
  try {
    return parseYaml(source);
  } catch (error) {
    if (error instanceof YAMLException) return explain(source, error);
    throw error;
  }
};

/** A template cannot be split into two template files. */
export const howToSplit = 'move records to fragments, files named `_….yaml` that it names under `include`';

const tooMuch = `the file is too large: ${howToSplit}`;

/** Separators between values: 100,000 records have a million. Each takes some 200 octets of memory. */
const maxMarks = 2_000_000;

/** The offset of the first separator above the limit. */
const excessIn = (source: string): number | null => {
  if (source.length <= maxMarks) return null;
  const mark = /[,[{\n]|[-:] /g;
  for (let marks = 0; marks <= maxMarks; marks += 1) if (!mark.test(source)) return null;
  return mark.lastIndex - 1;
};

/** Characters that the `yaml` library reads in a second, in any text. */
const maxExplained = 512 * 1024;

/**
 * Every mistake in a text that js-yaml refused at its first, and what can be read in spite of them. There may be none:
 * people close a bracket at the beginning of a line, which js-yaml is too strict for.
 */
export const explain = (source: string, { reason, mark }: YAMLException): Yaml => {
  const first = { check: 'yaml-syntax', at: mark?.position ?? 0, message: reason } as const;
  const conflict = source.search(conflictMarker);
  if (conflict >= 0) return nothingBut({ ...first, at: conflict, message: unresolved });
  if (reason.includes('maxDepth')) return nothingBut({ ...first, message: tooDeep });
  if (source.length > maxExplained) return nothingBut(first);
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source)) {
    tokens.push(...parser.next(lexeme));
    // The library takes time and stack that grow faster than the depth.
    if (parser.stack.length > maxDepth) return nothingBut({ ...first, at: parser.offset, message: tooDeep });
  }
  tokens.push(...parser.end());
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, prettyErrors: false });
  const problems: YamlProblem[] = [];
  const documents = [...composer.compose(tokens)].map((document) => documentOf(document, source, problems));
  return { documents, problems };
};

const nothingBut = (problem: YamlProblem): Yaml => ({ documents: [], problems: [problem] });

const conflictMarker = /^(?:<{7}|={7}|>{7})(?: .*)?$/m;

const unresolved =
  'two versions of this file were merged, and a conflict is left: choose one, and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`';

const tooDeep = `lists and mappings are nested more than ${maxDepth} deep`;

const documentOf = (document: Document.Parsed, source: string, problems: YamlProblem[]): YamlDocument => {
  const { contents, errors } = document;
  const isBroken = errors.some(({ code }) => !harmless.has(code));
  const inTree: YamlProblem[] = [];
  const root = nodeOf(contents, 0, { anchors: new Map(), problems: inTree });
  const { explicit, version } = document.directives.yaml;
  if (explicit === true && version !== '1.2')
    inTree.push(wrongVersion(version, source.lastIndexOf('%YAML', root.at)));
  const inText = errors.map((error) => problemOf(error, document, source));
  problems.push(...(isBroken ? onePerLine(inText, source) : [...inText, ...inTree]));
  return { root, isBroken };
};

/** After these errors the library can go on: the rest of the document is valid. */
const harmless: ReadonlySet<string> = new Set([
  'BAD_ALIAS',
  'BAD_SCALAR_START',
  'BAD_DQ_ESCAPE',
  'TAG_RESOLVE_FAILED',
]);

/** One mistake often causes several errors: only the first in a line is kept. */
const onePerLine = (problems: readonly YamlProblem[], source: string): YamlProblem[] => {
  const lines = new Set<number>();
  const lineOf = ({ at }: YamlProblem): number => source.lastIndexOf('\n', at - 1);
  return problems.filter((one) => !lines.has(lineOf(one)) && lines.add(lineOf(one)));
};

/** `after` is for what has no place of its own. */
const nodeOf = (node: unknown, after: number, tree: Tree): YamlNode => {
  if (!isNode(node)) return { kind: 'scalar', text: null, at: after };
  const at = node.range?.[0] ?? after;
  // The library itself reports a lone `*`.
  if (isAlias(node)) return node.source === '' ? { kind: 'unread', at } : aliased(node.source, at, tree);
  const { tag, anchor } = node;
  if (tag !== undefined && !knownTag.test(tag))
    tree.problems.push({ check: 'yaml-tag', at, message: unknownTag(tag) });
  if (anchor !== undefined) tree.anchors.set(anchor, null);
  const read = plainNodeOf(node, at, tree);
  if (anchor !== undefined) tree.anchors.set(anchor, read);
  return read;
};

const plainNodeOf = (node: Exclude<Node, Alias>, at: number, tree: Tree): YamlNode => {
  if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => nodeOf(item, at, tree)), at };
  if (isMap(node)) {
    const entries = node.items.flatMap((pair) => {
      const key = nodeOf(pair.key, at, tree);
      return entryOf(key, nodeOf(pair.value, key.at, tree), tree.problems) ?? [];
    });
    return { kind: 'mapping', entries, at };
  }
  const text = isScalar(node) ? (node.source ?? '') : '';
  const isNull = isScalar(node) && node.type === 'PLAIN' && node.tag === undefined && nulls.has(text);
  return { kind: 'scalar', text: isNull ? null : text, at };
};

const problemOf = (error: YAMLError, document: Document.Parsed, source: string): YamlProblem => {
  const [at] = error.pos;
  const opening = error.code === 'MISSING_CHAR' ? openingOf(document, at) : null;
  if (opening !== null) return { check: 'yaml-syntax', at: opening, message: endless };
  const check = error.code === 'TAG_RESOLVE_FAILED' ? 'yaml-tag' : 'yaml-syntax';
  const before = source.slice(Math.max(0, at - excerptLength), at);
  return { check, at, message: messageOf(error, source.slice(at, at + excerptLength), before) };
};

const endless = 'the quoted text that begins here has no end';

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
  if (code !== 'UNEXPECTED_TOKEN') return said;
  if (rest.startsWith(',')) return 'entries that begin with `-` have no comma between them: remove it';
  if (/["'][ \t]*$/.test(before))
    return 'a quoted text ends at its closing quote: write one text within one pair of quotes, and twice a quote that is part of it';
  return rest.startsWith('{') ? `${said}; a text with \`{\` inside braces must be quoted: "\${name}"` : said;
};

export const endsInColon = (address: string): string =>
  `unquoted, a colon at the end makes a key: quote the address, "${address}"`;
