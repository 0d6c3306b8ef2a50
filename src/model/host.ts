import { domainToASCII } from 'node:url';

/** Lower case, A-labels, one trailing dot dropped; a lone `.` stays. */
export const canonicalHost = (host: string): string => {
  const labels = canonicalLabels(host);
  return /[^.]\.$/.test(labels) ? labels.slice(0, -1) : labels;
};

/** For a text with gaps: labels with a gap are only converted to lower case. */
export const canonicalHostPattern = (text: string): string => canonicalHost(text).toLowerCase();

/** Labels with letters beyond ASCII as A-labels, the others as they are. */
export const asciiLabels = (name: string): string => mappedLabels(name, (label) => label);

/** Only labels of ASCII are mapped by `ascii`. */
const mappedLabels = (name: string, ascii: (text: string) => string): string =>
  asciiOnly.test(name)
    ? ascii(name)
    : name
        .split('.')
        .map((label) => (asciiOnly.test(label) ? ascii(label) : aLabel(label)))
        .join('.');

const plainLabels = /^[a-z0-9._*-]*$/;
const asciiOnly = /^[\x00-\x7f]*$/;

/** Lower case, A-labels. */
export const canonicalLabels = (name: string): string =>
  plainLabels.test(name) ? name : mappedLabels(name, (text) => text.toLowerCase());

/**
 * Escapes of letters, digits, `-`, `_` and `*` undone. `\X` is that letter, and `\DDD` a decimal number (RFC 1035 §5.1); but
 * Route 53 and others write octal numbers, `\052` for `*` and `\137` for `_`, where nobody escapes a digit.
 */
export const unescapedName = (name: string): string =>
  name.includes('\\')
    ? name.replaceAll(/\\(?:(\d{3})|(\D))/g, (escape: string, code: string | undefined, sign: string) => {
        if (code === undefined) return /^[\w*-]$/.test(sign) ? sign : escape;
        const octal = /^[0-7]+$/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : '';
        const decimal = String.fromCharCode(Number(code));
        if (/^[-_*]$/.test(octal)) return octal;
        return /^[\w*-]$/.test(decimal) ? decimal : escape;
      })
    : name;

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
