import { spellingOf } from './spellings.ts';

/**
 * Makes a function that replaces every given secret in a text by `[secret]`, however a service or a library
 * encodes it: in another case, URL-encoded (also with `+` for a blank), JSON-escaped or as HTML entities, or
 * a mixture of them, in base64 or in hex.
 */
export const redactor = (secrets: readonly string[]): ((text: string) => string) => {
  // The longest first, so that a secret that starts with another one is replaced completely.
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  const minLength = known.at(-1)?.length;
  if (minLength === undefined) return (text) => text;
  const spellings = known.map(spellingOf);
  const containsAsIs = containsAny(spellings.flatMap(({ exact, escapes }) => [...escapes, ...exact]));
  const containsCapitals = containsAny(spellings.flatMap((spelling) => spelling.capitals));
  const mayHoldOne = (text: string): boolean =>
    text.length >= minLength && (containsAsIs(text) || containsCapitals(text.toUpperCase()));
  // With thousands of secrets it takes seconds to make.
  let pattern: RegExp | null = null;
  const replaceWhole = (text: string): string => {
    if (!mayHoldOne(text)) return text;
    pattern ??= new RegExp(spellings.map((spelling) => spelling.pattern).join('|'), 'g');
    return text.replace(pattern, '[secret]');
  };
  return (text) => withoutBeginnings(replaceWhole(text), known);
};

/** The same for secrets that may become more. What is given is another array, or a longer one, where they are others. */
export const currentRedactor = (secrets: () => readonly string[]): (() => (text: string) => string) => {
  let known: readonly string[] = [];
  let count = 0;
  let redact = redactor(known);
  return () => {
    const now = secrets();
    if (now !== known || now.length !== count) [known, count, redact] = [now, now.length, redactor(now)];
    return redact;
  };
};

/** Messages quote only the beginning of a long text, which may cut a secret. */
const withoutBeginnings = (text: string, secrets: readonly string[]): string => {
  if (!text.includes('...') && !text.includes('…')) return text;
  const parts = text.split(/(\.\.\.|…)/);
  return parts
    .map((part, index) => (index % 2 === 0 && index < parts.length - 1 ? withoutEnd(part, secrets) : part))
    .join('');
};

const withoutEnd = (part: string, secrets: readonly string[]): string => {
  for (const secret of secrets) {
    for (let length = secret.length - 1; length >= minBeginning; length -= 1) {
      if (part.slice(-length).toUpperCase() === secret.slice(0, length).toUpperCase())
        return `${part.slice(0, -length)}[secret]`;
    }
  }
  return part;
};

/** Fewer characters could be part of any word. */
const minBeginning = 8;

/** Shorter ones occur in ordinary words: replacing them there would reveal the secret. */
export const minSecretLength = 4;

type Redact = (text: string) => string;

/** Redacts every text in a value, under any key: for values that come from an answer. */
export const redactAll = <T>(value: T, redact: Redact): T => redactValue(value, redact, () => false);

/**
 * Redacts every text in a value, since answers and files may repeat a secret. Fixed words of this program
 * stay, so that a token that equals one does not garble the output; keys stay too, unless `redactKey` is
 * given.
 */
export const redactTexts = <T>(value: T, redact: Redact, redactKey?: Redact): T =>
  redactValue(value, redact, isOwn, redactKey);

const redactValue = <T>(
  value: T,
  redact: Redact,
  stays: typeof isOwn,
  redactKey: Redact = (key) => key,
): T => {
  const visit = (part: unknown, key: string): unknown => {
    if (typeof part === 'string') return stays(key, part) ? part : redact(part);
    if (Array.isArray(part)) return part.map((inner) => visit(inner, key));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([inner, one]) => [redactKey(inner), visit(one, inner)]),
    );
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text stays a text, all else what it was
  return visit(value, '') as T;
};

/** Under these keys are fixed words, times and ids of this program, if they have that form. */
const isOwn = (key: string, text: string): boolean => ownKeys.has(key) && ownForm.test(text);

const ownKeys: ReadonlySet<string> = new Set([
  'action',
  'asOf',
  'at',
  'cause',
  'check',
  'event',
  'fields',
  'health',
  'kind',
  'level',
  'next',
  'operation',
  'outcome',
  'reason',
  'retryAt',
  'run',
  'running',
  'schema',
  'severity',
  'startedAt',
  'status',
  'time',
  'trigger',
  'type',
  'waiting',
  'worst',
]);

const ownForm =
  /^(?:A|AAAA|CNAME|MX|PTR|SRV|TXT|dns-template-sync\/[a-z]+\/v\d|[a-z]+(?:[.-][a-z]+)*|\d{4}-\d\d-\d\dT[\d:.]+Z|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** Tells whether a text contains one of these parts, in a time that does not grow with their number. */
export const containsAny = (parts: readonly string[]): ((text: string) => boolean) => {
  const distinct = [...new Set(parts)];
  if (distinct.length <= few) return (text) => distinct.some((part) => text.includes(part));
  const short = distinct.filter(({ length }) => length < minWidth);
  const long = distinct.filter(({ length }) => length >= minWidth);
  const width = Math.min(maxWidth, ...long.map(({ length }) => length));
  const byBeginning = new Map<string, string[]>();
  for (const part of long) {
    const beginning = part.slice(0, width);
    const known = byBeginning.get(beginning);
    if (known) known.push(part);
    else byBeginning.set(beginning, [part]);
  }
  return (text) => {
    if (short.some((part) => text.includes(part))) return true;
    for (let at = 0; at + width <= text.length; at += 1) {
      const candidates = byBeginning.get(text.slice(at, at + width));
      if (candidates?.some((part) => text.startsWith(part, at)) === true) return true;
    }
    return false;
  };
};

/** Looking for so many one by one is quicker. */
const few = 100;
/** Characters of a part by which it is found. */
const minWidth = 4;
const maxWidth = 8;
