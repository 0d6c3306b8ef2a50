import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { heldOf, shown, type Held } from './held.ts';

/*
 * Zone files as people and programs write them. BIND reads those that begin with a TTL (`zones.real.ts`); the others stand
 * beside what dnspython reads in them (`.flat.txt`: one record a line, with whole names). Before that, `[AGE:…]` of Windows
 * was taken out, aliases were given numbers for types, and the name of Cloudflare's SOA record was given its final dot.
 */
const folder = fileURLToPath(new URL('zones', import.meta.url));

const textOf = (file: string): string => readFileSync(path.join(folder, file), 'utf8');

const read = (name: string, file: string): Held => {
  const origin = /^; ([^:]+):/.exec(textOf(`${name}.zone`))![1]!.toLowerCase();
  return heldOf(textOf(file), origin, file);
};

/** Name, records, and what no template can hold, SOA records at the end of a transfer not counted. */
const counts: readonly [string, number, number][] = [
  ['acme', 7, 5],
  ['aliases', 2, 4],
  ['bind-origins', 13, 3],
  ['cdn', 12, 4],
  ['cloudflare-apex', 3, 2],
  ['cloudflare', 12, 4],
  ['cpanel', 14, 3],
  ['delegation', 6, 6],
  ['dig-signed', 3, 5],
  ['dig-transfer', 8, 4],
  ['directory', 17, 2],
  ['escapes', 16, 7],
  ['godaddy', 6, 5],
  ['google-workspace', 19, 3],
  ['hosting-panel', 14, 3],
  ['internationalized', 5, 2],
  ['kdig-transfer', 2, 3],
  ['long-texts', 6, 2],
  ['mail-host', 16, 3],
  ['mail-policies', 17, 3],
  ['microsoft-365', 15, 3],
  ['mixed-case', 10, 2],
  ['no-soa', 7, 0],
  ['orders', 12, 2],
  ['powerdns', 5, 2],
  ['rare-types', 2, 11],
  ['reverse-ipv6', 4, 2],
  ['telephony', 12, 4],
  ['wildcards', 9, 2],
  ['windows', 13, 2],
];

it('every zone is in the table', () => {
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.zone') ? path.parse(file).name : []));
  expect([...counts.map(([name]) => name), ...generated].toSorted()).toEqual(names.toSorted());
});

it.each(counts)('%s: %i records, %i left out', (name, records, leftOut) => {
  const zone = read(name, `${name}.zone`);
  expect([zone.records.length, zone.leftOut.length]).toEqual([records, leftOut]);
});

const readByBind = (name: string): boolean => /^; .*\n\$TTL/.test(textOf(`${name}.zone`));

it.each(counts.filter(([name]) => !readByBind(name)))('%s: the same as flat', (name, records, leftOut) => {
  const [zone, flat] = [read(name, `${name}.zone`), read(name, `${name}.flat.txt`)];
  expect(shown(zone.records)).toEqual(shown(flat.records));
  const reasonsIn = (held: Held): string[] => held.leftOut.map((text) => text.replace(/\d+|: .*/g, ''));
  expect(reasonsIn(zone)).toEqual(reasonsIn(flat));
  const lines = textOf(`${name}.flat.txt`).trim().split('\n');
  const repeated = [/\tSOA\t/, /\t(?:RRSIG|NSEC\w*|DNSKEY|TYPE65534)\t/].map(
    (kind) => lines.filter((line) => kind.test(line)).slice(1).length,
  );
  expect(records + leftOut).toBe(lines.length - repeated[0]! - repeated[1]!);
});

/** With `$GENERATE`, which only a name server follows. */
const generated = ['external-dns', 'reverse-24', 'reverse-classless'];

it.each(generated)('%s is refused with the line and a way out', (name) => {
  expect(() => read(name, `${name}.zone`)).toThrow(
    /^\S+\.zone:\d+: `\$GENERATE` cannot be followed here: named-compilezone/,
  );
});
