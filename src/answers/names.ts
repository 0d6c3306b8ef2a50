import { canonicalHost } from '../model/host.ts';

/** Names as they are asked for: lower case, A-labels, without a dot at the end. */

/** Null at the root. */
export const parentOf = (name: string): string | null => {
  const dot = name.indexOf('.');
  return dot === -1 ? null : name.slice(dot + 1);
};

/** Whether a name is the zone's apex, or below it. */
export const isWithin = (name: string, zone: string): boolean =>
  name === zone || zone === '.' || name.endsWith(`.${zone}`);

/**
 * The absolute name of a record of a subdomain, whose name may be relative or end in the subdomain. Null if a
 * message cannot contain it.
 */
export const absoluteName = (subdomain: string, name: string | null): string | null => {
  const plain = name === null || name === '@' ? '' : canonicalHost(name);
  const absolute = plain === '' ? subdomain : isWithin(plain, subdomain) ? plain : `${plain}.${subdomain}`;
  return isName(absolute) ? absolute : null;
};

/** The name for a report: null for the subdomain itself. */
export const relativeName = (subdomain: string, name: string): string | null =>
  name === subdomain ? null : name.slice(0, -subdomain.length - 1);

/** RFC 1035 §3.1, in ASCII. */
export const isName = (name: string): boolean =>
  name.length <= 253 && name.split('.').every((label) => /^[!-~]{1,63}$/.test(label));
