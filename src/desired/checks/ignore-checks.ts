import { whyNotInHost } from '../../model/host.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import type { RecordType } from '../../model/record.ts';
import { definitionOf } from '../../model/types/table.ts';
import { contentGlob, nameGlob, type Glob } from '../../plan/glob.ts';
import { matchesIgnore } from '../../plan/ignore.ts';
import { quote } from '../diagnostic.ts';
import type { RecordCheck, TemplateCheck } from './check.ts';

export const desiredAndIgnored: RecordCheck = {
  id: 'wanted-and-ignored',
  find: ({ desired, at }, { ignore, rules }) => {
    if (!matchesIgnore(rules, desired)) return [];
    const by = ignore.find(({ rule }) => matchesIgnore([rule], desired))!;
    const { file, line, column } = by.place;
    const message = `the record is listed here and ignored at ${file}:${line}:${column}`;
    return [{ at: at.record, message }];
  },
};

/** A rule that matches nothing is worse than none: its author relies on it. */
export const ignoreMatchesNothing: TemplateCheck = {
  id: 'ignore-matches-nothing',
  find: ({ ignore }) =>
    ignore.flatMap((resolved) => {
      const { type, name, content } = resolved.rule;
      const patterns = [
        { key: 'name', pattern: name, why: name === null ? null : whyNoName(name) },
        { key: 'content', pattern: content, why: type && content ? whyNoContent(type, content) : null },
      ] as const;
      return patterns.flatMap(({ key, pattern, why }) =>
        why === null
          ? []
          : [
              {
                entry: resolved,
                at: resolved.at[key],
                message: `${quote(pattern!)} matches no record: ${why}`,
              },
            ],
      );
    }),
};

const whyNoName = (pattern: string): string | null => {
  if (hasPlaceholder(pattern)) return null;
  const glob = nameGlob(pattern);
  if (glob.texts.some((text) => text.includes('@')))
    return '`@` means the subdomain itself only if it is alone';
  return /\s/.test(pattern) ? 'a name has no blanks' : whyNotIn(glob, whyNotInHost);
};

const whyNoContent = (type: RecordType, pattern: string): string | null =>
  whyNotIn(contentGlob(type, pattern), definitionOf(type).whyNotIn);

const whyNotIn = (
  { hasStar, texts }: Glob,
  why: (text: string, isWhole: boolean) => string | null,
): string | null => texts.map((text) => why(text, !hasStar)).find((reason) => reason !== null) ?? null;
