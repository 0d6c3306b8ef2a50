import { X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { codeOf, UserError } from '../errors.ts';
import { isLoopback } from '../model/address.ts';
import { credentialsIn, type Authorities, type Proxy, type Route } from '../model/route.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { proxyAddress, Wrong } from './kind.ts';
import type { Secrets } from './secret.ts';
import { find, quotesAdvice, resolve, standsInQuotes, type Sources } from './sources.ts';
import { clientTable, variableOf } from './table.ts';

/** The variables that many programs obey. */
export const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** How an address is reached, by the settings, else by the variables that other programs obey too. */
export const routesOf = (sources: Sources, secrets: Secrets): ((address: string) => Route) => {
  const { proxy, ca: file } = resolve(routeTable, sources);
  const place = find('ca', clientTable.ca, sources)?.place ?? 'ca';
  let ca: Authorities | null = null;
  if (file !== null) sources.problems.attempt('ca', () => void (ca = authoritiesIn(file, place)));
  return (address) => ({
    proxy: proxy === null ? usualProxy(address, sources, secrets) : ownProxy(proxy, sources, secrets),
    ca,
  });
};

const routeTable = { proxy: clientTable.proxy, ca: clientTable.ca };

/** Variables may hold secrets, settings files may not. */
const ownProxy = (given: string, sources: Sources, secrets: Secrets): Proxy | null => {
  if (given === 'off') return null;
  const variable = variableOf('proxy');
  const { problems, env, isObject } = sources;
  const place = find('proxy', clientTable.proxy, sources)?.place ?? variable;
  if (!isObject && place !== variable && new URL(given).password !== '')
    problems.add(
      place,
      `secrets are not allowed in this file: give a proxy with a password in ${variable}${env['HTTPS_PROXY'] ? ', or leave this out for HTTPS_PROXY' : ' or HTTPS_PROXY'}`,
      'proxy',
    );
  return proxyAt(given, place, secrets);
};

const usualProxy = (address: string, { env, problems, cwd }: Sources, secrets: Secrets): Proxy | null => {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const scheme = url.protocol.slice(0, -1);
  const variable = proxyVariables.find((name) => env[name] && name.toLowerCase() === `${scheme}_proxy`);
  // What is sent to this machine must not leave it.
  if (variable === undefined || isLoopback(url.hostname)) return null;
  if (isExempt(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return null;
  const given = env[variable] ?? '';
  const proxy = proxyAddress.read(given, { cwd, folder: cwd });
  if (typeof proxy === 'string' && proxy !== 'off') return proxyAt(proxy, variable, secrets);
  const expected = proxy instanceof Wrong ? proxy.expected : 'a proxy';
  const advice = `expected ${expected}; NO_PROXY, or proxy: off in the settings, leaves it out`;
  problems.add(variable, standsInQuotes(given) ? quotesAdvice : advice, 'proxy');
  return null;
};

const proxyAt = (address: string, place: string, secrets: Secrets): Proxy => {
  const { href, origin, password } = new URL(address);
  const credentials = credentialsIn(address);
  if (password !== '')
    for (const secret of [credentials, password, credentials.slice(credentials.indexOf(':') + 1)])
      secrets.note(secret);
  return { url: href, shown: origin, place };
};

/** Whether `NO_PROXY` names the host: itself, a domain above it, its network, each also with a port; `*` is all. */
const isExempt = ({ hostname, port, protocol }: URL, exempt: string): boolean => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return exempt
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', onPort] =
        /^\[?(.*?)\]?(?::(\d{1,5}))?$/.exec(isIP(entry) ? `[${entry}]` : entry) ?? [];
      if (onPort !== undefined && onPort !== ownPort) return false;
      const domain = name.toLowerCase().replace(/^\*?\./, '');
      return host === domain || (isIP(host) ? isInNetwork(host, domain) : host.endsWith(`.${domain}`));
    });
};

const isInNetwork = (address: string, network: string): boolean => {
  const [base = '', bits = ''] = network.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const max = family === 'ipv6' ? 128 : 32;
  if (isIP(base) !== isIP(address) || !/^\d{1,3}$/.test(bits) || Number(bits) > max) return false;
  const list = new BlockList();
  list.addSubnet(base, Number(bits), family);
  return list.check(address, family);
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
