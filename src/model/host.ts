import { domainToASCII } from 'node:url';

/** Lower case, A-labels, one trailing dot dropped; a lone `.` stays. */
export const canonicalHost = (host: string): string => {
  const labels = canonicalLabels(host);
  return /[^.]\.$/.test(labels) ? labels.slice(0, -1) : labels;
};

/** Of a text with gaps: what stays as it is, for a gap in it, is at least in lower case. */
export const canonicalHostPattern = (text: string): string => canonicalHost(text).toLowerCase();

const plainLabels = /^[a-z0-9._*-]*$/;
const asciiOnly = /^[\x00-\x7f]*$/;

/** Lower case, A-labels. */
export const canonicalLabels = (name: string): string => {
  if (plainLabels.test(name)) return name;
  if (asciiOnly.test(name)) return name.toLowerCase();
  return name
    .split('.')
    .map((label) => (asciiOnly.test(label) ? label.toLowerCase() : aLabel(label)))
    .join('.');
};

/**
 * UTS 46, non-transitional. The platform's function takes a whole host as it stands in a URL: ASCII characters
 * that mean something there keep the label out of it, and a last label of letters keeps it from reading numbers
 * in other scripts as an IPv4 address.
 */
const aLabel = (label: string): string => {
  if (/[\x00-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(label)) return label;
  const ascii = domainToASCII(`${label}.x`);
  return ascii.length <= '.x'.length ? label : ascii.slice(0, -'.x'.length);
};

/** What parked records point at: it never resolves (RFC 2606 §2). */
export const inertHost = 'parked.invalid';
