import type { Server } from 'node:http';
import { isIPv4, type Socket } from 'node:net';
import { ipv6Network } from '../../model/ipv6.ts';

interface Limits {
  /** Connections from one address. */
  readonly perAddress?: number;
  /** Connections in all. More could use up the file descriptors that passes need. */
  readonly total?: number;
}

/**
 * Accepts every new connection. If there are too many, it closes the one that has been idle longest: of the
 * same address, or else of the address with the most. So nobody can lock out probes by holding connections.
 */
export const limitConnections = (server: Server, { perAddress = 100, total = 500 }: Limits = {}): void => {
  /** By address; those that have been idle longest come first. */
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

/** In IPv6 one person has a whole /64 network. */
const neighbour = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIPv4(plain) ? plain : (ipv6Network(plain.replace(/%.*$/, '')) ?? plain);
};

const fullest = (open: ReadonlyMap<string, ReadonlySet<Socket>>): string => {
  let [found, size] = ['', 0];
  for (const [address, sockets] of open) if (sockets.size > size) [found, size] = [address, sockets.size];
  return found;
};
