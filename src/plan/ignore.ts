import { canonicalContent, canonicalName, canonicalType } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import { contentGlob, inCaseOf, matchesGlob, nameGlob, withoutFinalDot, type Glob } from '../model/glob.ts';
import { pushTo } from '../model/group.ts';

/** Whether any rule matches a record: all that a rule states must agree, in canonical form. */
export const matchesIgnore = (rules: readonly IgnoreRule[], record: RecordData): boolean => {
  if (rules.length === 0) return false;
  const { byName, others } = compiledOf(rules);
  const type = canonicalType(record.type);
  const name = canonicalName(record.name);
  const text: Texts = {
    type,
    names: name.endsWith('.') ? [name, withoutFinalDot(name)] : [name],
    content: canonicalContent(type, record.content),
  };
  const matches = (rule: CompiledRule): boolean => rule(text);
  return text.names.some((one) => byName.get(one)?.some(matches)) || others.some(matches);
};

/** Of a record, in canonical form. */
interface Texts {
  readonly type: string;
  /** With and without a final dot. */
  readonly names: readonly string[];
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
    const glob = name === null ? null : nameGlob(name);
    const ofContent = content === null ? null : contentMatcher(content);
    const isOfName = (names: readonly string[]): boolean =>
      glob?.hasStar !== true || names.some((one) => matchesGlob(glob, one.toLowerCase()));
    const rule: CompiledRule = (record) =>
      (type === null || type === record.type) &&
      isOfName(record.names) &&
      (ofContent === null || ofContent(record));
    if (glob === null || glob.hasStar) others.push(rule);
    else pushTo(byName, glob.texts[0]!, rule);
  }
  const made = { byName, others };
  compiled.set(rules, made);
  return made;
};

/** Content is compared by type, and a rule may apply to any type. */
const contentMatcher = (pattern: string): CompiledRule => {
  const globs = new Map<string, Glob>();
  return ({ type, content }) => {
    const glob = globs.get(type) ?? contentGlob(type, pattern);
    globs.set(type, glob);
    return matchesGlob(glob, glob.hasStar ? inCaseOf(type, content) : content);
  };
};
