import type { CanonicalRecord } from '../model/canonical.ts';

/**
 * Whether one record may be the other as a service keeps it: the same content at a name that was made longer or
 * shorter by whole labels, or the same name in another spelling.
 */
export const isLike = (one: CanonicalRecord, other: CanonicalRecord): boolean => {
  if (one.type !== other.type || one.name === other.name) return false;
  const isSameContent = one.content === other.content && one.priority === other.priority;
  if (isSameContent && (isLonger(one.name, other.name) || isLonger(other.name, one.name))) return true;
  return lettersOf(one.name) !== '' && lettersOf(one.name) === lettersOf(other.name);
};

/** Beneath no name at all stands what is a whole domain, or stands for one. */
const isLonger = (long: string, short: string): boolean =>
  short === '' ? /[.#]/.test(long) : long.startsWith(`${short}.`);

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}*]/gu, '');
