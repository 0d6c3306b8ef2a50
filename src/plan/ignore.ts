import { canonicalContent, canonicalName, canonicalType } from '../model/canonical.ts';
import { isRecordType, type RecordData } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';

/**
 * Whether any rule matches a record: all that a rule states must agree, in canonical form. In a glob `*` is any
 * text, dots too, and `\*` a literal star.
 */
export const matchesIgnore = (rules: readonly IgnoreRule[], record: RecordData): boolean =>
  rules.some((rule) => matches(rule, record));

const matches = (rule: IgnoreRule, record: RecordData): boolean => {
  const type = canonicalType(record.type);
  if (rule.type !== null && rule.type !== type) return false;
  if (rule.name !== null && !matchesGlob(rule.name, record.name ?? '', canonicalName, false)) return false;
  const canonical = (text: string): string => canonicalContent(type, text);
  const caseMatters = type === 'TXT' || !isRecordType(type);
  return rule.content === null || matchesGlob(rule.content, record.content, canonical, caseMatters);
};

/** Parts of a name or content beside a star have no canonical form of their own, only a case. */
const matchesGlob = (
  glob: string,
  text: string,
  canonical: (text: string) => string,
  caseMatters: boolean,
): boolean => {
  const parts = glob.match(/\\\*|\*+|[^*\\]+|\\/g) ?? [];
  const isStar = (part: string): boolean => part.startsWith('*');
  const literal = (part: string): string => (part === '\\*' ? '*' : part);
  if (!parts.some(isStar)) return canonical(parts.map(literal).join('')) === canonical(text);
  const inCase = (one: string): string => (caseMatters ? one : one.toLowerCase());
  return inOrder(inCase(canonical(text)), joinLiterals(parts, isStar, literal).map(inCase));
};

/** The texts between the stars; an empty text at an end means that a star stands there. */
const joinLiterals = (
  parts: readonly string[],
  isStar: (part: string) => boolean,
  literal: (part: string) => string,
): string[] => {
  const texts = [''];
  for (const part of parts) {
    if (isStar(part)) texts.push('');
    else texts.push(texts.pop()! + literal(part));
  }
  return texts;
};

const inOrder = (text: string, [first = '', ...rest]: readonly string[]): boolean => {
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
