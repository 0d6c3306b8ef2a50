type Redact = (text: string) => string;

/**
 * Makes a function that replaces every given secret in a text by `[secret]`: as it is, URL-, form-, JSON- or
 * HTML-encoded, or in base64. Not where several of these are mixed.
 */
export const redactor = (secrets: readonly string[]): Redact => {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  if (known.length === 0) return (text) => text;
  const replaceForms = replaceAny(known.flatMap(formsOf));
  return (text) => withoutBeginnings(replaceForms(text), known);
};

/** Shorter ones occur in ordinary words: replacing them there would reveal the secret. */
export const minSecretLength = 4;

/** The same for secrets that may become more: then what is given is another array, or a longer one. */
export const currentRedactor = (secrets: () => readonly string[]): (() => Redact) => {
  let known: readonly string[] = [];
  let count = 0;
  let redact = redactor(known);
  return () => {
    const now = secrets();
    if (now !== known || now.length !== count) [known, count, redact] = [now, now.length, redactor(now)];
    return redact;
  };
};

const formsOf = (secret: string): readonly string[] => {
  // Host names are compared and shown in small letters.
  const plain = [secret, secret.toLowerCase()];
  if (/^[\w.-]*$/.test(secret)) return [...plain, ...inBase64(secret)];
  const text = Buffer.from(secret).toString();
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    ...plain,
    encodeURI(text),
    encodeURIComponent(text),
    new URLSearchParams({ '': secret }).toString().slice(1),
    json,
    json.replaceAll('/', '\\/'),
    ...inHtml(secret),
    ...inBase64(secret),
  ];
};

/** As text, and as an attribute. */
const inHtml = (secret: string): readonly string[] => {
  const text = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const attribute = text.replaceAll('"', '&quot;');
  return [text, ...["'", '&#39;', '&#039;', '&#x27;'].map((sign) => attribute.replaceAll("'", sign))];
};

/** Also inside a longer one, where a secret may start at the first, second or third byte of a group. */
const inBase64 = (secret: string): readonly string[] =>
  (['base64', 'base64url'] as const).flatMap((form) => [
    Buffer.from(secret).toString(form),
    ...[0, 1, 2].flatMap((offset) => {
      const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
      // The characters that encode nothing else. A few could be in any text.
      const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
      return to - from < 5 ? [] : bytes.toString(form).slice(from, to);
    }),
  ]);

/** In a time that does not grow with their number. The longest first: a secret may start with another one. */
const replaceAny = (texts: readonly string[]): Redact => {
  const whole = new Set(texts);
  const lengthsBy = new Map<number, number[]>();
  for (const text of [...whole].toSorted((a, b) => b.length - a.length)) {
    const first = [0, 1, 2, 3].reduce((last, at) => next(last, text, at), 0);
    const lengths = lengthsBy.get(first) ?? [];
    if (lengths.at(-1) !== text.length) lengths.push(text.length);
    lengthsBy.set(first, lengths);
  }
  // Few of all beginnings may count as one of theirs, and each pass makes such a function for two secrets.
  const bits = Math.min(20, 8 + Math.ceil(Math.log2(lengthsBy.size)));
  const mayBegin = new Uint8Array(2 ** bits);
  for (const first of lengthsBy.keys()) mayBegin[placeOf(first, bits)] = 1;
  return (text) => {
    let done = '';
    let from = 0;
    let lastFour = 0;
    for (let end = 0; end < text.length; end += 1) {
      lastFour = next(lastFour, text, end);
      if (mayBegin[placeOf(lastFour, bits)] === 0) continue;
      const at = end - 3;
      if (at < from) continue;
      const length = lengthsBy.get(lastFour)?.find((one) => whole.has(text.slice(at, at + one)));
      if (length === undefined) continue;
      done += `${text.slice(from, at)}[secret]`;
      from = at + length;
    }
    return done + text.slice(from);
  };
};

/** The last four characters up to `at`, a byte each. */
const next = (lastFour: number, text: string, at: number): number =>
  (lastFour << 8) | (text.charCodeAt(at) & 0xff);

/** A number of so many bits, in which all bits of those characters take part: the golden ratio, as Knuth has it. */
const placeOf = (lastFour: number, bits: number): number =>
  Math.imul(lastFour, 0x9e_37_79_b1) >>> (32 - bits);

/** Messages about a file quote only the beginning of a long text, which may end within a secret. */
const withoutBeginnings = (text: string, secrets: readonly string[]): string => {
  if (!text.includes('...') && !text.includes('…')) return text;
  const parts = text.split(/(?=\.\.\.|…)/);
  return parts.map((part, at) => (at === parts.length - 1 ? part : withoutEnd(part, secrets))).join('');
};

const withoutEnd = (part: string, secrets: readonly string[]): string => {
  for (const secret of secrets)
    for (let length = secret.length - 1; length >= minBeginning; length -= 1)
      if (part.endsWith(secret.slice(0, length))) return `${part.slice(0, -length)}[secret]`;
  return part;
};

/** Fewer characters could be part of any word. */
const minBeginning = 8;

/**
 * Redacts every text in a value, since answers and files may repeat a secret. Fixed words of this program stay, so that
 * a token that equals one does not garble the output; keys stay too.
 */
export const redactTexts = <T>(value: T, redact: Redact): T => {
  const visit = (part: unknown, key: string): unknown => {
    if (typeof part === 'string') return ownKeys.has(key) && ownForm.test(part) ? part : redact(part);
    if (Array.isArray(part)) return part.map((inner) => visit(inner, key));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([inner, one]) => [inner, visit(one, inner)]));
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text stays a text, all else what it was
  return visit(value, '') as T;
};

/** Under these keys are fixed words, times and ids of this program, if they have that form. */
const ownKeys: ReadonlySet<string> = new Set(
  (
    'action asOf at cause check event fields health kind level next operation outcome reason retryAt run running ' +
    'schema severity startedAt status time trigger type waiting worst'
  ).split(' '),
);

const ownForm =
  /^(?:A|AAAA|CNAME|MX|PTR|SRV|TXT|dns-template-sync\/[a-z]+\/v\d|[a-z]+(?:[.-][a-z]+)*|\d{4}-\d\d-\d\dT[\d:.]+Z|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;
