import type { CanonicalRecord } from '../model/canonical.ts';
import { finalPlaceholder } from '../model/placeholder.ts';

/*
 * The one comparison of spellings: whether one record may be the other, as a service stores it. All names are canonical.
 */

/**
 * Whether one record may be the other under another name: the same name in another spelling, whatever the content; or the
 * same content at a name that is longer or shorter by whole labels.
 */
export const mayBe = (one: CanonicalRecord, other: CanonicalRecord): boolean => {
  if (one.type !== other.type || one.name === other.name) return false;
  if (isRespelled(one.name, other.name)) return true;
  const isSameContent = one.content === other.content && one.priority === other.priority;
  return isSameContent && (isLonger(one.name, other.name) || isLonger(other.name, one.name));
};

/** Whether a record that was sent with the first name has it, also in the service's spelling. */
export const isNamed = (sent: string, name: string): boolean =>
  sent === name || isRespelled(sent, name) || isLonger(sent, name) || isLonger(name, sent);

/** Whether names differ by a placeholder for the domain or a final dot alone. */
export const isBareSame = (one: string, other: string): boolean => bareName(one) === bareName(other);

/** Whether names have the same letters and digits, or differ as `isBareSame` says. */
export const isRespelled = (one: string, other: string): boolean =>
  isBareSame(one, other) || (lettersOf(one) !== '' && lettersOf(one) === lettersOf(other));

/** A name without a placeholder for the domain, or the final dot, behind it. */
export const bareName = (name: string): string =>
  /[.#}>%]$/.test(name) ? name.replace(finalPlaceholder, '').replace(/\.$/, '') : name;

const isLonger = (long: string, short: string): boolean =>
  short === '' ? isDomain(long) : long.startsWith(`${short}.`);

/** A record without a name may be stored under a whole domain or a placeholder for one; not under a name before that. */
const isDomain = (name: string): boolean => {
  const bare = bareName(name);
  const isWhole = bare === name || `${bare}.` === name;
  return isWhole ? /^[^*].*[.#]/.test(bare) : bare === '';
};

/** The letters and digits of a text, and stars, which mean something in names. */
export const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}*]/gu, '');
