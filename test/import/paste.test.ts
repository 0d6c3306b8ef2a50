import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pastesFor, type Paste } from '../../src/import/changes.ts';
import { directoryWith, write } from '../desired/load-files.ts';
import { differencesIn, loadIn } from './accepted.ts';
import { templateOf, type Stated } from './written.ts';

const file = `template: web
vars: { web: 192.0.2.1 }
records:
  - { type: A, content: "\${web}", ttl: 1h }
  - { type: A, name: www, content: [192.0.2.1, 192.0.2.2, 192.0.2.3] }
  - { type: MX, content: mx.example.net, priority: 10 }
  - { type: TXT, content: "v=spf1 -all" }
  - { type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net }
`;

/** A directory with the file, and what to change in it by hand. */
const pastesIn = async (...records: readonly Stated[]) => {
  const directory = await directoryWith({ 'web.yaml': file });
  const desired = await loadIn(directory);
  const differences = differencesIn(desired, templateOf(...records));
  const pastes = pastesFor(desired, differences);
  return { directory, pastes, differences };
};

/** What somebody makes of the file who does as they are told. */
const pasted = (pastes: readonly Paste[]): string => {
  const lines = file.trimEnd().split('\n');
  const end: string[] = [];
  for (const { place, before, yaml } of pastes) {
    const at = Number(/:(\d+)$/.exec(place)?.[1]) - 1;
    const isInList = lines[at]?.includes('[') === true;
    if (before === null || isInList) end.push(...(yaml ?? '').split('\n'));
    if (before === null) continue;
    lines[at] = isInList
      ? lines[at]!.replace(new RegExp(String.raw`(\[)${before.content}, |, ${before.content}(?=[,\]])`), '$1')
      : (yaml ?? '');
  }
  return `${[...lines, ...end].filter((line) => line !== '').join('\n')}\n`;
};

const same: Record<string, Stated> = {
  apex: { type: 'A', content: '192.0.2.1', ttl: 3600 },
  one: { type: 'A', name: 'www', content: '192.0.2.1' },
  two: { type: 'A', name: 'www', content: '192.0.2.2' },
  three: { type: 'A', name: 'www', content: '192.0.2.3' },
  mx: { type: 'MX', content: 'mx.example.net', priority: 10 },
  spf: { type: 'TXT', content: 'v=spf1 -all' },
  srv: { type: 'SRV', name: '_sip._tcp', content: '5 5060 sip.example.net', priority: 10 },
};

test.each<[string, Record<string, Stated | null>]>([
  ['another value of a variable', { apex: { type: 'A', content: '192.0.2.9', ttl: 3600 } }],
  ['another TTL', { apex: { type: 'A', content: '192.0.2.1', ttl: 60 } }],
  ['another value in a list', { two: { type: 'A', name: 'www', content: '192.0.2.9' } }],
  ['one less in a list', { one: null }],
  ['one less', { mx: null }],
  ['another priority', { mx: { type: 'MX', content: 'mx.example.net', priority: 20 } }],
  ['a text that looks like a variable', { spf: { type: 'TXT', content: '${web} and "quoted"' } }],
  [
    'another target',
    { srv: { type: 'SRV', name: '_sip._tcp', content: '5 5061 sip.example.org', priority: 10 } },
  ],
  ['one more', { more: { type: 'TXT', name: '_dmarc', content: `v=DMARC1; p=${'x'.repeat(120)}` } }],
])('whoever pastes what the service has is in sync with it: %s', async (_, changes) => {
  const records = Object.values({ ...same, ...changes }).flatMap((one) => one ?? []);
  const { directory, pastes } = await pastesIn(...records);
  expect(pastes.length).toBeGreaterThan(0);
  await write(directory, { 'web.yaml': pasted(pastes) });
  const desired = await loadIn(directory);
  expect(differencesIn(desired, templateOf(...records))).toEqual([]);
  expect(desired.records).toHaveLength(records.length);
});

test('each names the difference that it ends', async () => {
  const { one, two, three, spf, mx } = same;
  const more: Stated = { type: 'A', name: 'more', content: '192.0.2.7' };
  const other: Stated = { type: 'TXT', name: 'more', content: 'token' };
  const { pastes, differences } = await pastesIn(
    one!,
    two!,
    three!,
    { ...mx!, priority: 5 },
    spf!,
    more,
    other,
  );
  expect(pastes).toHaveLength(differences.length);
  for (const { at, before, yaml } of pastes) {
    const difference = differences[at]!;
    if (before === null)
      expect(yaml).toContain('current' in difference ? difference.current?.content : 'no such record');
    else expect(difference).toMatchObject({ desired: { type: before.type, content: before.content } });
  }
  expect(new Set(pastes.map(({ at }) => at)).size).toBe(pastes.length);
});

test('a place is that of the entry, or the file for a new one', async () => {
  const { apex, one, three, spf, srv } = same;
  const more: Stated = { type: 'A', name: 'more', content: '192.0.2.7' };
  const { directory, pastes } = await pastesIn(apex!, one!, three!, spf!, srv!, more);
  const places = pastes.map(({ place, yaml }) => [path.relative(directory, place), yaml]);
  expect(places).toEqual([
    ['web.yaml:5', null],
    ['web.yaml:6', null],
    ['web.yaml', '  - { type: A, name: more, content: 192.0.2.7, ttl: 3600 }'],
  ]);
  expect(await readFile(path.join(directory, 'web.yaml'), 'utf8')).toBe(file);
});
