import { YAMLException } from 'js-yaml';
import { endsInColon, quote } from './problem.ts';
import { maxDepth, parseYaml, type YamlNode, type YamlProblem } from './yaml.ts';

/**
 * The documents of a text and what is wrong with its YAML, up to the first mistake that keeps the rest from being read: then
 * there are none. What only has to be quoted does not.
 */
export const readYaml = (
  given: string,
): {
  /** The same length as was given, but for blanks; the documents' offsets are in it. */
  readonly text: string;
  readonly roots: readonly YamlNode[] | null;
  readonly problems: YamlProblem[];
} => {
  // People close a bracket at the beginning of a line, which YAML does not allow: then a blank goes before it.
  let text = /\n[\]}]/.test(given) ? given.replaceAll(/^[\]}]/gm, ' $&') : given;
  const mistakes: YamlProblem[] = [];
  for (let left = maxReadAgain; ; left -= text.length)
    try {
      const { roots, problems } = parseYaml(text);
      return { text, roots, problems: [...mistakes, ...problems] };
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      const { sign, ...mistake } = mistakeOf(error, text);
      mistakes.push({ check: 'yaml-syntax', ...mistake });
      if (sign === undefined || left <= 0) return { text, roots: null, problems: mistakes };
      text = `${text.slice(0, sign)}x${text.slice(sign + 1)}`;
    }
};

/** Characters: the text is read once more for each sign that begins no text. */
const maxReadAgain = 2 * 1024 * 1024;

/** `sign`: where a letter in place of the sign that stands there lets the rest be read. */
type Mistake = Omit<YamlProblem, 'check'> & Partial<Pick<YamlProblem, 'check'>> & { readonly sign?: number };

const mistakeOf = ({ reason, mark }: YAMLException, text: string): Mistake => {
  const at = mark?.position ?? 0;
  const conflict = text.search(/^(?:<{7}|={7}|>{7})(?: .*)?$/m);
  if (conflict >= 0) return { at: conflict, message: unresolved };
  if (reason.includes('maxDepth')) return { at, message: tooDeep };
  const [line = ''] = /[^\n]*$/.exec(text.slice(Math.max(0, at - 200), at)) ?? [];
  const [address] = /[\da-f]*:[\da-f:]*:$/i.exec(line + text.charAt(at)) ?? [];
  if (address !== undefined) return { at: at + 1 - address.length, message: endsInColon(address), sign: at };
  const begin = reason.includes('alias node') ? at - 1 : at;
  if (/[@`%*]/.test(text.charAt(begin))) {
    const [value = ''] = text.slice(begin, begin + 80).split(/[\n,\]}]/, 1);
    const message = `a value that begins with \`${text[begin]}\` is not plain text in YAML; quote it: ${quote(`"${value.trim()}"`)}`;
    return { at: begin, message, sign: begin };
  }
  if (/escape|hexadecimal/.test(reason)) {
    const escape = text.lastIndexOf('\\', at);
    return { at: escape, message: `${reason} \`${text.slice(escape, at + 1)}\``, sign: escape };
  }
  const [tag] = /handle/.test(reason) ? (/![^\s,[\]{}]*$/.exec(line) ?? []) : [];
  if (tag !== undefined)
    return { at: at - tag.length, message: `${reason}: quote the text`, check: 'yaml-tag' };
  const [, advice] = advices.find(([pattern]) => pattern.test(reason)) ?? [];
  return { at, message: reason.slice(0, 200) + (advice === undefined ? '' : `: ${advice}`) };
};

const unresolved =
  'two versions of this file were merged, and a conflict is left: choose one, and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`';

const tooDeep = `lists and mappings are nested more than ${maxDepth} deep`;

/** What to do, by the parser's words. */
const advices: readonly (readonly [reason: RegExp, advice: string])[] = [
  [/^tab/, 'write blanks instead'],
  [/^end of the stream/, 'here or above, a key does not end at a colon and a blank, as in `key: value`'],
  [/sequence entry$/, 'an entry begins with `-`, and its keys in the same column'],
  [
    /mapping entry/,
    'quote a text with quotes, or a colon and a blank, as a whole; a blank follows each `-`; keys begin in one column',
  ],
  [/^missed comma/, 'a comma is missing here; or quote a text with quotes, commas or brackets as a whole'],
  [
    /^deficient|^unexpected end/,
    'before this, a bracket or a quotation mark is not closed; or the lines are not indented; or a blank and `#` begin a comment',
  ],
];
