import { X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { codeOf } from '../errors.ts';
import { credentialsIn, type Proxy, type Route } from '../model/route.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { proxyAddress } from './kind.ts';
import { isLoopback } from '../model/address.ts';
import { placeOf, type Sources } from './resolve.ts';
import type { Secrets } from './secret.ts';
import { clientTable } from './table.ts';

/** The variables that many programs obey. */
export const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** The settings that concern a route, as they were given. */
interface GivenRoute {
  readonly proxy: string | null;
  readonly ca: string | null;
}

/** How an address is reached, by the settings, else by the variables that other programs obey too. */
export const routesOf = (
  given: GivenRoute,
  sources: Sources,
  secrets: Secrets,
): ((address: string) => Route) => {
  const ca = given.ca === null ? null : certificatesIn(given.ca, sources);
  return (address) => ({ proxy: proxyFor(address, given.proxy, sources, secrets), ca });
};

const proxyFor = (
  address: string,
  given: string | null,
  sources: Sources,
  secrets: Secrets,
): Proxy | null => {
  const place = placeOf(clientTable.proxy, 'proxy', sources);
  if (given !== null && place !== null)
    return given === 'off' ? null : checked(proxyAt(given, place, secrets), sources);
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const { env, problems } = sources;
  const scheme = url.protocol.slice(0, -1);
  const variable = proxyVariables.find((name) => env[name] && name.toLowerCase() === `${scheme}_proxy`);
  // What is sent to this machine must not leave it.
  if (variable === undefined || isLoopback(url.hostname)) return null;
  if (isExempt(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return null;
  const parsed = proxyAddress.parse([env[variable] ?? ''], { cwd: '', folder: '' });
  if ('value' in parsed && parsed.value !== null && parsed.value !== 'off')
    return proxyAt(parsed.value, variable, secrets);
  problems.add(
    variable,
    `expected ${proxyAddress.expected}; NO_PROXY, or proxy: off in the settings, leaves it out`,
    'proxy',
  );
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

/** Variables may hold secrets, settings files may not. */
const checked = (proxy: Proxy, { problems, env, isObject = false }: Sources): Proxy => {
  if (!isObject && proxy.place !== clientTable.proxy.env && new URL(proxy.url).password !== '')
    problems.add(
      proxy.place,
      `secrets are not allowed in this file: give a proxy with a password in ${clientTable.proxy.env}${env['HTTPS_PROXY'] ? ', or leave this out for HTTPS_PROXY' : ' or HTTPS_PROXY'}`,
      'proxy',
    );
  return proxy;
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

const certificatesIn = (file: string, sources: Sources): string | null => {
  const place = placeOf(clientTable.ca, 'ca', sources) ?? 'ca';
  try {
    const text = readRegularFileSync(file, largestBundle).toString('utf8');
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    for (const block of blocks) void new X509Certificate(block);
    if (blocks.length > 0) return blocks.join('\n');
    sources.problems.add(place, `${file} has no certificate in PEM form (-----BEGIN CERTIFICATE-----)`, 'ca');
  } catch (error) {
    sources.problems.add(place, `cannot read certificates from ${file} (${codeOf(error)})`, 'ca');
  }
  return null;
};

/** Bytes; the bundle of a whole operating system has a fifth of it. */
const largestBundle = 1_024 * 1_024;
