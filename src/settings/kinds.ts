import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { durationText, parseDuration } from '../model/duration.ts';
import { parseNameServer } from '../model/address.ts';
import { parseSize, sizeText } from '../model/size.ts';
import { isTimezone, scheduleProblem } from './schedule.ts';

/** Where a value was written: paths are relative to `folder`, and shown relative to `cwd`. */
export interface Base {
  readonly cwd: string;
  readonly folder: string;
  /** Whether secrets may stand there: not in a file. */
  readonly mayHoldSecrets?: boolean;
}

/** A kind of value. */
export interface Kind<T> {
  /** Reads a value. Its errors say what was expected. Making a schema takes time, and few are needed. */
  readonly schema: (base: Base) => z.ZodType<T>;
  /** The form for JSON Schema, where that is another one. */
  readonly form?: () => z.ZodType;
  /** What a text stands for, if not for itself: files and variables have nothing but texts. */
  readonly fromText?: (text: string) => unknown;
  /** Of a list: the separator in a variable. */
  readonly divider?: string;
  /** Of a mapping: its settings. */
  readonly rows?: Table;
  readonly isSecret?: boolean;
}

/** One setting. Its key in the settings file is that of its row. */
export interface Setting<T> {
  readonly about: string;
  readonly kind: Kind<T>;
  readonly fallback: T;
  /** The environment variables that it may come from; a second one has the path of a file with it. */
  readonly variables: readonly string[];
  readonly isRequired: boolean;
}

export type Table = Readonly<Record<string, Setting<unknown>>>;

/** The values of the settings of a table. */
export type Values<T> = { readonly [Key in keyof T]: T[Key] extends Setting<infer Value> ? Value : never };

/** A text. `read` gives false for what is none, and `fault` says what is wrong with one. */
const text = <T>(
  expected: string,
  read: (given: string, base: Base) => T | false,
  fault: (given: string, base: Base) => string | null = () => null,
): Kind<T> => ({
  schema: (base) =>
    z.string(`expected ${expected}`).transform((given, context) => {
      const value = read(given, base);
      const wrong = value === false ? '' : fault(given, base);
      if (value !== false && wrong === null) return value;
      context.addIssue(`expected ${expected}${wrong ? `: ${wrong}` : ''}`);
      return z.NEVER;
    }),
});

const largest = Number.MAX_SAFE_INTEGER;

/** A number that is written as a text. */
const measure = (expected: string, parse: (given: string) => number | null, min: number, max: number) =>
  text(expected, (given) => {
    const value = parse(given);
    return value !== null && value >= min && value <= max && value;
  });

/** Milliseconds. A century from now can still be said as a time. */
export const duration = (min = 0, max = 36_500 * 86_400_000): Kind<number> => {
  const least = min === 0 ? '' : `, at least ${durationText(min)}`;
  const expected = `a duration such as 500ms, 8s, 5m, 1h, 1d${least}, at most ${durationText(max)}`;
  return measure(expected, parseDuration, min, max);
};

/** Bytes. */
export const size = (min: number, max: number): Kind<number> => {
  const limits = `from ${sizeText(min)} to ${sizeText(max)}`;
  return measure(`a size such as 512KiB or 64MiB, ${limits}`, parseSize, min, max);
};

export const whole = (min: number, max = largest): Kind<number> => {
  const error = `expected a whole number from ${min} ${max === largest ? 'on' : `to ${max}`}`;
  return {
    schema: () => z.int(error).min(min, error).max(max, error),
    fromText: (given) => (/^\d{1,15}$/.test(given) ? Number(given) : given),
  };
};

export const yesOrNo: Kind<boolean> = {
  schema: () => z.boolean('expected true or false'),
  fromText: (given) => (given === 'true' || given === 'false' ? given === 'true' : given),
};

export const oneOf = <const T extends string>(words: readonly T[]): Kind<T> => ({
  schema: () => z.enum(words, `expected one of ${words.join(', ')}`),
});

export const cron = text('a cron expression such as */5 * * * *', (given) => given, scheduleProblem);

export const timezone = text(
  'an IANA time zone such as UTC or Europe/Berlin',
  (given) => isTimezone(given) && given,
);

