import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeZone } from '../../../src/import/zone/write-zone.ts';
import { launch, runTool, serverKinds } from '../../answers/real/launch.ts';
import { directoryWith, loadFiles } from '../../desired/load-files.ts';
import { textFor } from '../written.ts';
import { heldOf, shown } from './held.ts';

/** Zones as people write them for a name server; the first line of each names its origin. */
const folder = fileURLToPath(new URL('zones', import.meta.url));
const sourceOf = (name: string): string => readFileSync(path.join(folder, `${name}.zone`), 'utf8');
const names = readdirSync(folder)
  .flatMap((file) => (file.endsWith('.zone') ? path.parse(file).name : []))
  .filter((name) => /^; .*\n\$TTL/.test(sourceOf(name)));

const originOf = (name: string): string => /^; ([^:]+):/.exec(sourceOf(name))![1]!;

/** As a name server reads it, one record a line. */
const flatten = (origin: string, file: string): Promise<string> =>
  runTool('usr/bin/named-compilezone', [
    '-q',
    '-k',
    'ignore',
    '-i',
    'none',
    '-s',
    'full',
    '-o',
    '-',
    origin,
    file,
  ]);

const flat = (name: string): Promise<string> => flatten(originOf(name), path.join(folder, `${name}.zone`));

const read = (name: string, text: string) => heldOf(text, originOf(name).toLowerCase(), name);

/** Lines without what means nothing: blanks, case outside of texts, and where a text is cut into strings. */
const meaning = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, head = '', strings = ''] = /^([^"]*)(.*)$/.exec(line)!;
      const before = head.toLowerCase().trim().replaceAll(/\s+/g, ' ');
      return `${before} ${before.endsWith(' txt') ? strings.replaceAll('" "', '') : strings}`;
    })
    .sort();

it('there are 19 zones', () => {
  expect(names).toHaveLength(19);
});

describe.each(names)('the zone %s', (name) => {
  it('is read as a name server reads it, or refused with the command that flattens it', async () => {
    const text = sourceOf(name);
    if (text.includes('$GENERATE'))
      expect(() => read(name, text)).toThrow(/: named-compilezone -k ignore -s full -o FLAT /);
    else expect(shown(read(name, text).records)).toEqual(shown(read(name, await flat(name)).records));
  });

  it('comes back from a template file as the same zone, with the lines that are left out', async () => {
    const before = await flat(name);
    const { records, leftOut } = read(name, before);
    const lines = before.split('\n');
    const left = lines.filter((line, index) => line !== '' && !records.some(({ id }) => id === index + 1));
    expect(left).toHaveLength(leftOut.length);

    const template = { id: 1, name: 'web', publiclyAvailable: false, subdomains: null, records };
    const { templates, problems } = await loadFiles(
      { 'web.yaml': await textFor(template) },
      { strict: true },
    );
    expect(problems).toEqual([]);
    const loaded = templates[0]!.records.map((record, index) => ({ ...record, id: index + 1 }));
    const text = writeZone(loaded, originOf(name).toLowerCase());
    expect(text).not.toContain('; Not in this file');

    const file = path.join(await directoryWith({}), 'zone');
    await writeFile(file, [text, ...left, ''].join('\n'));
    expect(meaning(await flatten(originOf(name), file))).toEqual(meaning(before));
  });
});

// That of Debian 12 does not read HTTPS and SVCB records.
it.each(names.filter((name) => name !== 'cdn'))(
  'the zone %s is read the same from ldns-read-zone',
  async (name) => {
    const before = await flat(name);
    const file = path.join(await directoryWith({ zone: before }), 'zone');
    const { records } = read(name, await runTool('usr/bin/ldns-read-zone', [file]));
    expect(shown(records)).toEqual(shown(read(name, before).records));
  },
);

describe.each(serverKinds)('%s', (kind) => {
  it('transfers zones to dig that are read as the same records', async () => {
    const apex = 'example.net';
    const texts = await Promise.all(['escapes', 'long-texts', 'telephony', 'rare-types'].map(flat));
    // The server has a name server of its own, and bind9 takes only host names for addresses.
    const isOther = /^(?:ns1\.)?example\.net\.\s.*\s(?:SOA|NS|A)\s|^\S*\\\S*\s.*\sA\s/;
    const lines = texts.flatMap((text) => text.split('\n')).filter((line) => !isOther.test(line));
    const { port } = await launch(kind, apex, lines);
    const transfer = await runTool('usr/bin/dig', ['@127.0.0.1', '-p', String(port), 'AXFR', apex]);
    const expected = heldOf([...lines, `ns1.${apex}. 3600 IN A 127.0.0.1`].join('\n'), apex, 'zones');
    const { records, leftOut } = heldOf(transfer, apex, 'dig');
    expect(shown(records)).toEqual(shown(expected.records));
    expect(leftOut).toContainEqual(expect.stringContaining('type: SOA'));
  });
});
