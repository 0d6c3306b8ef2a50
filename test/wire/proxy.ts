import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listening } from './scripted-server.ts';

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
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  return { url: `http://127.0.0.1:${(await listening(server)).port}`, seen };
};