/** A base address, without a slash at its end. Whether `http:` is allowed is checked elsewhere. */
export const address = text(
  'an address such as https://panel.example.net/api/v1, without user, query or fragment',
  (given) =>
    /^https?:\/\/[^?#@]+$/i.test(given) && URL.canParse(given) && new URL(given).href.replace(/\/+$/, ''),
);

/** The address of a commit; `{sha}` stands for its id. */
export const commitAddress = text(
  'an address such as https://git.example.net/dns/commit/{sha}, with {sha} once and without a user',
  (given) =>
    /^https?:\/\/[^\s{}@]+\{sha\}[^\s{}@]*$/i.test(given) &&
    URL.canParse(given.replace('{sha}', '0')) &&
    given,
);

/** Somebody may have meant another variable: such a text is in no message, and no directory is made of it. */
const isLikeToken = (given: string): boolean => /^(?=.*\d)(?=.*[a-z])[\w+=~-]{20,}$/i.test(given);

const hostFault = (given: string): string | null => (isLikeToken(given) ? 'it looks like a token' : null);

/** `off` takes none, whatever other programs are told. */
export const proxyAddress = text(
  'a proxy such as http://proxy.example.net:3128, or off',
  (given) => {
    if (given === 'off') return given;
    const url = given.includes('://') ? given : `http://${given}`;
    return /^https?:/i.test(url) && URL.canParse(url) && new URL(url).pathname === '/' && url;
  },
  (given, { mayHoldSecrets = false }) =>
    given.includes('@') && !mayHoldSecrets
      ? 'secrets are not allowed in this file: give a user and a password in DNS_SYNC_PROXY or HTTPS_PROXY'
      : hostFault(given),
);

const pathKind = (read: (given: string, base: Base) => string): Kind<string> =>
  text(
    'a path',
    (given, base) => given !== '' && read(given, base),
    (given, { folder }) =>
      given.split('.').some(isLikeToken) && !existsSync(path.resolve(folder, given))
        ? 'nothing is there, and it looks like a token; ./NAME is a path in any case'
        : null,
  );

/** A directory or file as it was given: relative if it is in the working directory. */
export const shownPath = pathKind((given, { cwd, folder }) =>
  path.isAbsolute(given) ? path.normalize(given) : shownFrom(cwd, path.resolve(folder, given)),
);

export const shownFrom = (cwd: string, absolute: string): string => {
  const relative = path.relative(cwd, absolute);
  return relative.startsWith('..') ? absolute : relative || '.';
};

export const absolutePath = pathKind((given, { folder }) => path.resolve(folder, given));

/** Null: off. */
export const listenAddress = text('HOST:PORT (an IPv6 address in brackets) or off', (given) => {
  if (given === 'off') return null;
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(given) ?? [];
  const host = bracketed ?? plain ?? '';
  const isHost = host !== '' && (bracketed !== undefined) === (isIP(host) === 6);
  return isHost && Number(port) <= 65_535 && { host, port: Number(port) };
});

export const nameServer = text(
  'a name server: HOST or HOST:PORT, an IPv6 address with a port in brackets',
  (given) => parseNameServer(given) !== null && given,
  hostFault,
);

export const resolver = text(
  'the address of a resolver, such as 192.0.2.53 or 127.0.0.1:5353',
  (given) => isIP(parseNameServer(given)?.host ?? '') !== 0 && given,
);

export const hostName = text(
  'a host name without port',
  (given) => /^[\w-]+(\.[\w-]+)*$/.test(given) && given.toLowerCase(),
);

/** The name of a client or a receiver. */
export const namePattern = /^[A-Za-z0-9][\w.-]*$/;
const nameInWords = 'a name of letters, digits, dots, dashes and underscores';
export const expectedName = `expected ${nameInWords}`;
export const givenName = {
  ...text(nameInWords, (given) => namePattern.test(given) && given),
  form: () => z.string().regex(namePattern),
};

/** One item is a list too. */
export const list = <T>(item: Kind<T>, divider = ','): Kind<readonly T[]> => ({
  schema: (base) =>
    z.array(item.schema(base), 'expected text or a list of texts').min(1, 'expected at least one entry'),
  form: () => z.union([formOf(item), z.array(formOf(item)).min(1)]),
  fromText: (given) => [given],
  divider,
});

export const expectedMapping = 'expected a mapping, with lines such as KEY: VALUE';

/** Texts by name; `010` and `1.10` stay as they are written. */
export const texts: Kind<Readonly<Record<string, string>>> = {
  schema: () => {
    const error: z.core.$ZodErrorMap = ({ input }) =>
      input === null ? 'the variable is empty' : 'expected text';
    const item = z.union([z.string(), z.number(), z.boolean()], { error });
    return z.record(z.string(), item.transform(String), expectedMapping);
  },
};

/** How a secret is given: hardly ever by its value. A path is relative to `folder`. */
export type SecretReference =
  | string
  | { readonly env: string }
  | { readonly file: string; readonly folder: string };

/** `otherwise`: what is said about what is none. */
export const secret = (
  otherwise = 'expected {env: NAME} or {file: PATH}: secrets are not allowed in this file',
  mayBeText = false,
): Kind<SecretReference> => ({
  isSecret: true,
  schema: ({ folder, mayHoldSecrets = false }) => {
    const name = z.string().min(1, otherwise);
    const env = z.strictObject({ env: name });
    const file = z.strictObject({ file: name }).transform((given) => ({ ...given, folder }));
    return z.union([env, file, ...(mayBeText || mayHoldSecrets ? [z.string()] : [])], otherwise);
  },
});

/** Null: sections by name, which are read elsewhere; else where files are, whose names may have a `*`. */
export const sectionsOrPaths = (sections: () => z.ZodType) => {
  const paths = list(
    text(
      'a path',
      (given, { folder }) =>
        given !== '' &&
        !path.dirname(given).includes('*') && { given, absolute: path.resolve(folder, given) },
    ),
  );
  const expected =
    'expected clients by their names, or paths of files, with * in the last part only, as in ./clients/*.yaml';
  const none = z.record(z.string(), z.unknown()).transform(() => null);
  return {
    ...paths,
    schema: (base: Base) => z.union([none, paths.schema(base)], expected),
    form: () => z.union([sections(), formOf(paths)]),
  };
};

/** What is read elsewhere. */
export const elsewhere = (form: () => z.ZodType): Kind<unknown> => ({ schema: () => z.unknown(), form });

export const formOf = (kind: Kind<unknown>): z.ZodType =>
  kind.form?.() ?? kind.schema({ cwd: '', folder: '' });

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
