import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readZone, type ZoneFile } from '../../../src/import/zone/read-zone.ts';
import { canonicalRecord } from '../../../src/model/canonical.ts';

/*
 * Zone files as people and programs write them, each beside what dnspython reads in it (`.flat.txt`: one record a line, with
 * whole names). Before that, `[AGE:…]` of Windows was taken out, aliases were given numbers for types, and the name of
 * Cloudflare's SOA record was given its final dot.
 */
const folder = fileURLToPath(new URL('zones', import.meta.url));

const textOf = (file: string): string => readFileSync(path.join(folder, file), 'utf8');

const read = (name: string, file: string): ZoneFile => {
  const origin = /^; ([^:]+):/.exec(textOf(`${name}.zone`))![1]!.toLowerCase();
  return readZone(textOf(file), origin, file);
};

const shown = ({ records }: ZoneFile): string[] =>
  records.map((record) => JSON.stringify({ ...canonicalRecord(record), ttl: record.ttl })).sort();

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
  const flat = read(name, `${name}.flat.txt`);
  expect(shown(zone)).toEqual(shown(flat));
  expect([zone.records.length, zone.leftOut.length]).toEqual([records, leftOut]);
  expect(zone.leftOut.map(({ text }) => text.replace(/type .*|line .*/, ''))).toEqual(
    flat.leftOut.map(({ text }) => text.replace(/type .*|line .*/, '')),
  );
  const lines = textOf(`${name}.flat.txt`).trim().split('\n');
  const signed = /^(\d+) records of DNSSEC/.exec(zone.leftOut.at(-1)?.what ?? '')?.[1];
  const repeated = Math.max(0, lines.filter((line) => line.includes('\tSOA\t')).length - 1);
  expect(records + leftOut + Number(signed ?? 1) - 1).toBe(lines.length - repeated);
});

/** With `$GENERATE`, which only a name server follows. */
const generated = ['external-dns', 'reverse-24', 'reverse-classless'];

it.each(generated)('%s is refused with the line and a way out', (name) => {
  expect(() => read(name, `${name}.zone`)).toThrow(
    /^\S+\.zone:\d+: `\$GENERATE` cannot be followed here: named-compilezone/,
  );
});
