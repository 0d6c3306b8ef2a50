import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { codeOf, UserError } from '../errors.ts';
import { isLoopback } from '../model/address.ts';
import type { Authorities, Route } from '../model/route.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { proxyAddress } from './kinds.ts';
import { attempt } from './problems.ts';
import { proxyVariables, resolve, type SettingSources, type Source } from './sources.ts';
import { clientTable } from './table.ts';

/** How an address is reached, by the settings, else by the variables that other programs obey too. */
export const routeTo = (
  address: string,
  given: Source,
  reading: Pick<SettingSources, 'env' | 'secrets' | 'problems'>,
): Route => {
  const { proxy: text, ca: file } = resolve({ proxy: clientTable.proxy, ca: clientTable.ca }, given);
  const placeOf = (key: string): string => given[key]?.place ?? key;
  let ca: Authorities | null = null;
  if (file !== null) attempt(reading.problems, () => void (ca = authoritiesIn(file, placeOf('ca'))));
  const proxy = text === null ? usualProxy(address, reading) : { text, place: placeOf('proxy') };
  if (proxy === null || proxy.text === 'off') return { proxy: null, ca };
  reading.secrets.notePassword(proxy.text);
  const { href: url, origin: shown } = new URL(proxy.text);
  return { proxy: { url, shown, place: proxy.place }, ca };
};

const usualProxy = (address: string, { env, problems }: Pick<SettingSources, 'env' | 'problems'>) => {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const place = proxyVariables.find(
    (name) => env[name] && url.protocol === `${name.slice(0, -6)}:`.toLowerCase(),
  );
  // What is sent to this machine must not leave it.
  if (place === undefined || isLoopback(url.hostname)) return null;
  if (isExempt(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return null;
  const { data: text, error } = proxyAddress
    .schema({ cwd: '', folder: '', mayHoldSecrets: true })
    .safeParse(env[place]);
  if (text !== undefined) return { text, place };
  const advice = 'NO_PROXY, or proxy: off in the settings, leaves it out';
  for (const { message } of error?.issues ?? []) problems.add(`${place}: ${message}; ${advice}`);
  return null;
};

/** Whether `NO_PROXY` names the host: itself or a domain above it, each also with a port; `*` is all. */
const isExempt = ({ hostname, port, protocol }: URL, exempt: string): boolean => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return exempt.split(/[,\s]+/).some((entry) => {
    const [, name = '', onPort = ownPort] =
      /^\[?(.*?)\]?(?::(\d{1,5}))?$/.exec(isIP(entry) ? `[${entry}]` : entry) ?? [];
    const domain = name.toLowerCase().replace(/^\*?\./, '');
    const isBelow = domain !== '' && isIP(host) === 0 && host.endsWith(`.${domain}`);
    return entry === '*' || (onPort === ownPort && (host === domain || isBelow));
  });
};

/** Throws a UserError if there are none. A file that was replaced is read when somebody asks for that. */
const authoritiesIn = (file: string, place: string): Authorities => {
  let pem = certificatesIn(file, place);
  return {
    pem: () => pem,
    readAgain: () => {
      const before = pem;
      try {
        pem = certificatesIn(file, place);
      } catch (error) {
        // It may be about to be replaced.
        if (!(error instanceof UserError)) throw error;
      }
      return pem !== before;
    },
  };
};

const certificatesIn = (file: string, place: string): string => {
  let blocks: readonly string[];
  try {
    const text = readRegularFileSync(file, largestBundle).toString('utf8');
    blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    for (const block of blocks) void new X509Certificate(block);
  } catch (error) {
    throw new UserError(`${place}: cannot read certificates from ${file} (${codeOf(error)})`);
  }
  if (blocks.length > 0) return blocks.join('\n');
  throw new UserError(`${place}: ${file} has no certificate in PEM form (-----BEGIN CERTIFICATE-----)`);
};

/** Bytes; the bundle of a whole operating system has a fifth of it. */
const largestBundle = 1_024 * 1_024;
