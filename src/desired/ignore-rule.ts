import { whyNotInHost } from '../model/host.ts';
import { hasPlaceholder } from '../model/placeholder.ts';
import type { Place } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import { contentGlob, nameGlob, type Glob } from '../model/glob.ts';
import { textIn } from './fields.ts';
import type { Part } from './includes.ts';
import type { ParsedEntry } from './parse-file.ts';
import { quote } from './problem.ts';
import { typeIn } from './record.ts';
import type { ignoreSchema } from './schema.ts';

export interface ResolvedRule {
  readonly rule: IgnoreRule;
  readonly place: Place;
}

/** Null if any part of it is invalid: without that part it would match too much. */
export const ruleOf = ({ at, fields }: ParsedEntry<typeof ignoreSchema>, part: Part): ResolvedRule | null => {
  if (fields.size === 0) part.report('wrong-type', at, emptyRule);
  const type = fields.has('type') ? typeIn(fields.get('type'), at, part) : null;
  const name = textIn(fields.get('name'), '`name`', part);
  const content = textIn(fields.get('content'), '`content`', part);
  const rule = { type, name, content };
  if (fields.size === 0 || [...fields.keys()].some((key) => rule[key] === null)) return null;
  // A rule that matches nothing is worse than none: its author relies on it.
  const why = { name: name && whyNoName(name), content: type && content && whyNoContent(type, content) };
  for (const key of ['name', 'content'] as const)
    if (why[key])
      part.report(
        'ignore-matches-nothing',
        fields.get(key)!.at,
        `${quote(rule[key]!)} matches no record: ${why[key]}`,
      );
  return { rule, place: { file: part.file, ...part.document.placeOf(at) } };
};

const emptyRule = 'an ignore rule needs `type`, `name` or `content`; empty, it would match everything';

const whyNoName = (pattern: string): string | null => {
  if (hasPlaceholder(pattern)) return null;
  const glob = nameGlob(pattern);
  if (glob.texts.some((text) => text.includes('@')))
    return '`@` means the subdomain itself only if it is alone';
  return /\s/.test(pattern) ? 'a name has no blanks' : whyNotIn(glob, whyNotInHost);
};

const whyNoContent = (type: string, pattern: string): string | null =>
  whyNotIn(contentGlob(type, pattern), definitionOf(type)!.whyNotIn);

const whyNotIn = (
  { hasStar, texts }: Glob,
  why: (text: string, isWhole: boolean) => string | null,
): string | null => texts.map((text) => why(text, !hasStar)).find((reason) => reason !== null) ?? null;
