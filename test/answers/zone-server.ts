import { createSocket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { AUTHORITATIVE_ANSWER, decode, encode, type Answer, type Packet } from 'dns-packet';

/** A line of a zone: name (whole), type, data, TTL. */
export type ZoneLine = readonly [name: string, type: string, data: unknown, ttl?: number];

export interface ZoneServerOptions {
  readonly apex: string;
  readonly lines: readonly ZoneLine[];
  readonly serial?: number;
  /** Changes a reply; several are sent one after the other, none for `[]`. */
  readonly replies?: (reply: Packet, query: Packet) => readonly Packet[];
}

export interface ZoneServer {
  /** As `nameservers` takes it. */
  readonly place: string;
  /** Every question in the order of its coming: `www.example.net A`. */
  readonly questions: string[];
  zone: { lines: readonly ZoneLine[] };
  /** From now on it answers nothing. */
  hush(): void;
  /** Resolves when it has been asked anything. */
  asked(): Promise<void>;
  close(): Promise<void>;
}

/** A small authoritative server over UDP. */
export const startZoneServer = async ({
  apex,
  lines,
  serial = 1,
  replies = (reply) => [reply],
}: ZoneServerOptions): Promise<ZoneServer> => {
  const zone = { lines };
  const questions: string[] = [];
  const arrivals = new EventEmitter();
  let isSilent = false;
  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
    const query = decode(message);
    const [{ name, type } = { name: '', type: 'A' }] = query.questions ?? [];
    questions.push(`${name} ${type}`);
    arrivals.emit('asked');
    if (isSilent) return;
    const reply = { type: 'response', id: query.id, questions: query.questions } as const;
    const answered = { ...reply, ...answerTo({ name, type }, { apex, serial, ...zone }) };
    for (const one of replies(answered, query)) socket.send(encode(one), port, address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return {
    place: `127.0.0.1:${socket.address().port}`,
    questions,
    zone,
    hush: () => void (isSilent = true),
    asked: async () => {
      if (questions.length === 0) await once(arrivals, 'asked');
    },
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
};

const answerTo = (
  { name: asked, type }: { readonly name: string; readonly type: string },
  { apex, serial, lines }: Required<Omit<ZoneServerOptions, 'replies'>>,
): Packet => {
  const name = asked.toLowerCase();
  if (name !== apex && !name.endsWith(`.${apex}`)) return { flags: refused };
  const names = { mname: `ns1.${apex}`, rname: `hostmaster.${apex}` };
  const data = { ...names, serial, refresh: 1, retry: 1, expire: 1, minimum: 1 };
  const soa: Answer = { type: 'SOA', name: apex, ttl: 3_600, data };
  if (type === 'SOA' && name === apex) return { flags: AUTHORITATIVE_ANSWER, answers: [soa] };
  const exists = name === apex || lines.some(([owner]) => owner === name || owner.endsWith(`.${name}`));
  const answers = lines
    .filter(([owner, one]) => owner === name && (one === type || one === 'CNAME'))
    .map(
      ([, one, content, ttl = 3_600]) =>
        ({ type: one, name: asked, data: content, ttl, class: 'IN' }) as Answer,
    );
  if (answers.length > 0) return { flags: AUTHORITATIVE_ANSWER, answers };
  return { flags: exists ? AUTHORITATIVE_ANSWER : AUTHORITATIVE_ANSWER | noSuchName, authorities: [soa] };
};

const noSuchName = 3;
const refused = 5;
