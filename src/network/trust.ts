import { createRequire } from 'node:module';
import type * as Tls from 'node:tls';
import type { DetailedPeerCertificate, SecureContext, TLSSocket } from 'node:tls';
import type { Authorities } from '../model/route.ts';
import { WireError } from './wire-error.ts';

/** Few connections need it, and it takes long to load. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node.js documents it
export const loadTls = (): typeof Tls => createRequire(import.meta.url)('node:tls') as typeof Tls;

/** What a connection trusts: the usual authorities, and those of `ca`. */
export const trusting = (ca: Authorities | null): { readonly secureContext?: SecureContext } => {
  if (ca === null) return {};
  const pem = ca.pem();
  const secureContext =
    contexts.get(pem) ?? loadTls().createSecureContext({ ca: [...usualAuthorities(), pem] });
  contexts.set(pem, secureContext);
  return { secureContext };
};

const contexts = new Map<string, SecureContext>();

/** Before Node.js 22.15, a list of authorities leaves out those of NODE_EXTRA_CA_CERTS. */
const usualAuthorities = (): readonly string[] => {
  const tls = loadTls();
  return 'getCACertificates' in tls && typeof tls.getCACertificates === 'function'
    ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node.js documents it
      (tls.getCACertificates('default') as string[])
    : tls.rootCertificates;
};

/** Why the certificate of a connection is not trusted, and where to look for the fault. */
export const distrust = (secured: TLSSocket, host: string, hasCa: boolean): WireError => {
  // Node.js gives the code, though its type says otherwise.
  const code = String(secured.authorizationError);
  const chain = chainOf(secured.getPeerCertificate(true));
  const text = `${wordsOn(code, chain, host, hasCa)} (${code})`;
  return new WireError(text, { fault: 'network', sent: false, code });
};

const wordsOn = (
  code: string,
  chain: readonly DetailedPeerCertificate[],
  host: string,
  hasCa: boolean,
): string => {
  const now = Date.now();
  const [own] = chain;
  switch (code) {
    case 'CERT_HAS_EXPIRED': {
      const expired = chain.find(({ valid_to: end }) => Date.parse(end) < now) ?? own;
      return `${whose(expired, own)} expired on ${timeText(expired?.valid_to)}; here it is ${timeText(now)}`;
    }
    case 'CERT_NOT_YET_VALID': {
      const early = chain.find(({ valid_from: start }) => Date.parse(start) > now) ?? own;
      return `${whose(early, own)} is valid from ${timeText(early?.valid_from)} on; here it is ${timeText(now)}: is this clock right?`;
    }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is for ${namesIn(own)}, not for ${host}: check the base URL`;
    default: {
      const mayLackIssuer = /^UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)/.test(code);
      const advice = hasCa
        ? `, which ca does not have${mayLackIssuer ? '; the service may lack the intermediate certificate' : ''}`
        : `; if that is an authority of your own, set ca${mayLackIssuer ? ', else the service lacks the intermediate certificate' : ''}`;
      return `its certificate is not trusted: it comes from ${nameOf(chain.at(-1)?.issuer)}${advice}`;
    }
  }
};

/** From the server's own to the last one that is known. */
const chainOf = (own: DetailedPeerCertificate): DetailedPeerCertificate[] => {
  const chain: DetailedPeerCertificate[] = [];
  for (let one = own; one?.subject && !chain.includes(one); one = one.issuerCertificate) chain.push(one);
  return chain;
};

const whose = (one: DetailedPeerCertificate | undefined, own: DetailedPeerCertificate | undefined): string =>
  one === own ? 'its certificate' : `the certificate of ${nameOf(one?.subject)}, which issued its own,`;

const namesIn = (own: DetailedPeerCertificate | undefined): string => {
  const names = (own?.subjectaltname ?? '').split(', ').map((name) => name.replace(/^[^:]*:/, ''));
  const known = names.filter((name) => name !== '');
  return (known.length > 0 ? known : [nameOf(own?.subject)]).slice(0, mostNames).join(', ');
};

const mostNames = 5;

/** Of an authority, as people know it. */
const nameOf = (subject: Partial<DetailedPeerCertificate['subject']> | undefined): string =>
  [subject?.O, subject?.CN].flat().filter(Boolean).join(', ') || 'an authority without a name';

const timeText = (time: string | number | undefined): string =>
  new Date(time ?? Number.NaN).toJSON()?.replace(/\.\d+Z$/, 'Z') ?? 'an unknown date';
