import type { Server } from 'node:http';
import { isIPv4, type Socket } from 'node:net';
import { ipv6Network } from '../model/ipv6.ts';

interface Limits {
  /** Connections from one address. */
  readonly perAddress?: number;
  /** In all: more could use up the descriptors that passes need. */
  readonly total?: number;
}

/**
 * A new connection always gets in: where there are too many, the one that was quiet for the longest time is closed,
 * of the same address first, else of the address that has the most. So nobody who holds connections, or keeps
 * them busy, locks out probes.
 */
export const limitConnections = (server: Server, { perAddress = 100, total = 500 }: Limits = {}): void => {
  /** By address, those that were quiet for the longest time first. */
  const open = new Map<string, Set<Socket>>();
  const addresses = new WeakMap<Socket, string>();
  let count = 0;
  const closeOneOf = (address: string): void => {
    const [quietest] = open.get(address) ?? [];
    if (quietest === undefined) return;
    leave(quietest, address);
    quietest.destroy();
  };
  const leave = (socket: Socket, address: string): void => {
    const sockets = open.get(address);
    if (sockets?.delete(socket) !== true) return;
    count -= 1;
    if (sockets.size === 0) open.delete(address);
  };
  server.on('connection', (socket: Socket) => {
    const address = neighbour(socket.remoteAddress ?? '');
    const sockets = open.get(address) ?? new Set();
    if (sockets.size >= perAddress) closeOneOf(address);
    else if (count >= total) closeOneOf(fullest(open));
    open.set(address, sockets.add(socket));
    addresses.set(socket, address);
    count += 1;
    socket.once('close', () => leave(socket, address));
  });
  server.on('request', ({ socket }) => {
    const sockets = open.get(addresses.get(socket) ?? '');
    if (sockets?.delete(socket) === true) sockets.add(socket);
  });
};

/** One person has a whole network of 64 bits in IPv6. */
const neighbour = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIPv4(plain) ? plain : (ipv6Network(plain.replace(/%.*$/, '')) ?? plain);
};

const fullest = (open: ReadonlyMap<string, ReadonlySet<Socket>>): string => {
  let [found, size] = ['', 0];
  for (const [address, sockets] of open) if (sockets.size > size) [found, size] = [address, sockets.size];
  return found;
};
