/*
 * The ways in which a service or a library may encode a secret, as regular expressions: each character in
 * either case and in any escape, or all of it in base64 or hex.
 */

/** Parts that every text with the secret contains. Looking for them takes a tenth of the time of the expression. */
export interface Spelling {
  readonly pattern: string;
  /** Parts with only one form. */
  readonly exact: readonly string[];
  /** Parts that may be in either case, here in capitals. */
  readonly capitals: readonly string[];
  /** Without these escape characters in a text, every character of the secret is itself. */
  readonly escapes: readonly string[];
}

export const spellingOf = (secret: string): Spelling => {
  const formEncoded = new URLSearchParams({ '': secret }).toString().slice(1);
  const urlEncoded = encodeURIComponent(Buffer.from(secret).toString());
  const sources = [...new Set([secret, formEncoded, urlEncoded])];
  // The longest first: one may start with another, as `%` and `+` do in base64.
  const encoded = sources.flatMap(base64Of).sort((a, b) => b.inside.length - a.inside.length);
  const hex = sources.map((source) => Buffer.from(source).toString('hex'));
  return {
    // The longest first: the hex of one token may start with a shorter token.
    pattern: [...hex.map(anyCase), ...encoded.map(inBase64), inEscapes(secret)].join('|'),
    exact: encoded.flatMap(({ inside }) => [inside, forUrls(inside)]),
    capitals: [secret, ...hex].map((text) => text.toUpperCase()),
    escapes: [
      '%',
      '&#',
      '\\u',
      '\\/',
      ...Array.from(secret).flatMap((character) => otherWays[character]?.sign ?? []),
    ],
  };
};

interface Base64 {
  /** The characters that encode only the secret. */
  readonly inside: string;
  /** Whether the character before, or the one after, encodes a part of it. */
  readonly before: boolean;
  readonly after: boolean;
}

/** For a secret that starts at the first, second or third byte of a group. */
const base64Of = (secret: string): Base64[] =>
  [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const inside = bytes
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    const ends = { before: offset > 0, after: bytes.length % 3 > 0 };
    // A few characters could be in any text.
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

/** Each character in all its forms, the plain one last: `&` starts `&amp;`. */
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

/** Other forms of single characters, and the escape character that each form contains. */
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
