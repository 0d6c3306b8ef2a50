import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { AUTHORITATIVE_ANSWER, decode, encode, TRUNCATED_RESPONSE, type Packet } from 'dns-packet';
import { messageOf, UserError } from '../errors.ts';
import type { StoredRecord, SandboxData } from './data.ts';
import { currentRecords } from './subdomains.ts';
import { firstSerial, ownerOf, zoneOf, type Zone } from './zone.ts';

export interface DnsServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Milliseconds until a change is in the answers, as with zones that are loaded periodically. */
  readonly lag?: number;
  readonly read: () => Promise<SandboxData>;
}

export interface SandboxDns {
  /** `127.0.0.1:5353`. */
  readonly place: string;
  close(): void;
}

/**
 * Serves each subdomain as a zone over UDP and TCP, with its current records. The serial of a zone counts its
 * changes. Throws a `UserError` when it cannot listen.
 */
export const startDnsServer = async ({
  host,
  port,
  lag = 0,
  read,
}: DnsServerOptions): Promise<SandboxDns> => {
  const zones = zoneKeeper(lag);
  const answer = async (message: Buffer, room: (query: Packet) => number): Promise<Buffer | null> => {
    const query = decodeSafely(message);
    if (query === null || query.type !== 'query') return null;
    const reply = replyTo(query, zones(await read(), Date.now()));
    const whole = encode(reply);
    if (whole.length <= room(query)) return whole;
    return encode({ ...reply, answers: [], authorities: [], flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE });
  };

  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const tcp = createServer((socket) => serveConnection(socket, (message) => answer(message, () => 65_535)));
  const bound = await listen(udp, tcp, host, port);
  udp.on('error', () => undefined);
  udp.on('message', (message, from) => {
    const send = async (): Promise<void> => {
      const reply = await answer(message, roomOf).catch(() => null);
      if (reply !== null && !isClosed) udp.send(reply, from.port, from.address);
    };
    void send();
  });
  let isClosed = false;
  return {
    place: `${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => {
      isClosed = true;
      udp.close();
      tcp.close();
    },
  };
};

interface KeptZone {
  readonly text: string;
  readonly serial: number;
  readonly zone: Zone;
  /** When a change of the records was noticed; null if there is none. */
  changedAt: number | null;
}

/** Returns the zones, with changes delayed by `lag`; a changed zone has the next serial. */
const zoneKeeper = (lag: number): ((data: SandboxData, now: number) => readonly Zone[]) => {
  const known = new Map<string, KeptZone>();
  const keep = (name: string, records: readonly StoredRecord[], now: number): Zone => {
    const text = JSON.stringify(records);
    const before = known.get(name);
    if (before?.text === text) {
      before.changedAt = null;
      return before.zone;
    }
    if (before !== undefined) {
      before.changedAt ??= now;
      if (now - before.changedAt < lag) return before.zone;
    }
    const serial = before === undefined ? firstSerial(records) : before.serial + 1;
    const zone = zoneOf(name, records, serial);
    known.set(name, { text, serial, zone, changedAt: null });
    return zone;
  };
  return ({ subdomains }, now) => subdomains.map((one) => keep(one.name, currentRecords(one, now), now));
};

const refused = 5;
const noSuchName = 3;

const replyTo = ({ id, questions = [] }: Packet, zones: readonly Zone[]): Packet => {
  const base = { type: 'response', id, questions } as const;
  const [question] = questions;
  const asked = question?.name.toLowerCase() ?? '';
  const zone = zones
    .filter(({ apex }) => asked === apex || asked.endsWith(`.${apex}`))
    .sort((one, other) => other.apex.length - one.apex.length)[0];
  if (question === undefined || zone === undefined) return { ...base, flags: refused };
  const owner = ownerOf(zone, asked);
  const authorities = [zone.soa];
  if (owner === null) return { ...base, flags: AUTHORITATIVE_ANSWER | noSuchName, authorities };
  const all = [...(zone.records.get(owner) ?? []), ...(owner === zone.apex ? [zone.soa] : [])];
  const answers = all
    .filter(({ type }) => type === question.type || type === 'CNAME')
    .map((one) => ({ ...one, name: question.name }));
  return { ...base, flags: AUTHORITATIVE_ANSWER, ...(answers.length > 0 ? { answers } : { authorities }) };
};

/** Octets that the client accepts in one packet: 512 without EDNS. */
const roomOf = ({ additionals = [] }: Packet): number =>
  additionals.reduce((room, one) => (one.type === 'OPT' ? Math.max(512, one.udpPayloadSize) : room), 512);

const decodeSafely = (message: Buffer): Packet | null => {
  try {
    return decode(message);
  } catch {
    return null;
  }
};

const serveConnection = (socket: Socket, answer: (message: Buffer) => Promise<Buffer | null>): void => {
  const send = async (message: Buffer): Promise<void> => {
    const reply = await answer(message).catch(() => null);
    if (reply === null) return;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(reply.length);
    socket.write(Buffer.concat([length, reply]));
  };
  let received = Buffer.alloc(0);
  socket.setTimeout(idleTimeout, () => socket.destroy());
  socket.on('error', () => undefined);
  socket.unref();
  socket.on('data', (piece) => {
    received = Buffer.concat([received, piece]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      void send(Buffer.from(received.subarray(2, end)));
      received = received.subarray(end);
    }
  });
};

/** Milliseconds. */
const idleTimeout = 5_000;

/** Resolves to the port, which is the same for both. */
const listen = async (udp: UdpSocket, tcp: Server, host: string, port: number): Promise<number> => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const bound = await listenTcp(tcp, host, port);
      await bindUdp(udp, host, bound);
      return bound;
    } catch (error) {
      tcp.close();
      if (port === 0 && attempt < maxAttempts) continue;
      throw new UserError(`The sandbox cannot serve DNS on ${host}:${port}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
};

/** A port that is free for TCP may be in use for UDP. */
const maxAttempts = 20;

const listenTcp = (tcp: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen(port, host, () => {
      tcp.off('error', reject);
      const address = tcp.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });

const bindUdp = (udp: UdpSocket, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    udp.once('error', reject);
    udp.bind(port, host, () => {
      udp.off('error', reject);
      resolve();
    });
  });
