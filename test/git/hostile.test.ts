import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ancestryIn } from '../../src/git/ancestry.ts';
import { createRevisions } from '../../src/git/revision.ts';
import { createUncommitted } from '../../src/git/uncommitted.ts';
import { git, newCheckout, newFolder } from './checkout.ts';

const mebibyte = 1_024 ** 2;
const [head, other, third] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];

/** A number in groups of seven bits, the lowest first. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 128))];

interface Entry {
  readonly id: string;
  readonly type: 'commit' | 'blob' | 'delta';
  /** The id that a delta refers to. */
  readonly base?: string;
  readonly content: Buffer;
  /** What the entry says of its length. */
  readonly size?: number;
}

const entryBytes = ({ type, base = '', content, size = content.length }: Entry): Buffer => {
  const rest = Math.floor(size / 16);
  const first = ({ commit: 1, blob: 3, delta: 7 }[type] << 4) | (size % 16) | (rest > 0 ? 0x80 : 0);
  const header = Buffer.from([first, ...(rest > 0 ? varint(rest) : [])]);
  return Buffer.concat([header, Buffer.from(base, 'hex'), deflateSync(content)]);
};

/** A checkout whose git directory has one pack, and HEAD at the first of its objects. */
const packed = (entries: readonly Entry[]): string => {
  const folder = newFolder();
  for (const name of ['templates', '.git/objects/pack', '.git/refs'])
    mkdirSync(path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, 'templates/web.yaml'), 'template: web\n');
  writeFileSync(path.join(folder, '.git/HEAD'), `${head}\n`);
  const pack: Buffer[] = [Buffer.from('PACK\0\0\0\u0002\0\0\0\u0000', 'latin1')];
  const offsets = entries.map((entry) => {
    const offset = Buffer.concat(pack).length;
    pack.push(entryBytes(entry));
    return offset;
  });
  const numbers = (values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(values.length * 4);
    for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
    return bytes;
  };
  const ids = entries.map(({ id }) => Buffer.from(id, 'hex'));
  const fanout = Array.from({ length: 256 }, (_, byte) => ids.filter((id) => id[0]! <= byte).length);
  const index = [numbers([0xff_74_4f_63, 2, ...fanout]), ...ids, numbers(ids.map(() => 0)), numbers(offsets)];
  writeFileSync(path.join(folder, '.git/objects/pack/pack-1.idx'), Buffer.concat(index));
  writeFileSync(
    path.join(folder, '.git/objects/pack/pack-1.pack'),
    Buffer.concat([...pack, Buffer.alloc(64)]),
  );
  return folder;
};

const delta = (base: number, result: number, instructions: Buffer): Buffer =>
  Buffer.concat([Buffer.from([...varint(base), ...varint(result)]), instructions]);

/** Copies the first 64 KiB of the base. */
const copies = (count: number): Buffer => Buffer.alloc(count, 0x80);

const base: Entry = { id: other, type: 'commit', content: Buffer.alloc(mebibyte) };

test.each<[string, readonly Entry[]]>([
  [
    'deltas in a circle',
    [
      { id: head, type: 'delta', base: other, content: delta(1, 1, copies(1)) },
      { id: other, type: 'delta', base: head, content: delta(1, 1, copies(1)) },
    ],
  ],
  [
    'a delta that makes 64 GiB, and says so',
    [
      { id: head, type: 'delta', base: other, content: delta(mebibyte, 64 * 1_024 ** 3, copies(mebibyte)) },
      base,
    ],
  ],
  [
    'a delta that makes 64 GiB, and says that it makes little',
    [{ id: head, type: 'delta', base: other, content: delta(mebibyte, 100, copies(mebibyte)) }, base],
  ],
  [
    'a delta that copies from behind the end of its base',
    [{ id: head, type: 'delta', base: other, content: delta(mebibyte, 65_536, Buffer.of(0x84, 0xff)) }, base],
  ],
  [
    'an object that says it has 4 PiB',
    [{ id: head, type: 'commit', content: Buffer.from('tree'), size: 4 * 1_024 ** 5 }],
  ],
  [
    'an object that is longer than it says',
    [{ id: head, type: 'commit', content: Buffer.alloc(128 * mebibyte), size: 100 }],
  ],
  ['a commit that is no commit', [{ id: head, type: 'blob', content: Buffer.from(`tree ${third}\n`) }]],
])('with %s nothing is known, at once', async (_, entries) => {
  const file = path.join(packed(entries), 'templates/web.yaml');
  const before = process.memoryUsage().arrayBuffers;
  expect(createUncommitted()()(file)).toBe(false);
  expect(await ancestryIn(file, head, third)).toBe('unknown');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * mebibyte);
});

test('such a pack is read where it is right', async () => {
  const text = Buffer.from(`tree ${other}\nparent ${third}\n`);
  const entries: readonly Entry[] = [
    {
      id: head,
      type: 'delta',
      base: other,
      content: delta(
        20,
        text.length,
        Buffer.concat([Buffer.from([0x90, 20, text.length - 20]), text.subarray(20)]),
      ),
    },
    { id: other, type: 'commit', content: text.subarray(0, 20) },
  ];
  expect(await ancestryIn(path.join(packed(entries), 'templates/web.yaml'), head, third)).toBe('descends');
});

test('a named pipe among the packs is left out', () => {
  const checkout = newCheckout();
  git(checkout, 'gc', '--quiet');
  for (const name of ['x.idx', 'x.pack'])
    execFileSync('mkfifo', [path.join(checkout, '.git/objects/pack', name)]);
  const file = path.join(checkout, 'templates/web.yaml');
  expect(createUncommitted()()(file)).toBe(false);
  writeFileSync(file, 'template: other\n');
  expect(createUncommitted()()(file)).toBe(true);
});

test.each([
  'ref: ../../secret',
  'ref: refs/../../secret',
  'ref: refs/heads/../../../secret',
  '../secret',
  'ref: /etc/secret',
])('HEAD with `%s` is no commit', (text) => {
  const checkout = newCheckout();
  for (const folder of [checkout, path.dirname(checkout), path.join(checkout, '.git')])
    writeFileSync(path.join(folder, 'secret'), `${head}\n`);
  writeFileSync(path.join(checkout, '.git/HEAD'), `${text}\n`);
  const file = path.join(checkout, 'templates/web.yaml');
  expect(createRevisions()(file)).toBeNull();
  expect(createUncommitted()()(file)).toBe(false);
});
