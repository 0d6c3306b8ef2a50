/*
 * The ways in which a service or a library may write a secret that it was sent, as regular expressions: each character
 * in either case and in any escape, or all of it in base64 or hex.
 */

/** How a text shows that it may hold the secret. To look for these takes a tenth of the time that an expression takes. */
export interface Spelling {
  readonly pattern: string;
  /** Parts of it that are written in one way only. */
  readonly exact: readonly string[];
  /** Those that are written in either case, here in capitals. */
  readonly capitals: readonly string[];
  /** In a text without these every character of the secret stands for itself. */
  readonly signs: readonly string[];
}

export const spellingOf = (secret: string): Spelling => {
  const formEncoded = new URLSearchParams({ '': secret }).toString().slice(1);
  const urlEncoded = encodeURIComponent(Buffer.from(secret).toString());
  const sources = [...new Set([secret, formEncoded, urlEncoded])];
  const encoded = sources.flatMap(base64Of);
  const hex = sources.map((source) => Buffer.from(source).toString('hex'));
  return {
    // The longest first: the hex of a token may begin with a shorter token.
    pattern: [...hex.map(anyCase), ...encoded.map(inBase64), inEscapes(secret)].join('|'),
    exact: encoded.flatMap(({ inside }) => [inside, forUrls(inside)]),
    capitals: [secret, ...hex].map((text) => text.toUpperCase()),
    signs: [
      '%',
      '&#',
      '\\u',
      '\\/',
      ...Array.from(secret).flatMap((character) => otherWays[character]?.sign ?? []),
    ],
  };
};

interface Base64 {
  /** The characters that hold nothing but the secret. */
  readonly inside: string;
  /** Whether the one before, and the one after, holds a part of it. */
  readonly before: boolean;
  readonly after: boolean;
}

/** Of a secret that begins at the first, second or third byte of a group. */
const base64Of = (secret: string): Base64[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const inside = bytes
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    const ends = { before: offset > 0, after: bytes.length % 3 > 0 };
    // Few characters stand in other texts too.
    return inside.length >= minInside ? [{ inside, ...ends }] : [];
  });

const minInside = 5;

const inBase64 = ({ inside, before, after }: Base64): string =>
  [
    before ? `${anyOfBase64}?` : '',
    ...Array.from(inside, (sign) =>
      sign === '+' || sign === '/'
        ? `(?:${[...waysOf(sign), literal(sign), forUrls(sign)].join('|')})`
        : sign,
    ),
    after ? `${anyOfBase64}?` : '',
    '(?:=|%(?:25)*3[dD])*',
  ].join('');

const anyOfBase64 = '(?:[\\w+/-]|%(?:25)*2[bBfF])';

const forUrls = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

/** Each character in all its ways, itself being the last: `&` begins `&amp;`. */
const inEscapes = (secret: string): string =>
  Array.from(secret, (character) => {
    const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])];
    return `(?:${[...cases.flatMap(waysOf), ...cases.map(literal)].join('|')})`;
  }).join('');

const waysOf = (character: string): string[] => {
  const code = character.codePointAt(0) ?? 0;
  const bytes = Array.from(Buffer.from(character), (byte) => byte.toString(16).padStart(2, '0'));
  return [
    bytes.map((byte) => `%(?:25)*${anyCase(byte)}`).join(''),
    Array.from({ length: character.length }, (_, at) => `\\\\+u${anyCase(codeUnit(character, at))}`).join(''),
    `&#0*${code};`,
    `&#[xX]0*${anyCase(code.toString(16))};`,
    ...(otherWays[character]?.ways ?? []),
  ];
};

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const codeUnit = (character: string, at: number): string =>
  character.charCodeAt(at).toString(16).padStart(4, '0');

const anyCase = (hex: string): string =>
  hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

/** How else single characters are written, and what is there wherever they are. */
const otherWays: Readonly<
  Record<string, { readonly sign: readonly string[]; readonly ways: readonly string[] }>
> = {
  ' ': { sign: ['+'], ways: ['\\+'] },
  '\n': { sign: ['\\n'], ways: ['\\\\+n'] },
  '\r': { sign: ['\\r'], ways: ['\\\\+r'] },
  '\t': { sign: ['\\t'], ways: ['\\\\+t'] },
  '\b': { sign: ['\\b'], ways: ['\\\\+b'] },
  '\f': { sign: ['\\f'], ways: ['\\\\+f'] },
  '&': { sign: ['&amp;'], ways: ['&amp;'] },
  '<': { sign: ['&lt;'], ways: ['&lt;'] },
  '>': { sign: ['&gt;'], ways: ['&gt;'] },
  '"': { sign: ['&quot;', '\\"'], ways: ['&quot;', '\\\\+"'] },
  '\\': { sign: ['\\'], ways: ['\\\\+'] },
  '/': { sign: ['\\/'], ways: ['\\\\+/'] },
  "'": { sign: ['&apos;'], ways: ['&apos;'] },
};
