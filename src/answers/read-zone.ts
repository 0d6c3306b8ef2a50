import type { DnsServer } from './dns-server.ts';
import { soaIn } from './find-servers.ts';
import { parentOf } from './names.ts';
import { faultOf, type ReplyFault } from './reply-fault.ts';

/** What a server tells of the zone in which it holds a subdomain. */
export interface ServedZone {
  /** Null where the server does not tell. */
  readonly apex: string | null;
  readonly serial: number | null;
  /** The server that its serials are counted by. */
  readonly primary: string | null;
}

/** The zone that the server has for a subdomain, or why it has none. */
export const readZone = async (server: DnsServer, subdomain: string): Promise<ServedZone | ReplyFault> => {
  for (let name: string | null = subdomain; name !== null; name = parentOf(name)) {
    const reply = await server.ask({ name, type: 'SOA' });
    const fault = faultOf(reply, name);
    if (fault !== null) {
      // Above the zone the server need not know anything.
      return name === subdomain ? fault : untold;
    }
    const soa = soaIn(reply!, name);
    if (soa !== undefined) return { apex: soa.name, serial: soa.serial, primary: soa.content };
  }
  return untold;
};

const untold: ServedZone = { apex: null, serial: null, primary: null };
