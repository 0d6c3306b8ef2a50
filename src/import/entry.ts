import { Scalar, stringify, type ToStringOptions } from 'yaml';
import { hasPriority, type RecordData } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';
import type { AllowableCheck } from '../desired/check-id.ts';
import { unseen } from '../lib/escape-control.ts';

/** A record as an entry of `records`, in one line. `templateTtl` applies if the entry states no TTL. */
export const entryInBraces = (
  record: RecordData,
  templateTtl: number | null,
  allow: readonly AllowableCheck[] = [],
): string => inBraces(fieldsOf(record, templateTtl, allow));

/** RFC 2181 §8. */
export const maxTtl = 2_147_483_647;

/** The TTL if a file can state it. */
export const statableTtl = ({ ttl }: RecordData): number | null =>
  ttl !== null && ttl >= 0 && ttl <= maxTtl ? ttl : null;

/** Any record in one readable line. */
export const shownRecord = ({ type, name, content, priority, ttl }: RecordData): string =>
  inBraces({ type, name, content, priority, ttl });

type Fields = Readonly<Record<string, string | number | readonly string[] | null>>;

const fieldsOf = (
  record: RecordData,
  templateTtl: number | null,
  allow: readonly AllowableCheck[],
): Fields => {
  const { content } = record;
  const type = record.type.toUpperCase();
  const ttl = statableTtl(record);
  const priority = hasPriority(type) ? record.priority : null;
  const parts = definitionOf(type)?.parts?.of(content);
  return {
    type,
    name: record.name === '' || record.name === '@' || record.name === null ? null : escaped(record.name),
    // Invalid content is written as it is.
    ...(parts
      ? { priority, ...parts, target: escaped(parts.target) }
      : { content: escaped(content), priority }),
    ttl: ttl === templateTtl ? null : ttl,
    allow: allow.length === 0 ? null : allow,
  };
};

/** A text as a value of the template language. */
export const escaped = (text: string): string => text.replaceAll('${', () => '$${');

/** A value in one line of YAML, as it can stand anywhere. */
export const scalarText = (value: string | number): string => yamlOf([value]).trimEnd().slice(1, -1);

const inBraces = (fields: Fields): string => `{ ${yamlOf(fields).trimEnd().slice(1, -1)} }`;

/**
 * Readers of YAML 1.1 read the same. Invisible characters, terminal controls and direction marks are escaped. Fields that
 * are null are left out.
 */
const yamlOf = (value: Fields | readonly unknown[]): string => {
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  const shown = entries.map(([key, one]) => [key, typeof one === 'string' ? scalarOf(one) : one] as const);
  const written = Array.isArray(value) ? shown.map(([, one]) => one) : Object.fromEntries(shown);
  return stringify(written, style).replaceAll(unfitInFile, escapeOf);
};

const style: ToStringOptions & { compat: 'yaml-1.1' } = {
  compat: 'yaml-1.1',
  collectionStyle: 'flow',
  singleQuote: true,
  lineWidth: 0,
  flowCollectionPadding: false,
  blockQuote: false,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
};

/** Includes all that YAML forbids unescaped, and lone surrogates, which UTF-8 cannot encode. */
const unfit = new RegExp(String.raw`[\p{Co}\ufffe\uffff]|${unseen.source}`, 'u');

/** Line feeds of the file itself. */
const unfitInFile = new RegExp(String.raw`(?!\n)(?:${unfit.source})`, 'gu');

/** With quotation marks where the library would leave them out: addresses are easily read otherwise. */
const scalarOf = (text: string): Scalar | string => {
  const type = unfit.test(text) ? Scalar.QUOTE_DOUBLE : text.includes(':') ? Scalar.QUOTE_SINGLE : null;
  return type === null ? text : Object.assign(new Scalar(text), { type });
};

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff
    ? String.raw`\U${code.toString(16).padStart(8, '0')}`
    : String.raw`\u${code.toString(16).padStart(4, '0')}`;
};
