import { canonicalContent, canonicalName } from './canonical.ts';
import { definitionOf } from './types/table.ts';

/** A pattern in canonical form: `*` is any text, dots too, and `\*` a literal star. */
export interface Glob {
  readonly hasStar: boolean;
  /** The texts between the stars; an empty text at an end means that a star stands there. */
  readonly texts: readonly string[];
}

/** A final dot makes no difference: `www.` leaves `www` alone as well. */
export const nameGlob = (pattern: string): Glob =>
  globOf(pattern, (text) => {
    const name = withoutFinalDot(canonicalName(text));
    return text.includes(anyText) ? lower(name) : name;
  });

/** `type` in upper case. */
export const contentGlob = (type: string, pattern: string): Glob =>
  globOf(pattern, (text) =>
    text.includes(anyText)
      ? (definitionOf(type)?.canonicalPattern(text) ?? text)
      : canonicalContent(type, text),
  );

/** For a text with one spelling only, such as the name of a template. */
export const plainGlob = (pattern: string): Glob => globOf(pattern, (text) => text);

/** For an unknown type it is not known whether case matters. */
export const inCaseOf = (type: string, content: string): string =>
  definitionOf(type)?.ignoresCase === true ? lower(content) : content;

export const matchesGlob = ({ texts: [first = '', ...rest], hasStar }: Glob, text: string): boolean => {
  if (!hasStar) return text === first;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const middle of rest) {
    const found = text.indexOf(middle, at);
    if (found < 0) return false;
    at = found + middle.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
};

export const withoutFinalDot = (name: string): string => (/[^.]\.$/.test(name) ? name.slice(0, -1) : name);

/** Replaces a star while the text around it is brought to canonical form; cannot occur in a host name. */
const anyText = '\u{10ffff}';

const globOf = (pattern: string, canonical: (text: string) => string): Glob => {
  const marked = pattern.replace(/\\\*|\*+/g, (part) => (part === String.raw`\*` ? '*' : anyText));
  const texts = canonical(marked).split(anyText);
  return { hasStar: texts.length > 1, texts };
};

const lower = (text: string): string => text.toLowerCase();
