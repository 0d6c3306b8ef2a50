import { AUTHORITATIVE_ANSWER, encode, type Answer } from 'dns-packet';
import { expect, it } from 'vitest';
import { readReply } from '../../src/answers/message.ts';

const question = { name: '0.shop.example.net', type: 'TXT' } as const;

const replyWith = (answers: readonly Answer[]): Buffer =>
  encode({
    type: 'response',
    id: 1,
    flags: AUTHORITATIVE_ANSWER,
    questions: [question],
    answers: [...answers],
  });

/** A text that is a chain of pointers, each to the one before it, and records whose names begin at its end. */
const bomb = (): Buffer => {
  const chain = Buffer.alloc(16_000);
  const strings = Array.from({ length: 64 }, (_, at) => chain.subarray(at * 250, (at + 1) * 250));
  const message = replyWith([{ type: 'TXT', name: question.name, data: strings }]);
  const first = 12 + question.name.length + 2 + 4;
  let before = 12;
  let at = message.indexOf(Buffer.alloc(250), first);
  // Each string has a byte for its length before it.
  for (let string = 0; string < 64; string += 1, at += 1)
    for (let left = 125; left > 0; left -= 1, at += 2) {
      message.writeUInt16BE(0xc000 | before, at);
      before = at;
    }
  const record = Buffer.from([
    0xc0 | (before >> 8),
    before & 0xff,
    0,
    1,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    4,
    192,
    0,
    2,
    1,
  ]);
  const count = Math.floor((65_535 - message.length) / record.length);
  message.writeUInt16BE(1 + count, 6);
  return Buffer.concat([message, ...Array.from({ length: count }, () => record)]);
};

it('a reply of the largest size whose names are long chains of pointers is dropped', () => {
  const message = bomb();
  expect(message.length).toBeGreaterThan(65_000);
  expect(readReply(message, 1, question)).toBeNull();
});

it('is dropped before its names are read if it has another id or question', () => {
  const read: number[] = [];
  const message = bomb();
  const watched = new Proxy(message, {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) read.push(Number(key));
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (key === 'readUInt8' && typeof args[0] === 'number') read.push(args[0]);
        return value.apply(target, args) as unknown;
      };
    },
  });
  expect(readReply(watched, 2, question)).toBeNull();
  expect(readReply(watched, 1, { name: '1.shop.example.net', type: 'TXT' })).toBeNull();
  expect(readReply(watched, 1, { name: '0.shop.example.net', type: 'A' })).toBeNull();
  expect(Math.max(...read)).toBeLessThan(12 + question.name.length + 2);
});

it('a true reply of nearly the largest size is read whole', () => {
  const texts = Array.from({ length: 240 }, (_, index) => `${index} ${'x'.repeat(200)}`);
  const message = replyWith(texts.map((data) => ({ type: 'TXT', name: question.name, data, ttl: 1 })));
  expect(message.length).toBeGreaterThan(50_000);
  expect(readReply(message, 1, question)?.answers.map(({ content }) => content)).toEqual(texts);
});

it.each([
  ['cut off', (message: Buffer) => message.subarray(0, -1)],
  ['with a name that points to itself', (message: Buffer) => pointingTo(message, 36)],
  ['with a name that points ahead', (message: Buffer) => pointingTo(message, 40)],
])('a reply %s is dropped', (_, change) => {
  const message = replyWith([{ type: 'A', name: '.', data: '192.0.2.1' }]);
  expect(readReply(message, 1, question)?.answers).toHaveLength(1);
  expect(readReply(change(message), 1, question)).toBeNull();
});

const pointingTo = (message: Buffer, target: number): Buffer => {
  const at = 12 + question.name.length + 2 + 4;
  return Buffer.concat([message.subarray(0, at), Buffer.from([0xc0, target]), message.subarray(at + 1)]);
};

it('a header alone is the answer of a server that cannot parse the query', () => {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(1);
  header.writeUInt16BE(0x80_01, 2);
  expect(readReply(header, 1, question)).toMatchObject({ rcode: 'FORMERR', answers: [] });
  expect(readReply(header, 2, question)).toBeNull();
});
