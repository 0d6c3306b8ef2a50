import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TestProxy {
  readonly url: string;
  /** `METHOD ADDRESS` of each request, in order. */
  readonly seen: string[];
}

export interface ProxyOptions {
  /** `USER:PASSWORD` that it wants. */
  readonly credentials?: string;
  /** It opens no tunnel: this status instead. */
  readonly refusal?: number;
}

/** An HTTP proxy that takes any host name for this machine. */
export const startProxy = async ({ credentials, refusal }: ProxyOptions = {}): Promise<TestProxy> => {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', (incoming, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    const { 'proxy-authorization': given } = incoming.headers;
    const isAllowed =
      credentials === undefined || given === `Basic ${Buffer.from(credentials).toString('base64')}`;
    const status = isAllowed ? (refusal ?? 200) : 407;
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const onward = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => socket.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
};
