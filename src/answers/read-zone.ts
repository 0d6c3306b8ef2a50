import type { DnsServer } from './dns-server.ts';
import { soaIn } from './find-servers.ts';
import { parentOf } from './names.ts';
import { errorOf, type ReplyError } from './reply-fault.ts';

/** A server's zone of a subdomain. */
export interface ServedZone {
  /** Null if the server does not say. */
  readonly apex: string | null;
  readonly serial: number | null;
  /** The primary server, which counts the serials. */
  readonly primary: string | null;
}

/** The server's zone of a subdomain, or why it has none. */
export const readZone = async (server: DnsServer, subdomain: string): Promise<ServedZone | ReplyError> => {
  for (let name: string | null = subdomain; name !== null; name = parentOf(name)) {
    const reply = await server.ask({ name, type: 'SOA' });
    const error = errorOf(server, reply, name);
    if (error !== null) {
      // A server need not answer for names above its zone.
      return name === subdomain ? error : noZone;
    }
    const soa = soaIn(reply!, name);
    if (soa !== undefined) return { apex: soa.name, serial: soa.serial, primary: soa.content };
  }
  return noZone;
};

const noZone: ServedZone = { apex: null, serial: null, primary: null };
