import { isIPv4 } from 'node:net';
import { unseen } from '../lib/escape-control.ts';
import { hasPriority, type RecordData } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';

/** A record as an entry of `records`, in one line. `templateTtl` applies if the entry states no TTL. */
export const entryInBraces = (
  record: RecordData,
  templateTtl: number | null,
  allow: readonly string[] | null = null,
): string => {
  const ttl = statableTtl(record);
  return inBraces({ ...fieldsOf(record), ttl: ttl === templateTtl ? null : ttl, allow });
};

/** Any record in one readable line. */
export const shownRecord = ({ type, name, content, priority, ttl }: RecordData): string =>
  inBraces({ type, name, content, priority, ttl });

/** Values in the template language; null: not stated. */
type Fields = Readonly<Record<string, string | number | null>>;

/** What an entry of `records` says of a record. Invalid content is as it is, also where `inParts` asks for its parts. */
export const fieldsOf = (record: RecordData, inParts = true): Fields => {
  const type = record.type.toUpperCase();
  const { name, content } = record;
  const priority = hasPriority(type) ? record.priority : null;
  const parts = inParts ? definitionOf(type)?.parts?.of(content) : null;
  return {
    type,
    name: name === '' || name === '@' || name === null ? null : escaped(name),
    ...(parts
      ? { priority, ...parts, target: escaped(parts.target) }
      : { content: escaped(content), priority }),
    ttl: statableTtl(record),
  };
};

/** RFC 2181 §8. */
export const maxTtl = 2_147_483_647;

/** The TTL if a file can state it. */
export const statableTtl = ({ ttl }: RecordData): number | null =>
  ttl !== null && ttl >= 0 && ttl <= maxTtl ? ttl : null;

/** A text as a value of the template language. */
export const escaped = (text: string): string => text.replaceAll('${', () => '$${');

const inBraces = (fields: Readonly<Record<string, Fields[string] | readonly string[]>>): string => {
  const stated = Object.entries(fields).flatMap(([key, value]) => {
    if (value === null) return [];
    return `${key}: ${typeof value === 'object' ? `[${value.join(', ')}]` : scalarText(value)}`;
  });
  return `{ ${stated.join(', ')} }`;
};

/**
 * A value in one line of YAML, as it can stand anywhere. Readers of YAML 1.1 read the same. In quotation marks also where
 * YAML needs none, but people may read something else.
 */
export const scalarText = (value: string | number): string => {
  if (typeof value === 'number' || isIPv4(value)) return String(value);
  const isPlain = /^[\p{L}_][^:#,[\]{}]*(?<! )$/u.test(value) && !keyword.test(value) && !isUnfit(value);
  return isPlain ? value : quotedText(value, "'");
};

/** In quotation marks, which are double ones if something has to be escaped: what nobody sees, and what YAML forbids. */
export const quotedText = (text: string, mark: string): string =>
  mark === "'" && !isUnfit(text)
    ? `'${text.replaceAll("'", "''")}'`
    : JSON.stringify(text).replaceAll(unfit, (character) => {
        const code = character.codePointAt(0)!.toString(16);
        return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
      });

/** A number of YAML 1.1 without digits before its exponent, too. */
const keyword = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?\d+)$/i;

/** Includes lone surrogates, which UTF-8 cannot encode. */
const unfit = new RegExp(String.raw`[\p{Co}\ufffe\uffff]|${unseen.source}`, 'gu');

const isUnfit = (text: string): boolean => text.search(unfit) >= 0;
