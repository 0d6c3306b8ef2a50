import { canonicalContent, canonicalName, canonicalType } from '../model/canonical.ts';
import { isRecordType, type RecordData } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';

/**
 * Whether any rule matches a record: all that a rule states must agree, in canonical form. In a glob `*` is any
 * text, dots too, and `\*` a literal star.
 */
export const matchesIgnore = (rules: readonly IgnoreRule[], record: RecordData): boolean => {
  if (rules.length === 0) return false;
  const { byName, others } = compiledOf(rules);
  const type = canonicalType(record.type);
  const text: Texts = {
    type,
    name: canonicalName(record.name),
    content: canonicalContent(type, record.content),
  };
  const matches = (rule: CompiledRule): boolean => rule(text);
  return (byName.get(text.name)?.some(matches) ?? false) || others.some(matches);
};

/** Of a record, in canonical form. */
interface Texts {
  readonly type: string;
  readonly name: string;
  readonly content: string;
}

type CompiledRule = (record: Texts) => boolean;

/** Rules that state one name are found by it: there may be thousands of them. */
interface CompiledRules {
  readonly byName: ReadonlyMap<string, readonly CompiledRule[]>;
  readonly others: readonly CompiledRule[];
}

/** Lists of rules are never changed. */
const compiled = new WeakMap<readonly IgnoreRule[], CompiledRules>();

const compiledOf = (rules: readonly IgnoreRule[]): CompiledRules => {
  const known = compiled.get(rules);
  if (known) return known;
  const byName = new Map<string, CompiledRule[]>();
  const others: CompiledRule[] = [];
  for (const { type, name, content } of rules) {
    const glob = name === null ? null : globOf(name);
    const ofContent = content === null ? null : contentMatcher(globOf(content));
    const isOfName = glob?.hasStar === true ? nameMatcher(glob) : null;
    const rule: CompiledRule = (record) =>
      (type === null || type === record.type) &&
      (isOfName === null || isOfName(record.name)) &&
      (ofContent === null || ofContent(record));
    if (glob === null || glob.hasStar) others.push(rule);
    else {
      const key = canonicalName(glob.texts[0]!);
      const ofName = byName.get(key);
      if (ofName) ofName.push(rule);
      else byName.set(key, [rule]);
    }
  }
  const made = { byName, others };
  compiled.set(rules, made);
  return made;
};

const nameMatcher = ({ texts }: Glob): ((name: string) => boolean) => {
  const lower = texts.map((text) => text.toLowerCase());
  return (name) => inOrder(name.toLowerCase(), lower);
};

/** Parts of a content beside a star have no canonical form of their own, only a case. */
const contentMatcher = (glob: Glob): CompiledRule => {
  const lower = glob.texts.map((text) => text.toLowerCase());
  const canonical = new Map<string, string>();
  const canonicalFor = (type: string): string => {
    const known = canonical.get(type) ?? canonicalContent(type, glob.texts[0]!);
    canonical.set(type, known);
    return known;
  };
  return ({ type, content }) => {
    if (!glob.hasStar) return canonicalFor(type) === content;
    const caseMatters = type === 'TXT' || !isRecordType(type);
    return caseMatters ? inOrder(content, glob.texts) : inOrder(content.toLowerCase(), lower);
  };
};

interface Glob {
  readonly hasStar: boolean;
  /** The texts between the stars; an empty text at an end means that a star stands there. */
  readonly texts: readonly string[];
}

const globOf = (glob: string): Glob => {
  const parts = glob.match(/\\\*|\*+|[^*\\]+|\\/g) ?? [];
  const texts = [''];
  for (const part of parts) {
    if (part.startsWith('*')) texts.push('');
    else texts.push(texts.pop()! + (part === '\\*' ? '*' : part));
  }
  return { hasStar: texts.length > 1, texts };
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
