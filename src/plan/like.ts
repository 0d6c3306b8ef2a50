import type { CanonicalRecord } from '../model/canonical.ts';
import { finalPlaceholder } from '../model/placeholder.ts';

/**
 * Whether one record may be the other as a service stores it: the same content at a name that is longer or
 * shorter by whole labels, or the same name in another spelling.
 */
export const isLike = (one: CanonicalRecord, other: CanonicalRecord): boolean => {
  if (one.type !== other.type || one.name === other.name) return false;
  const isSameContent = one.content === other.content && one.priority === other.priority;
  if (isSameContent && (isLonger(one.name, other.name) || isLonger(other.name, one.name))) return true;
  return lettersOf(one.name) !== '' && lettersOf(one.name) === lettersOf(other.name);
};

/** The same, also with other content at a name that is longer by a placeholder or a final dot alone. */
export const isPerhaps = (one: CanonicalRecord, other: CanonicalRecord): boolean =>
  isLike(one, other) || (one.type === other.type && isRespelled(one.name, other.name));

const isRespelled = (one: string, other: string): boolean =>
  one !== other && bareName(one) === bareName(other);

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

/** Whether a name may be the service's spelling of one of `names`. */
export const mayBeOneOf = (names: ReadonlySet<string>): ((name: string) => boolean) => {
  if (names.size === 0) return () => false;
  const shorter = new Set([...names].flatMap(beginningsOf));
  const letters = new Set([...names].map(lettersOf));
  const hasDomain = [...names].some((name) => isLonger(name, ''));
  return (name) => {
    if (name === '') return hasDomain;
    const isMadeLonger = beginningsOf(name).some((one) => names.has(one));
    if (isMadeLonger || shorter.has(name) || (names.has('') && isLonger(name, ''))) return true;
    return lettersOf(name) !== '' && letters.has(lettersOf(name));
  };
};

/** Whether a record that was sent with the first name has it, also in the service's spelling. Both canonical. */
export const isNamed = (sent: string, name: string): boolean =>
  sent === name || mayBeOneOf(new Set([sent]))(name);

/** The names that this name extends. */
const beginningsOf = (name: string): string[] =>
  [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index));

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}*]/gu, '');
