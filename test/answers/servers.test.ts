import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AUTHORITATIVE_ANSWER, encode, TRUNCATED_RESPONSE, type Packet } from 'dns-packet';
import { describe, expect, it } from 'vitest';
import { openAnswers } from '../../src/answers/answers.ts';
import { apex, check, serve, shown, told } from './checked.ts';
import { startZoneServer, type ZoneLine } from './zone-server.ts';

const records = [shown('A', null, '192.0.2.1')];
const lines: readonly ZoneLine[] = [[apex, 'A', '192.0.2.1']];
const stale: readonly ZoneLine[] = [[apex, 'A', '192.0.2.9']];

/** As Node.js does when it needs memory. */
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

const bareHeader = (reply: Packet, flags: number): Buffer =>
  encode({ ...reply, questions: [], answers: [], authorities: [], flags });

const withEdns = (reply: Packet, extendedRcode: number): Packet => ({
  ...reply,
  answers: [],
  authorities: [],
  additionals: [
    {
      type: 'OPT',
      name: '.',
      udpPayloadSize: 1_232,
      extendedRcode,
      ednsVersion: 0,
      flags: 0,
      flag_do: false,
      options: [],
    },
  ],
});

const withAddress = (reply: Packet, data: string): Packet => ({
  ...reply,
  answers: reply.answers?.map((answer) => (answer.type === 'A' ? { ...answer, data } : answer)) ?? [],
});

