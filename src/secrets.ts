import { spellingOf } from './spellings.ts';

/**
 * A function that replaces every given secret in a text by `[secret]`, however a service or a library spells it: in
 * another case, URL-encoded (also with `+` for a blank), JSON-escaped or as HTML entities, or a mixture of them, in
 * base64 or in hex.
 */
export const redactor = (secrets: readonly string[]): ((text: string) => string) => {
  // The longest first, so that a secret which begins with another one is replaced whole.
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  const minLength = known.at(-1)?.length;
  if (minLength === undefined) return (text) => text;
  const spellings = known.map(spellingOf);
  const asIs = [...new Set(spellings.flatMap(({ exact, signs }) => [...signs, ...exact]))];
  const capitals = spellings.flatMap((spelling) => spelling.capitals);
  const mayHoldOne = (text: string): boolean => {
    if (text.length < minLength) return false;
    if (asIs.some((part) => text.includes(part))) return true;
    const upper = text.toUpperCase();
    return capitals.some((part) => upper.includes(part));
  };
  const pattern = new RegExp(spellings.map((spelling) => spelling.pattern).join('|'), 'g');
  const replaceWhole = (text: string): string =>
    mayHoldOne(text) ? text.replace(pattern, '[secret]') : text;
  return (text) => withoutBeginnings(replaceWhole(text), known);
};

/** Messages quote only the beginning of a long text, and so perhaps of a secret. */
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

/** Of fewer characters nothing can be told that a word might not be. */
const minBeginning = 8;

/** Shorter ones stand in ordinary words too: a mark in each of those places would only tell what the secret is. */
export const minSecretLength = 4;

type Redact = (text: string) => string;

/** The same value, every text in it cleaned, whatever its key: for what came with an answer and holds nothing of ours. */
export const redactAll = <T>(value: T, redact: Redact): T => redactValue(value, redact, () => false);

/**
 * The same value, every text in it cleaned: whatever came with an answer or a file may repeat a secret. What is our
 * own word stays, so that a token which is such a word spoils nothing for those who read it; so do keys, but where
 * `cleanKey` says otherwise.
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

/** Under these keys stand words out of a fixed list, times and ids of ours; whatever has another form is no such thing. */
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
