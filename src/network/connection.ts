import { createRequire } from 'node:module';
import type * as Tls from 'node:tls';

/** What TLS trusts: the usual authorities, and those of `ca` (PEM). Undefined without any of one's own. */
export const trusting = (ca: string | null): Tls.SecureContext | undefined => {
  if (ca === null) return undefined;
  const known = contexts.get(ca) ?? loadTls().createSecureContext({ ca: [...usualAuthorities(), ca] });
  contexts.set(ca, known);
  return known;
};

const contexts = new Map<string, Tls.SecureContext>();

/** Before Node.js 22.15, a list of authorities leaves out those of NODE_EXTRA_CA_CERTS. */
const usualAuthorities = (): readonly string[] => {
  const tls = loadTls();
  return 'getCACertificates' in tls && typeof tls.getCACertificates === 'function'
    ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node.js documents it
      (tls.getCACertificates('default') as string[])
    : tls.rootCertificates;
};

/** Few connections need it, and it takes long to load. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node.js documents it
const loadTls = (): typeof Tls => createRequire(import.meta.url)('node:tls') as typeof Tls;
