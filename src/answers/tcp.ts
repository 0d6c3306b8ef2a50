import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { encodeQuery, readReply, type DnsQuestion, type DnsReply, type QueryOptions } from './message.ts';

/** Asks over a new TCP connection, as for replies that do not fit into a packet (RFC 7766). Null without a reply. */
export const askOverTcp = (
  { address, port }: { readonly address: string; readonly port: number },
  question: DnsQuestion,
  options: QueryOptions,
  signal: AbortSignal,
): Promise<DnsReply | null> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(null);
    const id = randomInt(65_536);
    const query = encodeQuery(id, question, options);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    const socket = connect({ host: address, port });
    let received = Buffer.alloc(0);
    const end = (reply: DnsReply | null): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(reply);
    };
    const onAbort = (): void => end(null);
    signal.addEventListener('abort', onAbort);
    socket.on('connect', () => socket.write(Buffer.concat([length, query])));
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece]);
      for (;;) {
        const size = received.length < 2 ? Infinity : 2 + received.readUInt16BE(0);
        if (received.length < size) return;
        const reply = readReply(received.subarray(2, size), id, question);
        if (reply !== null) return end(reply);
        received = received.subarray(size);
      }
    });
    socket.on('error', () => end(null));
    socket.on('close', () => end(null));
  });
