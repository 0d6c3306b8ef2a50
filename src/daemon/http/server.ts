import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { UserError } from '../../errors.ts';
import { routes, type RouteOptions } from './routes.ts';

export interface ServerOptions extends RouteOptions {
  /** Port 0: any free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Milliseconds after which a client that takes nothing of its answer is let go. */
  readonly patience?: number;
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
  // Those that never read would keep their connections for ever, and probes would find none free.
  server.timeout = options.patience ?? 60_000;
  const { host, port } = options.listen;
  const name = host.includes(':') ? `[${host}]` : host;
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    const message = `cannot listen on ${name}:${port}: ${causes.get(code) ?? String(code)}; choose another with --listen HOST:PORT, or --listen off`;
    throw new UserError(message, { cause: error });
  }
  server.on('error', (error) =>
    options.log.error({ event: 'listen.error', err: error }, 'the HTTP server has an error'),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const address = server.address() as AddressInfo;
  return {
    url: `http://${name}:${address.port}`,
    // Whatever name the settings use.
    isLocal: /^(::1$|127\.|::ffff:127\.)/.test(address.address),
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

const causes = new Map<unknown, string>([
  ['EADDRINUSE', 'the address is in use already'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EACCES', 'no permission for this port'],
  ['ENOTFOUND', 'there is no such host'],
]);
