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

/** RFC 1123 §2.1: letters, digits and inner hyphens. In canonical form, as below. */
export const isHostLabel = (label: string): boolean => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label);

/** Names of services, keys and policies begin with an underscore, and CNAMEs point at them. */
export const isNameLabel = (label: string): boolean => /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label);

/** RFC 2317: reverse zones smaller than a class C network have a slash in their name. */
export const isReverseLabel = (label: string): boolean => /^[a-z0-9_](?:[a-z0-9_/-]*[a-z0-9_])?$/.test(label);

/** Of a name in canonical form, which keeps the dot that may end it. */
export const nameLabelsOf = (name: string): string[] =>
  (name.length > 1 && name.endsWith('.') ? name.slice(0, -1) : name).split('.');

/** Why no host holds a text that a pattern asks for. */
export const whyNotInHost = (text: string, isWhole: boolean): string | null =>
  !isWhole && /[^\x00-\x7f]/.test(text)
    ? 'hosts and names are compared in their ASCII form (`xn--…`), and a label with a star in it has none'
    : null;

/** The same of a content that is a host and nothing else. */
export const whyNotInHostAlone = (type: string, text: string, isWhole: boolean): string | null =>
  /\s/.test(text) ? `the content of ${type} is a host alone, without blanks` : whyNotInHost(text, isWhole);
