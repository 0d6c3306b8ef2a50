import { request as requestInClear } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { credentialsIn, type Proxy } from '../model/route.ts';

/** Why there is no way through a proxy. The message has no password. */
export class ProxyError extends Error {
  override name = 'ProxyError';
}

/** Opens a way through a proxy to a host and port (RFC 9110 §9.3.6), within so many milliseconds. */
export const openTunnel = (
  proxy: Proxy,
  to: { readonly host: string; readonly port: number; readonly timeout: number },
  done: (error: ProxyError | null, socket: Socket | null) => void,
): void => {
  const { url, shown, place } = proxy;
  const { protocol, hostname, port } = new URL(url);
  const target = `${isIPv6(to.host) ? `[${to.host}]` : to.host}:${to.port}`;
  const request = (protocol === 'https:' ? requestSecure : requestInClear)({
    method: 'CONNECT',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port || (protocol === 'https:' ? 443 : 80),
    path: target,
    headers: { host: target, ...proxyHeaders(proxy) },
    agent: false,
  });
  let isSettled = false;
  const settle = (why: string | null, socket: Socket | null): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    if (socket === null) request.destroy();
    done(why === null ? null : new ProxyError(`the proxy ${shown} (${place}) ${why}`), socket);
  };
  const timer = setTimeout(() => settle(`opened no connection within ${to.timeout} ms`, null), to.timeout);
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    const isOpen = statusCode >= 200 && statusCode <= 299;
    if (head.length > 0) socket.unshift(head);
    if (!isOpen) socket.destroy();
    settle(isOpen ? null : whyNot(statusCode), isOpen ? socket : null);
  });
  request.on('response', ({ statusCode = 0 }) => settle(whyNot(statusCode), null));
  request.on('error', (error) =>
    settle(`cannot be reached: ${'code' in error ? String(error.code) : error.name}`, null),
  );
  request.end();
};

const whyNot = (status: number): string =>
  status === 407
    ? 'answered 407: it wants a user and a password, as in http://USER:PASSWORD@HOST:PORT'
    : `opens no connection to this host and port: it answered ${status}`;

/** What a proxy is sent by itself: user and password, if it wants some. */
export const proxyHeaders = ({ url }: Proxy): Record<string, string> => {
  const credentials = credentialsIn(url);
  if (credentials === '') return {};
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
};
