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
    const pieces: Buffer[] = [];
    let [received, size] = [0, Infinity];
    const end = (reply: DnsReply | null): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(reply);
    };
    const onAbort = (): void => end(null);
    signal.addEventListener('abort', onAbort);
    socket.on('connect', () => socket.write(Buffer.concat([length, query])));
    socket.on('data', (piece) => {
      pieces.push(piece);
      received += piece.length;
      // The first message is the reply, since nothing else was asked. Its pieces are joined only once.
      if (size === Infinity && received >= 2) size = 2 + Buffer.concat(pieces).readUInt16BE(0);
      if (received >= size) end(readReply(Buffer.concat(pieces, received).subarray(2, size), id, question));
    });
    socket.on('error', () => end(null));
    socket.on('close', () => end(null));
  });
