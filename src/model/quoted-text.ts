const quotedStrings = /^"(?:[^"\\]|\\[^])*"(?:[ \t]*"(?:[^"\\]|\\[^])*")*[ \t]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of adjacent quoted strings in presentation format (RFC 1035 §5.1); null if it does not parse or is
 * not UTF-8.
 */
export const unquoteText = (content: string): string | null => {
  if (!quotedStrings.test(content)) return null;
  const inner = content
    .trimEnd()
    .slice(1, -1)
    .replace(/\\[^]|"[ \t]*"/g, (part) => (part.startsWith('"') ? '' : part));
  if (!inner.includes('\\')) return inner;
  return unescapeText(inner);
};

const unescapeText = (text: string): string | null => {
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
  try {
    return utf8.decode(octets.subarray(0, length));
  } catch {
    return null;
  }
};

const backslash = 0x5c;
