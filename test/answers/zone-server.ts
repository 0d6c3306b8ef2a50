import { createSocket, type RemoteInfo } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  TRUNCATED_RESPONSE,
  type Answer,
  type Packet,
} from 'dns-packet';

/** A line of a zone: name (whole), type, data, TTL. */
export type ZoneLine = readonly [name: string, type: string, data: unknown, ttl?: number];

export interface ZoneServerOptions {
  readonly apex: string;
  readonly lines: readonly ZoneLine[];
  readonly serial?: number;
  /** Changes a reply over UDP; several are sent one after the other, none for `[]`. */
  readonly udp?: (reply: Packet, query: Packet) => readonly Packet[];
}

export interface ZoneServer {
  /** As `nameservers` takes it. */
  readonly place: string;
  /** Every question in the order of its coming: `udp www.example.net A`. */
  readonly questions: string[];
  zone: { lines: readonly ZoneLine[] };
  /** From now on it answers nothing. */
  hush(): void;
  /** Resolves when it has been asked anything. */
  asked(): Promise<void>;
  close(): Promise<void>;
}

/** A small authoritative server over UDP and TCP, with the wildcards of RFC 4592. */
export const startZoneServer = async (options: ZoneServerOptions): Promise<ZoneServer> => {
  const { apex, serial = 1 } = options;
  const zone = { lines: options.lines };
  const questions: string[] = [];
  const arrivals = new EventEmitter();
  let isSilent = false;
  const soa = (): Answer => ({
    type: 'SOA',
    name: apex,
    ttl: 3_600,
    data: {
      mname: `ns1.${apex}`,
      rname: `hostmaster.${apex}`,
      serial,
      refresh: 1,
      retry: 1,
      expire: 1,
      minimum: 1,
    },
  });
  const replyTo = (query: Packet, way: 'udp' | 'tcp'): Packet => {
    const [{ name: asked, type } = { name: '', type: 'A' }] = query.questions ?? [];
    const name = asked.toLowerCase();
    questions.push(`${way} ${asked} ${type}`);
    const base = {
      type: 'response',
      id: query.id,
      questions: query.questions,
      flags: AUTHORITATIVE_ANSWER,
    } as const;
    if (name !== apex && !name.endsWith(`.${apex}`)) return { ...base, flags: 5 };
    const owner = ownerOf(name, apex, zone.lines);
    if (owner === null) return { ...base, flags: AUTHORITATIVE_ANSWER | 3, authorities: [soa()] };
    const own = zone.lines.filter(([one]) => one === owner);
    const found = own
      .filter(([, one]) => one === type || one === 'CNAME')
      .map((line) => answerOf(line, asked));
    if (type === 'SOA' && name === apex) found.push(soa());
    return found.length > 0 ? { ...base, answers: found } : { ...base, authorities: [soa()] };
  };

  const udp = createSocket('udp4');
  udp.on('message', (message: Buffer, { address, port }: RemoteInfo) => {
    const query = decode(message);
    const reply = fitted(replyTo(query, 'udp'));
    arrivals.emit('asked');
    if (isSilent) return;
    const replies = options.udp?.(reply, query) ?? [reply];
    for (const one of replies) udp.send(encode(one), port, address);
  });
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const reply = replyTo(decode(received.subarray(2)), 'tcp');
      arrivals.emit('asked');
      if (isSilent) return;
      const message = encode(reply);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      // In two pieces, as networks have it.
      socket.write(length);
      socket.write(message);
    });
  });
  const port = await bindBoth(udp, tcp);
  return {
    place: `127.0.0.1:${port}`,
    questions,
    zone,
    hush: () => void (isSilent = true),
    asked: async () => {
      if (questions.length === 0) await once(arrivals, 'asked');
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      udp.close();
      tcp.close();
      await once(tcp, 'close');
    },
  };
};

/** Both on one free port. */
const bindBoth = async (
  udp: ReturnType<typeof createSocket>,
  tcp: ReturnType<typeof createServer>,
): Promise<number> => {
  for (;;) {
    tcp.listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const isFree = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false));
      udp.bind(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) return port;
    tcp.close();
    await once(tcp, 'close');
  }
};

/** The name whose records answer: the name itself, or the wildcard below its closest encloser; null: no such name. */
const ownerOf = (name: string, apex: string, lines: readonly ZoneLine[]): string | null => {
  const exists = (one: string): boolean =>
    one === apex || lines.some(([owner]) => owner === one || owner.endsWith(`.${one}`));
  if (exists(name)) return name;
  let encloser = name.slice(name.indexOf('.') + 1);
  while (!exists(encloser)) encloser = encloser.slice(encloser.indexOf('.') + 1);
  return exists(`*.${encloser}`) ? `*.${encloser}` : null;
};

const answerOf = ([, type, data, ttl = 3_600]: ZoneLine, name: string): Answer =>
  ({ type, name, data, ttl, class: 'IN' }) as Answer;

/** What is too long for a packet is cut off, and says so. */
const fitted = (reply: Packet): Packet =>
  encode(reply).length <= 1_232
    ? reply
    : { ...reply, answers: [], flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE };
