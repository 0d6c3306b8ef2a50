import type { CanonicalRecord } from '../model/canonical.ts';
import { isPlaceholder } from '../model/placeholder.ts';

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

/** Whether one of the names is the other one with a placeholder for the domain, or the final dot, behind it. */
const isRespelled = (one: string, other: string): boolean => {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short === long || !long.startsWith(short)) return false;
  const ending = long.slice(short.length);
  return ending === '.' || isPlaceholder(short === '' ? ending : ending.replace(/^\./, ''));
};

/** A record without a name may be stored under a whole domain or a placeholder for one. */
const isLonger = (long: string, short: string): boolean =>
  short === '' ? /[.#]/.test(long) : long.startsWith(`${short}.`);

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

/** The names that this name extends. */
const beginningsOf = (name: string): string[] =>
  [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index));

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}*]/gu, '');
