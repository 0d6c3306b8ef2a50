import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A port of this machine that nobody listened on a moment ago. */
export const freePort = async (): Promise<number> => {
  const tcp = createServer().listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  tcp.close();
  await once(tcp, 'close');
  return port;
};
