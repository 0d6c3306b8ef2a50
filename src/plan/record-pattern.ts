import { isRecordType, recordTypes, type RecordData } from '../model/record.ts';
import { canonicalType } from '../model/canonical.ts';
import type { IgnoreRule } from '../model/template.ts';
import { matchesIgnore } from './ignore.ts';

/**
 * Records by name and type, as `www A`, `* TXT`, `@ MX`. The name is compared as in an `ignore` rule: `*` is any text,
 * dots too, `\*` a literal star, `@` the subdomain itself.
 */
export interface RecordPattern {
  readonly text: string;
  /** A list of one, whose compiled form is kept. */
  readonly rules: readonly IgnoreRule[];
}

/** Returns what is wrong with the text, if anything. */
export const parseRecordPattern = (text: string): RecordPattern | string => {
  const [, name, type] = /^\s*(\S.*?)\s+(\S+)\s*$/u.exec(text) ?? [];
  if (name === undefined || type === undefined)
    return `\`${text}\`: expected a name and a type, such as 'www A', '@ MX' or '* TXT'`;
  const known = type === '*' ? null : canonicalType(type);
  if (known !== null && !isRecordType(known))
    return `\`${text}\`: \`${type}\` is no record type; there are: ${recordTypes.join(', ')}, and * for any`;
  return { text, rules: [{ type: known, name, content: null }] };
};

/** Whether any of the patterns is about a record. */
export const matchesPattern = (
  patterns: readonly RecordPattern[],
  record: Pick<RecordData, 'type' | 'name'>,
): boolean => patterns.some(({ rules }) => matchesIgnore(rules, { ...unstated, ...record }));

/** The pattern that is about this record alone, for messages. */
export const patternOf = ({ type, name }: Pick<RecordData, 'type' | 'name'>): string =>
  `${name === null || name === '' ? '@' : name} ${type}`;

const unstated = { content: '', priority: null, ttl: null };
