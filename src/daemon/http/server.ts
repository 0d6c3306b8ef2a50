import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { UserError } from '../../errors.ts';
import { routes, type RouteOptions } from './routes.ts';

export interface ServerOptions extends RouteOptions {
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number };
}

export interface RunningServer {
  /** The address it really listens on, such as `http://127.0.0.1:8053`. */
  readonly url: string;
  /** Whether only this machine can reach it. */
  readonly isLocal: boolean;
  readonly close: () => Promise<void>;
}

/** Throws a UserError if it cannot listen. */
export const startServer = async (options: ServerOptions): Promise<RunningServer> => {
  const answer = getRequestListener(routes(options).fetch, { hostname: noHost });
  const server = createServer(timeouts, (request, response) => void answer(request, response));
  // More could use up the file descriptors that passes need.
  server.maxConnections = 500;
  await listen(server, options.listen);
  server.on('error', (error) =>
    options.log.error({ event: 'listen.error', err: error }, 'the HTTP server has an error'),
  );
  return {
    url: urlOf(server, options.listen.host),
    isLocal: isLoopbackAddress(addressOf(server)?.address ?? ''),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Requests are small: a client that takes longer to send one only blocks a connection. */
const timeouts = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};

/** The host of a request without a Host header, which some probes send with HTTP/1.0. */
const noHost = 'none.invalid';

const listen = (server: Server, { host, port }: ServerOptions['listen']): Promise<void> =>
  new Promise((resolve, reject) => {
    const refuse = (error: Error): void => {
      const why = 'code' in error ? (causes.get(error.code) ?? error.code) : error.message;
      const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      const message = `cannot listen on ${place}: ${String(why)}; choose another with --listen HOST:PORT, or --listen off`;
      reject(new UserError(message, { cause: error }));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      resolve();
    });
  });

const causes = new Map<unknown, string>([
  ['EADDRINUSE', 'the address is in use already'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EACCES', 'no permission for this port'],
  ['ENOTFOUND', 'there is no such host'],
]);

const urlOf = (server: Server, host: string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${addressOf(server)?.port ?? 0}`;

/** The address it really listens on, whatever name the settings use. */
const addressOf = (server: Server): AddressInfo | null => {
  const address = server.address();
  return typeof address === 'object' ? address : null;
};

const isLoopbackAddress = (address: string): boolean => /^(::1$|127\.|::ffff:127\.)/.test(address);
