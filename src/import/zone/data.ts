import { quote } from '../../desired/problem.ts';
import { isWarning } from '../../desired/check-id.ts';
import { ArgumentError } from '../../errors.ts';
import { canonicalHost, isReverseLabel, nameLabelsOf, unescapedName } from '../../model/host.ts';
import { isQuotedText, unquoteText } from '../../model/quoted-text.ts';
import type { RecordData } from '../../model/record.ts';
import { definitionOf } from '../../model/types/table.ts';
import { isUnsigned16 } from '../../model/types/srv.ts';
import { unseen } from '../../lib/escape-control.ts';
import { ZoneMistake, type ZoneWord } from './entries.ts';

/**
 * What a record says, or why it is not to be in a template. `wholeName` makes a whole name of a host as it is written. Throws a
 * `ZoneMistake`.
 */
export const readData = (
  type: string,
  words: readonly ZoneWord[],
  wholeName: (name: string) => string,
): Pick<RecordData, 'content' | 'priority'> | string => {
  const definition = definitionOf(type);
  const shown = words.map(({ text }) => text).join(' ');
  if (!definition) return { content: shown, priority: null };
  if (words[0]?.text === String.raw`\#`) return 'is in the notation of unknown types';
  const { hasPriority, target, parts } = definition;
  const texts = type === 'TXT' ? [textOf(words)] : words.map(({ text }) => text);
  if (texts.length !== Number(hasPriority) + (parts ? 3 : 1) || texts[0] === '')
    throw new ZoneMistake(
      shown === ''
        ? `no data follows the type ${type}`
        : `${quote(shown)} is not what a record of type ${type} has`,
    );
  const priority = hasPriority ? texts.shift()! : null;
  if (priority !== null && !isUnsigned16(priority))
    throw new ZoneMistake(`${quote(priority)} is not a priority`);
  if (target) {
    const host = wholeName(texts.pop()!);
    if (!isWholeName(host)) throw new ZoneMistake(`${quote(host)} is not the name of a host`);
    if (isUnstatable(unescapedName(host))) return 'has a host that a template cannot state';
    // As template files have hosts: without the final dot.
    texts.push(host === '.' ? host : unescapedName(host.slice(0, -1)));
  }
  const content = texts.join(' ');
  const checked = { name: null, content, canonical: { name: '', content: definition.canonical(content) } };
  for (const { id, at, find } of definition.checks) {
    const objection = at === 'content' && !isWarning(id) ? find(checked, quote) : null;
    if (objection !== null) throw new ZoneMistake(objection);
  }
  return { content, priority: priority === null ? null : Number(priority) };
};

/** Without quotation marks and escapes if it is the same text without them; empty if it is none. */
const textOf = (words: readonly ZoneWord[]): string => {
  const bare = words.filter(({ text }) => !text.startsWith('"'));
  // Blanks, and what follows a `;`, would be lost, which nobody means.
  const isSplit = words.length > 1 && bare.length === words.length;
  const lost = bare.find(({ isCut }) => isCut || isSplit);
  if (lost)
    throw new ZoneMistake(`${quote(lost.text)}: a text with blanks or a \`;\` has to be in quotation marks`);
  const quoted = words.map((word) => (bare.includes(word) ? `"${word.text}"` : word.text)).join(' ');
  if (!isQuotedText(quoted)) return '';
  const text = unquoteText(quoted);
  return text === null || text === '' || text.startsWith('"') || text.search(unseen) >= 0 ? quoted : text;
};

/** RFC 1035 §2.3.4: 63 octets a label, and 255 a name, with those before each label. */
export const isWholeName = (name: string): boolean =>
  name === '.' ||
  (/^(?:(?:[^\\.]|\\\d{3}|\\\D){1,63}\.)+$/.test(name) && name.replace(/\\(?:\d{3}|\D)/g, 'x').length <= 254);

/** Template files know no escapes in names. */
export const isUnstatable = (name: string): boolean => /[\\"@]|[^!-~]/.test(name);

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
