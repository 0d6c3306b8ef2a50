import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../model/address.ts';
import { durationText, parseDuration } from '../model/duration.ts';
import { parseNameServer } from '../model/name-server.ts';
import { parseSize, sizeText } from '../model/size.ts';
import { isTimezone, scheduleProblem } from './schedule.ts';

/** Where a value comes from: paths in a file are relative to its folder, all others to the working directory. */
interface PathBase {
  readonly cwd: string;
  readonly folder: string;
}

export type Parsed<T> = { readonly value: T } | { readonly expected: string };

/** A kind of value: its schema in the config file, and how to parse its text. */
export interface Kind<T> {
  /** Made where a config file is read: it takes time, and there are many. */
  readonly file: () => z.ZodType;
  /** Present on lists: the separator in an environment variable. */
  readonly divider?: string;
  readonly parse: (texts: readonly string[], base: PathBase) => Parsed<T>;
  /** How a value is written, where that is not as the language has it. */
  show?(value: T): string;
}

export const duration = ({ min = 0, max = Number.MAX_SAFE_INTEGER } = {}): Kind<number> => ({
  ...scalar(
    `a duration such as 500ms, 8s, 5m, 1h, 1d${min > 0 ? ', above zero' : ''}${max < Number.MAX_SAFE_INTEGER ? ', at most 1d' : ''}`,
    (expected) => string(expected).regex(/^\d{1,12}(ms|s|m|h|d)$/, message(expected)),
    (text) => {
      const value = parseDuration(text);
      return value !== null && value >= min && value <= max ? value : null;
    },
  ),
  show: durationText,
});

/** Bytes. */
export const size = (min: number, max: number): Kind<number> => ({
  ...scalar(
    `a size such as 512KiB or 64MiB, from ${sizeText(min)} to ${sizeText(max)}`,
    (expected) => string(expected).regex(/^\d{1,12}([KMG]i)?B$/, message(expected)),
    (text) => {
      const value = parseSize(text);
      return value !== null && value >= min && value <= max ? value : null;
    },
  ),
  show: sizeText,
});

export const whole = (min: number, max: number): Kind<number> =>
  scalar(
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${min} on`
      : `a whole number from ${min} to ${max}`,
    (expected) => z.int(message(expected)).min(min, message(expected)).max(max, message(expected)),
    (text) => (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null),
  );

export const yesOrNo: Kind<boolean> = scalar(
  'true or false',
  (expected) => z.boolean(message(expected)),
  (text) => (text === 'true' ? true : text === 'false' ? false : null),
);

export const oneOf = <const T extends string>(words: readonly T[]): Kind<T> =>
  scalar(
    `one of ${words.join(', ')}`,
    (expected) => z.enum(words, message(expected)),
    (text) => words.find((word) => word === text) ?? null,
  );

export const cron: Kind<string> = {
  file: () => string('a cron expression'),
  parse: ([value = '']) => {
    const problem = scheduleProblem(value);
    return problem === null ? { value } : { expected: `a cron expression: ${problem}` };
  },
};

export const timezone: Kind<string> = scalar(
  'an IANA time zone such as UTC or Europe/Berlin',
  string,
  (zone) => (isTimezone(zone) ? zone : null),
);

/** The service's base address, without a slash at its end. Whether `http:` is allowed is checked elsewhere. */
export const serviceAddress: Kind<string> = scalar(
  'an address such as https://panel.example.net/api/v1, without user, query or fragment',
  string,
  (address) => {
    if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return null;
    const { username, password, search, hash, href } = new URL(address);
    return username || password || search || hash || /[?#]/.test(address) ? null : href.replace(/\/+$/, '');
  },
);

/** The address of a commit; `{sha}` stands for its id. Null, which no source can give: none. */
export const commitAddress: Kind<string | null> = {
  file: () => string(expectedCommit),
  parse: ([given = '']) => {
    const problem = commitProblem(given);
    return problem === null ? { value: given } : { expected: `${expectedCommit}: ${problem}` };
  },
};

const expectedCommit = 'an address such as https://git.example.net/dns/commit/{sha}';

const commitProblem = (given: string): string | null => {
  if (given.split('{sha}').length !== 2) return 'it contains {sha} exactly once';
  const [one, other] = ['0', '1'].map((digit) => given.replace('{sha}', digit.repeat(40)));
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(given) || !URL.canParse(one!) || !URL.canParse(other!))
    return 'it is a URL';
  const { protocol, hostname, host, username, password } = new URL(one!);
  if (username || password) return 'it has no user or password';
  if (host !== new URL(other!).host) return '{sha} is not in its host';
  return protocol === 'https:' || isLoopback(hostname) ? null : 'http: only leads to this machine';
};

/** `off` takes none, whatever other programs are told. */
export const proxyAddress: Kind<string | null> & { readonly expected: string } = {
  expected: 'a proxy such as http://proxy.example.net:3128, or off',
  file: () => string('a proxy such as http://proxy.example.net:3128, or off'),
  parse: ([given = '']) => {
    if (given === 'off') return { value: given };
    const address = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `http://${given}`;
    const isProxy =
      /^https?:\/\//i.test(address) && URL.canParse(address) && new URL(address).pathname === '/';
    return isProxy ? { value: address } : { expected: proxyAddress.expected };
  },
};

