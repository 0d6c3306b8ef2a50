const quotedStrings = /^"(?:[^"\\]|\\[^])*"(?:[ \t]*"(?:[^"\\]|\\[^])*")*[ \t]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of adjacent quoted strings in presentation format (RFC 1035 §5.1); null if it does not parse or is
 * not UTF-8.
 */
export const unquoteText = (content: string): string | null => {
  const inner = innerOf(content);
  if (inner === null || !inner.includes('\\')) return inner;
  const octets = unescapeText(inner);
  try {
    return octets && utf8.decode(octets);
  } catch {
    return null;
  }
};

/** Whether it is that, of UTF-8 or of other octets. */
export const isQuotedText = (content: string): boolean => {
  const inner = innerOf(content);
  return inner !== null && unescapeText(inner) !== null;
};

/** One quoted string of at most 255 octets (RFC 1035 §3.3), in ASCII, as BIND writes it. */
export const quoteOctets = (octets: Uint8Array): string => `"${[...octets].map(escaped).join('')}"`;

const escaped = (octet: number): string => {
  if (octet < 0x20 || octet >= 0x7f) return `\\${String(octet).padStart(3, '0')}`;
  return `${octet === 0x22 || octet === backslash ? '\\' : ''}${String.fromCharCode(octet)}`;
};

/** Null if the quotation marks do not match. */
const innerOf = (content: string): string | null =>
  quotedStrings.test(content)
    ? content
        .trimEnd()
        .slice(1, -1)
        .replace(/\\[^]|"[ \t]*"/g, (part) => (part.startsWith('"') ? '' : part))
    : null;

const unescapeText = (text: string): Buffer | null => {
  const source = Buffer.from(text, 'utf8');
  const octets = Buffer.alloc(source.length);
  let length = 0;
  for (let at = 0; at < source.length; at += 1) {
    let octet = source[at]!;
    if (octet === backslash) {
      const digits = source.subarray(at + 1, at + 4).toString('latin1');
      const isNumber = /^\d/.test(digits);
      if (isNumber && (!/^\d{3}$/.test(digits) || Number(digits) > 255)) return null;
      octet = isNumber ? Number(digits) : source[at + 1]!;
      at += isNumber ? 3 : 1;
    }
    octets[length] = octet;
    length += 1;
  }
  return octets.subarray(0, length);
};

const backslash = 0x5c;
