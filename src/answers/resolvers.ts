import { getServers } from 'node:dns';
import { parseNameServer } from '../model/name-server.ts';
import { openDnsServer, type AskOptions, type DnsServer } from './dns-server.ts';

/** The recursive servers of the operating system, in its order. */
export const systemResolvers = (): readonly string[] => {
  const found = getServers();
  return found.length > 0 ? found : ['127.0.0.1'];
};

/** Asks recursive servers in turn: the next one where one is silent or fails. */
export const openResolvers = (places: readonly string[], options: AskOptions): DnsServer => {
  const opened = new Map<string, Promise<DnsServer | null>>();
  const open = (place: string): Promise<DnsServer | null> => {
    const { host, port } = parseNameServer(place) ?? { host: '', port: 53 };
    const server = opened.get(place) ?? openDnsServer({ address: host, port }, true, options);
    opened.set(place, server);
    return server;
  };
  let areSilent = false;
  return {
    ask: async (question) => {
      let last: Awaited<ReturnType<DnsServer['ask']>> = null;
      let silent = 0;
      for (const place of places) {
        const server = await open(place);
        const reply = (await server?.ask(question)) ?? null;
        if (reply !== null && !failures.has(reply.rcode)) return reply;
        if (server === null || server.isSilent()) silent += 1;
        last = reply ?? last;
      }
      areSilent ||= silent === places.length;
      return last;
    },
    isSilent: () => areSilent,
    close: () => {
      for (const server of opened.values()) void server.then((one) => one?.close());
    },
  };
};

const failures: ReadonlySet<string> = new Set(['SERVFAIL', 'REFUSED', 'NOTIMP', 'FORMERR']);