/** A directory or file as it was given: relative if it is in the working directory. */
export const shownPath: Kind<string> = scalar('a path', string, (given, { cwd, folder }) => {
  if (given === '') return null;
  if (path.isAbsolute(given)) return path.normalize(given);
  const absolute = path.resolve(folder, given);
  const relative = path.relative(cwd, absolute);
  return relative.startsWith('..') ? absolute : relative || '.';
});

export const absolutePath: Kind<string> = scalar('a path', string, (given, { folder }) =>
  given === '' ? null : path.resolve(folder, given),
);

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const listenAddress: Kind<ListenAddress | null> = {
  file: () => string('HOST:PORT or off'),
  parse: ([given = '']) => {
    if (given === 'off') return { value: null };
    const match = /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(given);
    const host = match?.[1] ?? match?.[2] ?? '';
    const port = Number(match?.[3] ?? -1);
    const bracketed = match?.[1] !== undefined;
    return host !== '' && port >= 0 && port <= 65_535 && bracketed === (isIP(host) === 6)
      ? { value: { host, port } }
      : { expected: 'HOST:PORT (an IPv6 address in brackets) or off' };
  },
  show: (address) => (address === null ? 'off' : `${address.host}:${address.port}`),
};

export const nameServer: Kind<string> = scalar(
  'a name server: HOST or HOST:PORT, an IPv6 address with a port in brackets',
  string,
  (text) => (parseNameServer(text) === null ? null : text),
);

/** Null: the system's. */
export const resolverAddress: Kind<string | null> = scalar(
  'the address of a resolver, such as 192.0.2.53 or 127.0.0.1:5353',
  string,
  (text) => (isIP(parseNameServer(text)?.host ?? '') === 0 ? null : text),
);

export const hostName: Kind<string> = scalar('a host name without port', string, (host) =>
  /^[\w-]+(\.[\w-]+)*$/.test(host) ? host.toLowerCase() : null,
);

export const list = <T>(item: Kind<T>, divider: string): Kind<readonly T[]> => ({
  file: () => z.union([item.file(), z.array(item.file())], message('text or a list of texts')),
  divider,
  parse: (texts, base) => {
    const values: T[] = [];
    for (const one of texts) {
      const parsed = item.parse([one], base);
      if ('expected' in parsed) return parsed;
      values.push(parsed.value);
    }
    return values.length === 0 ? { expected: 'at least one' } : { value: values };
  },
});

function scalar<T>(
  expected: string,
  file: (expected: string) => z.ZodType,
  parse: (text: string, base: PathBase) => T | null,
): Kind<T> {
  return {
    file: () => file(expected),
    parse: ([given = ''], base) => {
      const value = parse(given, base);
      return value === null ? { expected } : { value };
    },
  };
}

function string(expected: string): z.ZodString {
  return z.string(message(expected));
}

function message(expected: string): { error: string } {
  return { error: `expected ${expected}` };
}
