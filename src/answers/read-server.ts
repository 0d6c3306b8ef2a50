import type { ServerResult } from '../result.ts';
import { compareSets, type SetDifference } from './compare-sets.ts';
import type { DnsServer } from './dns-server.ts';
import type { ShownRecords } from './record-sets.ts';
import { ReadError, errorOf, type ReplyError } from './reply-fault.ts';
import { soaIn } from './find-servers.ts';
import { parentOf } from './names.ts';

/** The differences between one server's answers and what the service shows. */
export interface ServerReading extends Pick<ServedZone, 'serial' | 'primary'> {
  readonly status: ServerResult['status'];
  readonly message: string | null;
  readonly differences: readonly SetDifference[];
}

/** Queries one server for each record set that the service shows, and for others that may exist beside them. */
export const readServer = async (server: DnsServer, shown: ShownRecords): Promise<ServerReading> => {
  const start = await readZone(server, shown.subdomain);
  if ('status' in start) return { ...nothing, ...start };
  const { apex, serial, primary } = start;
  try {
    const differences = await compareSets(server, shown, apex);
    const found = { serial, primary, message: null, differences };
    if (differences.every(({ kind }) => kind === 'flattened')) return { ...found, status: 'in-sync' };
    const end = await readZone(server, shown.subdomain);
    if (!('serial' in end) || end.serial === serial) return { ...found, status: 'drifted' };
    return { ...found, status: 'pending', message: 'the zone changed while it was read' };
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return { ...nothing, serial, primary, status: error.status, message: error.message };
  }
};

const nothing = { serial: null, primary: null, differences: [] };

/** A server's zone of a subdomain. */
interface ServedZone {
  /** Null if the server does not say. */
  readonly apex: string | null;
  readonly serial: number | null;
  /** The primary server, which counts the serials. */
  readonly primary: string | null;
}

/** The server's zone of a subdomain, or why it has none. */
const readZone = async (server: DnsServer, subdomain: string): Promise<ServedZone | ReplyError> => {
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
