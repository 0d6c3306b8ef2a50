import type { ServerResult } from '../result.ts';
import { compareSets, type SetDifference } from './compare-sets.ts';
import type { DnsServer } from './dns-server.ts';
import { readZone, type ServedZone } from './read-zone.ts';
import type { ShownRecords } from './record-sets.ts';
import { ReadError } from './reply-fault.ts';

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
