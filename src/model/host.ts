import { domainToASCII } from 'node:url';

/** Lower case, A-labels, one trailing dot dropped; a lone `.` stays. */
export const canonicalHost = (host: string): string => {
  const labels = canonicalLabels(host);
  return /[^.]\.$/.test(labels) ? labels.slice(0, -1) : labels;
};

/** For a text with gaps: labels with a gap are only converted to lower case. */
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
 * UTS 46, non-transitional. The platform's function takes the host of a URL. So labels with ASCII characters
 * that are special in URLs are not passed to it, and a last label of letters is added, or it would read
 * numbers in other scripts as an IPv4 address.
 */
const aLabel = (label: string): string => {
  if (/[\x00-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(label)) return label;
  const ascii = domainToASCII(`${label}.x`);
  return ascii.length <= '.x'.length ? label : ascii.slice(0, -'.x'.length);
};

/** The target of parked records: it never resolves (RFC 2606 §2). */
export const inertHost = 'parked.invalid';

/** RFC 1123 §2.1: letters, digits and inner hyphens. In canonical form, as below. */
export const isHostLabel = (label: string): boolean => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label);

/** Names of services, keys and policies start with an underscore, and CNAMEs point at them. */
export const isNameLabel = (label: string): boolean => /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label);

/** RFC 2317: reverse zones smaller than a class C network have a slash in their name. */
export const isReverseLabel = (label: string): boolean => /^[a-z0-9_](?:[a-z0-9_/-]*[a-z0-9_])?$/.test(label);

/** The labels of a canonical name, which may have a final dot. */
export const nameLabelsOf = (name: string): string[] =>
  (name.length > 1 && name.endsWith('.') ? name.slice(0, -1) : name).split('.');

/** Why a text in a pattern cannot match any host; null if it can. */
export const whyNotInHost = (text: string, isWhole: boolean): string | null =>
  !isWhole && /[^\x00-\x7f]/.test(text)
    ? 'hosts and names are compared in their ASCII form (`xn--…`), and a label with a star in it has none'
    : null;

/** The same for contents that are a host only. */
export const whyNotInHostAlone = (type: string, text: string, isWhole: boolean): string | null =>
  /\s/.test(text) ? `the content of ${type} is a host alone, without blanks` : whyNotInHost(text, isWhole);
