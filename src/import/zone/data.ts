import { quote } from '../../desired/problem.ts';
import { isWarning } from '../../desired/check-id.ts';
import { ArgumentError } from '../../errors.ts';
import { canonicalHost, isReverseLabel, nameLabelsOf, unescapedName } from '../../model/host.ts';
import { isQuotedText, unquoteText } from '../../model/quoted-text.ts';
import type { RecordData, RecordType } from '../../model/record.ts';
import type { TypeDefinition } from '../../model/types/definition.ts';
import { definitions } from '../../model/types/table.ts';
import { isUnsigned16 } from '../../model/types/srv.ts';
import { unseen } from '../../lib/escape-control.ts';
import type { ZoneWord } from './entries.ts';

/** What a record says; why no template can hold it; or what is wrong with it. */
export type ZoneData =
  | Pick<RecordData, 'content' | 'priority'>
  | { readonly leftOut: string }
  | { readonly mistake: string };

/** `wholeName` makes a whole name of a host as it is written. */
export const readData = (
  type: RecordType,
  words: readonly ZoneWord[],
  wholeName: (name: string) => string,
): ZoneData => {
  const definition: TypeDefinition = definitions[type];
  const { hasPriority, target, parts } = definition;
  const shown = words.map(({ text }) => text).join(' ');
  if (words[0]?.text === String.raw`\#`) return { leftOut: 'it is in the notation of unknown types' };
  const mistake = type === 'TXT' ? mistakeInText(words) : null;
  if (mistake !== null) return { mistake };
  const texts = type === 'TXT' ? [joinedText(words)] : words.map(({ text }) => text);
  if (texts.length !== Number(hasPriority) + (parts ? 3 : 1) || texts[0] === '')
    return {
      mistake:
        shown === ''
          ? `no data follows the type ${type}`
          : `${quote(shown)} is not what a record of type ${type} has`,
    };
  const priority = hasPriority ? texts.shift()! : null;
  if (priority !== null && !isUnsigned16(priority))
    return { mistake: `${quote(priority)} is not a priority` };
  if (target) {
    const host = wholeName(texts.pop()!);
    if (!isWholeName(host)) return { mistake: `${quote(host)} is not the name of a host` };
    if (isUnstatable(unescapedName(host))) return { leftOut: 'a template cannot state its host' };
    // As template files have hosts: without the final dot.
    texts.push(host === '.' ? host : unescapedName(host.slice(0, -1)));
  }
  const content = texts.join(' ');
  const checked = { name: null, content, canonical: { name: '', content: definition.canonical(content) } };
  for (const { id, at, find } of definition.checks) {
    const objection = at === 'content' && !isWarning(id) ? find(checked, quote) : null;
    if (objection !== null) return { mistake: objection };
  }
  return { content, priority: priority === null ? null : Number(priority) };
};

/** RFC 1035 §2.3.4: 63 octets a label, and 255 a name, with those before each label. */
export const isWholeName = (name: string): boolean =>
  name === '.' ||
  (/^(?:(?:[^\\.]|\\\d{3}|\\\D){1,63}\.)+$/.test(name) && name.replace(/\\(?:\d{3}|\D)/g, 'x').length <= 254);

/** Template files know no escapes in names. */
export const isUnstatable = (name: string): boolean => /[\\"@]|[^!-~]/.test(name);

/** Words without quotation marks are strings of their own, which nobody means: their blanks are lost. */
const mistakeInText = (words: readonly ZoneWord[]): string | null => {
  const bare = words.find(({ isQuoted }) => !isQuoted);
  if (bare === undefined) return null;
  const { text } = bare;
  if (bare.isCut)
    return `a comment begins after ${quote(text)}: a text with a \`;\` has to be in quotation marks`;
  if (words.length === 1 || words.some(({ isQuoted }) => isQuoted)) return null;
  return `${quote(text)} is a text of its own: a text with blanks has to be in quotation marks`;
};

/** Without quotation marks and escapes if it is the same text without them. */
const joinedText = (words: readonly ZoneWord[]): string => {
  const quoted = words.map(({ text, isQuoted }) => (isQuoted ? text : `"${text}"`)).join(' ');
  if (!isQuotedText(quoted)) return '';
  const text = unquoteText(quoted);
  return text === null || text === '' || text.startsWith('"') || text.search(unseen) >= 0 ? quoted : text;
};

/**
 * The name of a zone as `--origin` states it, in lower case and without a final dot; `reason` is the option that needs
 * it. Throws an ArgumentError if it is missing or no name.
 */
export const originFrom = (origin: unknown, reason: string): string => {
  if (typeof origin !== 'string')
    throw new ArgumentError(`${reason} needs --origin, the name of the zone, such as example.net`);
  const name = canonicalHost(origin);
  if (!nameLabelsOf(name).every(isReverseLabel))
    throw new ArgumentError(`--origin: ${quote(origin)} is not the name of a zone, such as example.net`);
  return name;
};
