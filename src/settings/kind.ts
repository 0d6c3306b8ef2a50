import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { durationText, parseDuration } from '../model/duration.ts';
import { parseNameServer } from '../model/name-server.ts';
import { parseSize, sizeText } from '../model/size.ts';
import { isTimezone, scheduleProblem } from './schedule.ts';

/** Where a value comes from: paths in a file are relative to its folder, all others to the working directory. */
interface PathBase {
  readonly cwd: string;
  readonly folder: string;
}

/** Instead of a value: what was expected. */
export class Wrong {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

/** A kind of value: its form in a file, and how to read it from a text, wherever that stands. */
export interface Kind<T> {
  /** Made where a file is read: it takes time, and there are many. */
  readonly form: () => z.ZodType;
  readonly read: (text: string, base: PathBase) => T | Wrong;
  /** Present on lists, whose texts are read one by one: the separator in an environment variable. */
  readonly divider?: string;
  /** How a value is written, where that is not as the language has it. */
  show?(value: T): string;
}

/** With the message of `expected` for other forms too. `read` gives undefined for what is none, or what is wrong with it. */
const kind = <T>(
  expected: string,
  read: (text: string, base: PathBase) => T | Wrong | undefined,
  form: (error: { readonly error: string }) => z.ZodType = z.string,
): Kind<T> => ({
  form: () => form({ error: `expected ${expected}` }),
  read: (text, base) => {
    const value = read(text, base);
    if (value instanceof Wrong) return new Wrong(`${expected}: ${value.expected}`);
    return value === undefined ? new Wrong(expected) : value;
  },
});

/** The value, unless something is wrong. */
const unless = <T>(wrong: string | null, value: T): T | Wrong => (wrong === null ? value : new Wrong(wrong));

const isWithin = (value: number | null, min: number, max: number): value is number =>
  value !== null && value >= min && value <= max;

/** Milliseconds. */
export const duration = ({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}): Kind<number> => ({
  ...kind(
    `a duration such as 500ms, 8s, 5m, 1h, 1d${min > 0 ? ', above zero' : ''}${max < Number.MAX_SAFE_INTEGER ? ', at most 1d' : ''}`,
    (text) => {
      const value = parseDuration(text);
      return isWithin(value, min, max) ? value : undefined;
    },
    (error) => z.string(error).regex(/^\d{1,12}(ms|s|m|h|d)$/, error),
  ),
  show: durationText,
});

/** Bytes. */
export const size = (min: number, max: number): Kind<number> => ({
  ...kind(
    `a size such as 512KiB or 64MiB, from ${sizeText(min)} to ${sizeText(max)}`,
    (text) => {
      const value = parseSize(text);
      return isWithin(value, min, max) ? value : undefined;
    },
    (error) => z.string(error).regex(/^\d{1,12}([KMG]i)?B$/, error),
  ),
  show: sizeText,
});

export const whole = (min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> =>
  kind(
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${min} on`
      : `a whole number from ${min} to ${max}`,
    (text) => (/^\d{1,15}$/.test(text) && isWithin(Number(text), min, max) ? Number(text) : undefined),
    (error) => z.int(error).min(min, error).max(max, error),
  );

export const yesOrNo: Kind<boolean> = kind(
  'true or false',
  (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  z.boolean,
);

export const oneOf = <const T extends string>(words: readonly T[]): Kind<T> =>
  kind(
    `one of ${words.join(', ')}`,
    (text) => words.find((word) => word === text),
    (error) => z.enum(words, error),
  );

export const cron: Kind<string> = kind('a cron expression such as */5 * * * *', (text) =>
  unless(scheduleProblem(text), text),
);

export const timezone: Kind<string> = kind('an IANA time zone such as UTC or Europe/Berlin', (zone) =>
  isTimezone(zone) ? zone : undefined,
);

/** A base address, without a slash at its end; null: none. Whether `http:` is allowed is checked elsewhere. */
export const address: Kind<string | null> = kind(
  'an address such as https://panel.example.net/api/v1, without user, query or fragment',
  (text) => {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
    const { username, password, href } = new URL(text);
    return username || password || /[?#]/.test(text) ? undefined : href.replace(/\/+$/, '');
  },
);

/** The address of a commit; `{sha}` stands for its id. */
export const commitAddress: Kind<string | null> = kind(
  'an address such as https://git.example.net/dns/commit/{sha}, with {sha} once and without a user',
  (text) =>
    /^https?:\/\/[^\s{}@]+\{sha\}[^\s{}@]*$/i.test(text) && URL.canParse(text.replace('{sha}', '0'))
      ? text
      : undefined,
);

/** Somebody may have meant another variable: such a text is in no message. */
const hostThatIsToken = (text: string): string | null =>
  /^(?=.*\d)(?=.*[a-z])[\w+=~-]{20,}$/i.test(text) ? 'it looks like a token' : null;

/** `off` takes none, whatever other programs are told. */
export const proxyAddress: Kind<string | null> = kind(
  'a proxy such as http://proxy.example.net:3128, or off',
  (given) => {
    if (given === 'off') return given;
    const text = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `http://${given}`;
    const isProxy = /^https?:\/\//i.test(text) && URL.canParse(text) && new URL(text).pathname === '/';
    return isProxy ? unless(hostThatIsToken(given), text) : undefined;
  },
);

/** The same, and no directory is made of it. */
const pathThatIsToken = (text: string, { folder }: PathBase): string | null =>
  /^(?=.*\d)(?=.*[a-z])(?!.*\.(?:pem|crt|cer|ya?ml)$)[\w+=.~-]{20,}$/i.test(text) &&
  !existsSync(path.resolve(folder, text))
    ? 'nothing is there, and it looks like a token; ./NAME is a path in any case'
    : null;

const pathKind = (read: (given: string, base: PathBase) => string): Kind<string> =>
  kind('a path', (given, base) =>
    given === '' ? undefined : unless(pathThatIsToken(given, base), read(given, base)),
  );

/** A directory or file as it was given: relative if it is in the working directory. */
export const shownPath = pathKind((given, { cwd, folder }) => {
  if (path.isAbsolute(given)) return path.normalize(given);
  const absolute = path.resolve(folder, given);
  const relative = path.relative(cwd, absolute);
  return relative.startsWith('..') ? absolute : relative || '.';
});

export const absolutePath: Kind<string | null> = pathKind((given, { folder }) => path.resolve(folder, given));

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const listenAddress: Kind<ListenAddress | null> = {
  ...kind('HOST:PORT (an IPv6 address in brackets) or off', (given) => {
    if (given === 'off') return null;
    const [, bracketed, plain, port = '65536'] =
      /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(given) ?? [];
    const host = bracketed ?? plain ?? '';
    const isHost = host !== '' && (bracketed !== undefined) === (isIP(host) === 6);
    return isHost && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined;
  }),
  show: (listen) => (listen === null ? 'off' : `${listen.host}:${listen.port}`),
};

export const nameServer: Kind<string> = kind(
  'a name server: HOST or HOST:PORT, an IPv6 address with a port in brackets',
  (text) => (parseNameServer(text) === null ? undefined : unless(hostThatIsToken(text), text)),
);

/** Null: the system's. */
export const resolverAddress: Kind<string | null> = kind(
  'the address of a resolver, such as 192.0.2.53 or 127.0.0.1:5353',
  (text) => (isIP(parseNameServer(text)?.host ?? '') === 0 ? undefined : text),
);

export const hostName: Kind<string> = kind('a host name without port', (host) =>
  /^[\w-]+(\.[\w-]+)*$/.test(host) ? host.toLowerCase() : undefined,
);

/** The settings have all of its values in one list. */
export const list = <T>(item: Kind<T>, divider: string): Kind<readonly T[]> => ({
  form: () => z.union([item.form(), z.array(item.form())], { error: 'expected text or a list of texts' }),
  divider,
  read: (text, base) => {
    const value = item.read(text, base);
    return value instanceof Wrong ? value : [value];
  },
});
