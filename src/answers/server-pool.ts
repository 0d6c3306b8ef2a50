import { openDnsServer, type AskOptions, type DnsServer, type ServerAddress } from './dns-server.ts';

/** Servers by address: one socket each, open while it is in use. */
export interface ServerPool {
  /** The server is null if there is no route to it. */
  use<T>(place: ServerAddress, task: (server: DnsServer | null) => T | Promise<T>): Promise<T>;
  close(): void;
}

interface Pooled {
  readonly server: Promise<DnsServer | null>;
  uses: number;
}

export const serverPool = (options: AskOptions): ServerPool => {
  const pooled = new Map<string, Pooled>();
  const silent = new Set<string>();
  return {
    use: async ({ address, port }, task) => {
      const key = `${address} ${port}`;
      if (silent.has(key)) return task(silentServer);
      const one = pooled.get(key) ?? { server: openDnsServer({ address, port }, false, options), uses: 0 };
      pooled.set(key, one);
      one.uses += 1;
      const server = await one.server;
      try {
        return await task(server);
      } finally {
        if (server?.isSilent() === true) silent.add(key);
        one.uses -= 1;
        if (one.uses === 0) {
          pooled.delete(key);
          server?.close();
        }
      }
    },
    close: () => {
      for (const { server } of pooled.values()) void server.then((one) => one?.close());
    },
  };
};

/** A server that did not answer is not asked about the next subdomain: thousands of timeouts would take hours. */
const silentServer: DnsServer = {
  ask: () => Promise.resolve(null),
  isSilent: () => true,
  close: () => undefined,
};