describe('a reply', () => {
  it.each<[string, (reply: Packet) => Packet]>([
    ['of another id', (reply) => ({ ...reply, id: ((reply.id ?? 0) + 1) & 0xffff })],
    ['to another question', (reply) => ({ ...reply, questions: [{ name: `x.${apex}`, type: 'A' }] })],
    ['to a question of another type', (reply) => ({ ...reply, questions: [{ name: apex, type: 'TXT' }] })],
    ['without a question', (reply) => ({ ...reply, questions: [] })],
    ['that is a query', (reply) => ({ ...reply, type: 'query' })],
  ])('%s is ignored, and the true one waited for', async (_, forge) => {
    const server = await serve({ lines, udp: (reply) => [forge(withAddress(reply, '203.0.113.66')), reply] });
    const found = await check(records, [server]);
    expect(found).toMatchObject({ status: 'in-sync', differences: [] });
  });

  it('that is malformed is ignored', async () => {
    const server = await serve({
      lines,
      udp: (reply) => [
        Buffer.of(1),
        encode(reply).subarray(0, 20),
        Buffer.concat([encode({ ...reply, answers: [] }).subarray(0, 12), Buffer.alloc(40, 0xff)]),
        reply,
      ],
    });
    expect(await check(records, [server])).toMatchObject({ status: 'in-sync' });
  });

  it('that was truncated is repeated over TCP', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(100)}`);
    const server = await serve({ lines: texts.map((text) => [apex, 'TXT', text]) });
    const found = await check(
      texts.map((text) => shown('TXT', null, text)),
      [server],
    );
    expect(found).toMatchObject({ status: 'in-sync', differences: [] });
    expect(server.questions).toContain(`tcp ${apex} TXT`);
  });

  it('over TCP must match its question too', async () => {
    const server = await serve({
      lines,
      udp: (reply) => [{ ...reply, answers: [], flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE }],
      tcp: (reply) => ({ ...reply, id: ((reply.id ?? 0) + 1) & 0xffff }),
    });
    const found = await check(records, [server], { timeout: 300 });
    expect(found).toMatchObject({ status: 'failed', servers: [{ status: 'silent' }] });
  });

  it('that is lost is asked for again', async () => {
    const lost = new Set<string>();
    const server = await serve({
      lines,
      udp: (reply) => {
        const key = JSON.stringify(reply.questions);
        if (lost.has(key)) return [reply];
        lost.add(key);
        return [];
      },
    });
    expect(await check(records, [server], { timeout: 1_000 })).toMatchObject({ status: 'in-sync' });
  });

  it('that is dropped, as by a server that limits their rate, is asked for over TCP', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    let left = 20;
    const server = await serve({
      lines: names.map((name) => [`${name}.${apex}`, 'TXT', 'text']),
      udp: (reply) => ((left -= 1) >= 0 ? [reply] : []),
    });
    const many = names.map((name) => shown('TXT', name, 'text'));
    const found = await check(many, [server], { timeout: 1_000 });
    expect(found).toMatchObject({ status: 'in-sync', differences: [] });
    // From the first that is lost, no more packets are tried.
    expect(server.questions.filter((one) => one.startsWith('udp')).length).toBeLessThan(200);
  });

  it.each<[string, (reply: Packet) => readonly (Packet | Buffer)[]]>([
    ['rejects EDNS', (reply) => [{ ...reply, answers: [], authorities: [], flags: 1 }]],
    ['rejects EDNS with a bare header', (reply) => [bareHeader(reply, 1)]],
    ['rejects the version of EDNS', (reply) => [encode(withEdns(reply, 1))]],
    ['says nothing about EDNS', () => []],
  ])('that %s is asked for without it', async (_, refuse) => {
    const server = await serve({
      lines,
      udp: (reply, query) => ((query.additionals ?? []).length > 0 ? refuse(reply) : [reply]),
      tcp: () => null,
    });
    const many = [...records, shown('A', 'www', '192.0.2.2'), shown('A', 'mail', '192.0.2.3')];
    server.zone.lines = [...lines, [`www.${apex}`, 'A', '192.0.2.2'], [`mail.${apex}`, 'A', '192.0.2.3']];
    expect(await check(many, [server])).toMatchObject({ status: 'in-sync', differences: [] });
  });

  it('that is longer than a packet may be is dropped, and asked for over TCP', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(100)}`);
    const answers = texts.map((data) => ({ type: 'TXT', name: apex, data, ttl: 3_600 }) as const);
    const isText = ({ questions = [] }: Packet): boolean => questions[0]?.type === 'TXT';
    const server = await serve({
      lines: texts.map((text) => [apex, 'TXT', text]),
      udp: (reply) => [
        isText(reply)
          ? encode({ ...reply, flags: AUTHORITATIVE_ANSWER, answers: [...answers, ...answers] })
          : reply,
      ],
    });
    const found = await check(
      texts.map((text) => shown('TXT', null, text)),
      [server],
    );
    expect(found).toMatchObject({ status: 'in-sync', differences: [] });
    expect(server.questions).toContain(`tcp ${apex} TXT`);
  });

  it('that was truncated is asked for in a larger packet if the server does not answer over TCP', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(100)}`);
    const whole = texts.map((data) => ({ type: 'TXT', name: apex, data, ttl: 3_600 }) as const);
    let largest = 0;
    const server = await serve({
      lines: texts.map((text) => [apex, 'TXT', text]),
      udp: (reply, query) => {
        const [edns] = query.additionals ?? [];
        const room = edns?.type === 'OPT' ? edns.udpPayloadSize : 512;
        if (room > 1_232) largest = room;
        const isText = query.questions?.[0]?.type === 'TXT';
        return [isText && room > 1_232 ? { ...reply, flags: AUTHORITATIVE_ANSWER, answers: whole } : reply];
      },
      tcp: () => null,
    });
    const many = texts.map((text) => shown('TXT', null, text));
    expect(await check(many, [server])).toMatchObject({ status: 'in-sync', differences: [] });
    expect(largest).toBe(4_096);
  });

  it.each([
    ['every second packet', (count: number) => count % 2 === 0],
    ['two packets in a row', (count: number) => count % 3 === 0],
  ])('is had from a server without TCP that answers %s', async (_title, isAnswered) => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    let count = 0;
    const server = await serve({
      lines: names.map((name) => [`${name}.${apex}`, 'TXT', 'text']),
      udp: (reply) => (isAnswered((count += 1)) ? [reply] : []),
      tcp: () => null,
    });
    const many = names.map((name) => shown('TXT', name, 'text'));
    expect(await check(many, [server], { timeout: 500 })).toMatchObject({
      status: 'in-sync',
      differences: [],
    });
  });
});

describe('a server', () => {
  const good = (): ReturnType<typeof serve> => serve({ lines });

  it('that answers without authority is lame', async () => {
    const lame = await serve({ lines, udp: (reply) => [{ ...reply, flags: 0 }] });
    const found = await check(records, [await good(), lame]);
    expect(found).toMatchObject({
      status: 'drifted',
      differences: [],
      servers: [
        { status: 'in-sync' },
        { status: 'lame', message: expect.stringMatching(/without authority/) },
      ],
    });
  });

  it('that fails once among thirty answers is not lame', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    let hasFailed = false;
    const server = await serve({
      lines: names.map((name) => [`${name}.${apex}`, 'TXT', 'text']),
      udp: (reply) => {
        if (hasFailed || reply.questions?.[0]?.name !== `n7.${apex}`) return [reply];
        hasFailed = true;
        return [{ ...reply, answers: [], flags: 2 }];
      },
    });
    const many = names.map((name) => shown('TXT', name, 'text'));
    expect(await check(many, [server])).toMatchObject({ status: 'in-sync', differences: [] });
    expect(hasFailed).toBe(true);
  });

  it('that cannot answer is lame, and one that does not serve the zone refuses', async () => {
    const broken = await serve({ lines, udp: (reply) => [{ ...reply, answers: [], flags: 2 }] });
    const other = await serve({ apex: 'other.example.org' });
    const found = await check(records, [await good(), broken, other]);
    expect(found.servers.map(({ status }) => status)).toEqual(['in-sync', 'lame', 'refused']);
    expect(found.servers[1]?.message).toMatch(/SERVFAIL/);
  });

  it('that does not answer is silent, and is waited for only once', async () => {
    const silent = await serve({ lines, udp: () => [], tcp: () => null });
    const many = Array.from({ length: 500 }, (_, index) => shown('A', `n${index}`, '192.0.2.1'));
    const found = await check(many, [silent], { timeout: 300 });
    expect(found).toMatchObject({
      status: 'failed',
      servers: [{ status: 'silent', message: 'it does not answer' }],
    });
    expect(silent.questions.length).toBeLessThan(10);
  });

  it('that accepts connections and says nothing is silent, whatever is collected meanwhile', async () => {
    const tcp = (): null => {
      setImmediate(collectGarbage);
      return null;
    };
    const silent = await serve({ lines, udp: () => [], tcp });
    expect(await check(records, [silent], { timeout: 1_000 })).toMatchObject({
      status: 'failed',
      servers: [{ status: 'silent' }],
    });
    expect(silent.questions.some((one) => one.startsWith('tcp'))).toBe(true);
  });

  it('that stops answering is silent, for any earlier answers', async () => {
    const server = await serve({
      lines,
      udp: (reply) => (reply.questions?.[0]?.type === 'SOA' ? [reply] : []),
      tcp: () => null,
    });
    const many = Array.from({ length: 500 }, (_, index) => shown('TXT', `n${index}`, 'text'));
    const found = await check(many, [server], { timeout: 300 });
    expect(found).toMatchObject({ status: 'failed', servers: [{ status: 'silent', serial: 1 }] });
    expect(server.questions.length).toBeLessThan(200);
  });

  it('that was silent for one subdomain is not waited for in the next', async () => {
    const silent = await serve({ lines, udp: () => [], tcp: () => null });
    const answers = openAnswers({
      timeout: 300,
      signal: new AbortController().signal,
      resolver: null,
      grace: 0,
      now: Date.now,
    });
    const about = { records, nameservers: [silent.place], lastWriteAt: null, previous: null };
    await answers.check({ ...about, subdomain: apex });
    const asked = silent.questions.length;
    const found = await answers.check({ ...about, subdomain: `other.${apex}` });
    answers.close();
    expect(found).toMatchObject({ status: 'failed', servers: [{ status: 'silent' }] });
    expect(silent.questions).toHaveLength(asked);
  });

  it('that does not exist is silent', async () => {
    const gone = await startZoneServer({ apex, lines });
    await gone.close();
    const found = await check(records, [], { nameservers: [gone.place], timeout: 600 });
    expect(found).toMatchObject({ status: 'failed', servers: [{ status: 'silent' }] });
  });

  it('that is slow is waited for', async () => {
    const server = await serve({ lines, delay: 700 });
    expect(await check(records, [server], { timeout: 3_000 })).toMatchObject({ status: 'in-sync' });
  });

  it('is asked over IPv6 too', async () => {
    const server = await serve({ lines, host: '::1' });
    expect(await check(records, [server])).toMatchObject({
      status: 'in-sync',
      servers: [{ address: server.place }],
    });
  });

  it('is no longer asked after an abort', async () => {
    const leaving = new AbortController();
    const server = await serve({
      lines,
      udp: () => {
        leaving.abort();
        return [];
      },
      tcp: () => null,
    });
    const found = await check(records, [server], { signal: leaving.signal, timeout: 60_000 });
    expect(found.status).toBe('failed');
  });
});

describe('servers that differ', () => {
  it('in their serials are pending, and different answers are no drift', async () => {
    const [ahead, behind] = [await serve({ lines, serial: 2 }), await serve({ lines: stale, serial: 1 })];
    const found = await check(records, [ahead, behind]);
    expect(found).toMatchObject({
      status: 'pending',
      servers: [
        { status: 'in-sync', serial: 2 },
        { status: 'pending', serial: 1, message: 'the servers have different serials of the zone' },
      ],
    });
    expect(told(found)).toEqual([`stale ${apex} A: 192.0.2.1 → 192.0.2.9`]);
  });

  it('in their answers are drift if their serials agree, and each is reported', async () => {
    const [one, other] = [await serve({ lines }), await serve({ lines: stale })];
    const found = await check(records, [one, other]);
    expect(found).toMatchObject({
      status: 'drifted',
      servers: [{ status: 'in-sync' }, { status: 'drifted' }],
      differences: [{ server: other.place }],
    });
  });

  it.each([
    ['a while ago', 59 * 60_000, 'pending', 'the servers have different serials of the zone'],
    [
      'for longer than the grace',
      61 * 60_000,
      'drifted',
      'it has had serial 3 since 2001-09-09T01:46:40.000Z, and others have another one',
    ],
  ])('in their serials since %s', async (_, age, status, message) => {
    const [ahead, stuck] = [await serve({ lines, serial: 9 }), await serve({ lines: stale, serial: 3 })];
    const previous = await check(records, [ahead, stuck]);
    const now = (): number => 1_000_000_000_000 + age;
    const found = await check(records, [ahead, stuck], { previous, now });
    expect(found.status).toBe(status);
    expect(found.servers).toMatchObject([
      { status: 'in-sync', serial: 9, message: null },
      { status, serial: 3, message },
    ]);
    // A serial that moves is no stuck one.
    stuck.zone.serial = 4;
    expect(await check(records, [ahead, stuck], { previous, now })).toMatchObject({ status: 'pending' });
  });

  it('with different primaries have independent serials', async () => {
    const one = await serve({ lines, serial: 2, primary: 'a.example.com' });
    const other = await serve({ lines: stale, serial: 1, primary: 'b.example.org' });
    expect(await check(records, [one, other])).toMatchObject({ status: 'drifted' });
  });

  it('from one question to the next are pending', async () => {
    const server = await serve({
      lines: stale,
      udp: (reply) => {
        server.zone.serial += 1;
        return [reply];
      },
    });
    expect(await check(records, [server])).toMatchObject({ status: 'pending' });
  });
});

describe('after a write', () => {
  const now = 1_000_000_000_000;
  const hour = 3_600_000;

  it.each([
    ['young', now - hour / 2, 'pending'],
    ['old', now - 2 * hour, 'drifted'],
    ['unknown', null, 'drifted'],
  ])('that is %s', async (_, lastWriteAt, status) => {
    const server = await serve({ lines: stale });
    expect(await check(records, [server], { lastWriteAt })).toMatchObject({ status, servers: [{ status }] });
  });

  it('the highest TTL is waited for', async () => {
    const server = await serve({ lines: [[apex, 'A', '192.0.2.9', 86_400]] });
    const long = [shown('A', null, '192.0.2.1', { ttl: 86_400 })];
    expect(await check(long, [server], { lastWriteAt: now - 2 * hour })).toMatchObject({ status: 'pending' });
  });

  it('drift that was there before stays drift', async () => {
    const server = await serve({ lines: stale });
    const previous = await check(records, [server]);
    expect(await check(records, [server], { lastWriteAt: now - 1, previous })).toMatchObject({
      status: 'drifted',
    });
    const other = [shown('A', null, '192.0.2.1'), shown('A', 'new', '192.0.2.1')];
    server.zone.lines = lines;
    expect(await check(other, [server], { lastWriteAt: now - 1, previous })).toMatchObject({
      status: 'pending',
    });
  });
});

it('limits sockets and questions for any number of record sets', async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
  let [open, peak] = [0, 0];
  const server = await serve({
    udp: (reply) => {
      open += 1;
      peak = Math.max(peak, open);
      setImmediate(() => (open -= 1));
      return [reply];
    },
  });
  const found = await check(
    names.map((name) => shown('TXT', name, 'text')),
    [server],
  );
  expect(found.differences).toHaveLength(10_000);
  expect(peak).toBeLessThanOrEqual(48);
});
