import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { patchFor } from '../../src/import/accept.ts';
import { directoryWith } from '../desired/load-files.ts';
import { acceptInto, differencesIn, loadIn } from './accepted.ts';
import { served, templateOf } from './written.ts';

/** The lines that differ after accepting, or why it is refused; of a file with these entries, or with this text. */
const accepted = async (text: string, ...records: string[]): Promise<string> => {
  const whole = text.startsWith('template') ? text : `template: web\nrecords:\n${text}\n`;
  const directory = await directoryWith({ 'web.yaml': whole });
  const actual = served(...records);
  const result = await acceptInto(directory, actual);
  if ('refusals' in result)
    return result.refusals.map((one) => one.replaceAll(`${directory}/`, '')).join('\n');
  expect(differencesIn(await loadIn(directory), actual)).toEqual([]);
  return result.files
    .map(({ path: file, before, after }) => patchFor(path.relative(directory, file), before, after))
    .join('')
    .split('\n')
    .filter((line) => /^[+-](?!\+\+|-- a)/.test(line))
    .join('\n');
};

test.each<[what: string, entries: string, records: string[], diff: string]>([
  [
    'in lines of its own',
    '  - type: A\n    content: "192.0.2.1" # in Bern\n    ttl: 1h',
    ['@ 60 A 192.0.2.9'],
    '-    content: "192.0.2.1" # in Bern\n-    ttl: 1h\n+    content: "192.0.2.9" # in Bern\n+    ttl: 60',
  ],
  [
    'that is new',
    '  - { type: A, content: 192.0.2.1 }\n  - { type: TXT, content: x }',
    ['@ A 192.0.2.1', '@ TXT x', 'www 300 A 192.0.2.1'],
    '+  - { type: A, name: www, content: 192.0.2.1, ttl: 300 }',
  ],
  [
    'that is new, with the TTL of its template',
    'template: web\nttl: 300\nrecords:\n  - { type: A, content: 192.0.2.1 }\n',
    ['@ 300 A 192.0.2.1', 'www 300 A 192.0.2.1'],
    '+  - { type: A, name: www, content: 192.0.2.1 }',
  ],
  [
    'in aligned columns',
    '  - { type: A,    content: 192.0.2.1   }   # one\n  - { type: A,    name: www,   content: 192.0.2.1   }   # two',
    ['@ A 192.0.2.1', 'www A 192.0.2.99'],
    '-  - { type: A,    name: www,   content: 192.0.2.1   }   # two\n+  - { type: A,    name: www,   content: 192.0.2.99   }   # two',
  ],
  [
    'in a list that is not indented',
    '- type: A\n  content: 192.0.2.1\n\n-   type: A\n    name: www\n    content: 192.0.2.1 # two',
    ['@ A 192.0.2.1', 'www A 192.0.2.9', 'x A 192.0.2.1'],
    '-    content: 192.0.2.1 # two\n+    content: 192.0.2.9 # two\n+- { type: A, name: x, content: 192.0.2.1 }',
  ],
  [
    'in braces over several lines',
    '  - { type: A,\n      content: 192.0.2.1,\n    }\n\n\n  - {\n      type: A, name: www, content: 192.0.2.1\n    }',
    ['www A 192.0.2.9'],
    '-  - { type: A,\n-      content: 192.0.2.1,\n-    }\n-      type: A, name: www, content: 192.0.2.1\n+      type: A, name: www, content: 192.0.2.9',
  ],
  [
    'with a text that needs quotation marks',
    '  - { type: TXT, content: plain }\n  - { type: TXT, name: b, content: "double" }',
    ['@ TXT a: b', 'b TXT x "y"'],
    `-  - { type: TXT, content: plain }\n-  - { type: TXT, name: b, content: "double" }\n+  - { type: TXT, content: 'a: b' }\n+  - { type: TXT, name: b, content: x "y" }`,
  ],
  [
    'with a literal `${`, which is no variable',
    '  - { type: CNAME, name: w, content: "$${x}.example.net" }',
    ['w CNAME other.example.net'],
    '-  - { type: CNAME, name: w, content: "$${x}.example.net" }\n+  - { type: CNAME, name: w, content: "other.example.net" }',
  ],
  [
    'in a text of several lines',
    '  - type: TXT\n    content: >-\n      v=spf1 mx\n      -all\n    ttl: 60',
    ['@ 60 TXT v=spf1 -all'],
    '-    content: >-\n-      v=spf1 mx\n-      -all\n+    content: v=spf1 -all',
  ],
  [
    'in parts',
    '  - { type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net }',
    ['_sip._tcp SRV 20 5 5061 sip.example.net'],
    '-  - { type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net }\n+  - { type: SRV, name: _sip._tcp, priority: 20, weight: 5, port: 5061, target: sip.example.net }',
  ],
])('a record is changed %s', async (_, entries, records, diff) => {
  expect(await accepted(entries, ...records)).toBe(diff);
});

const a = '  - { type: A, content: 192.0.2.1 }';
const aliased = '  - { type: A, content: &w 192.0.2.1 }\n  - { type: A, name: www, content: *w }';
const added = '  - { type: A, name: www, content: 192.0.2.1 }';
const noList = 'the file has no list `records` of entries that begin with `-`';

test.each<[what: string, text: string, records: string[], why: string, how: string]>([
  [
    'an alias',
    aliased,
    ['@ A 192.0.2.1', 'www A 192.0.2.9'],
    '4: its value is that of `&w`',
    'instead of { type: A, name: www, content: 192.0.2.1 }, write - { type: A, name: www, content: 192.0.2.9 }',
  ],
  [
    'a value that an alias repeats',
    aliased,
    ['@ A 192.0.2.9', 'www A 192.0.2.1'],
    '3: something else would change with it',
    'instead of { type: A, content: 192.0.2.1 }, write - { type: A, content: 192.0.2.9 }',
  ],
  [
    'one TTL of a list',
    '  - { type: A, content: [192.0.2.1, 192.0.2.2], ttl: 1h }',
    ['@ 3600 A 192.0.2.1', '@ 60 A 192.0.2.2'],
    '3: the records of this entry share its `ttl`',
    'instead of { type: A, content: 192.0.2.2, ttl: 3600 }, write - { type: A, content: 192.0.2.2, ttl: 60 }',
  ],
  [
    'all of a list in brackets',
    'template: web\nrecords: [\n  { type: A, content: 192.0.2.1 }, # one\n]\n',
    ['@ AAAA 2001:db8::1'],
    `3: ${noList}`,
    `remove { type: A, content: 192.0.2.1 }\nweb.yaml: ${noList}: add - { type: AAAA, content: '2001:db8::1' }`,
  ],
  [
    'the last record of a file',
    a,
    [],
    '3: `records` is a list, not empty: write `[]`, or entries that begin with `-` [wrong-type]',
    'remove { type: A, content: 192.0.2.1 }',
  ],
  [
    'one of a list',
    '  - { type: A, content: [192.0.2.1, 192.0.2.2] }',
    ['@ A 192.0.2.1'],
    '3: other records stay in its list',
    'remove { type: A, content: 192.0.2.2 }',
  ],
  [
    'a TTL that the service does not state',
    '  - { type: A, content: 192.0.2.1, ttl: 60 }',
    ['@ A 192.0.2.1'],
    '3: the service states no `ttl`',
    'instead of { type: A, content: 192.0.2.1, ttl: 60 }, write - { type: A, content: 192.0.2.1 }',
  ],
  [
    'what would be invalid',
    a,
    ['@ A nowhere'],
    '3: `nowhere` is not an IPv4 address; that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1 [bad-ipv4]',
    'instead of { type: A, content: 192.0.2.1 }, write - { type: A, content: nowhere, allow: [bad-ipv4] }',
  ],
])('%s is refused with its place and what to write there', async (_, text, records, why, how) => {
  expect(await accepted(text, ...records)).toBe(`web.yaml:${why}: ${how}`);
});

test.each<[what: string, before: string, after: string, records: string[]]>([
  [
    'line ends of Windows, a byte order mark and a last line without an end stay',
    `\ufefftemplate: web\r\nrecords:\r\n${a}`,
    `\ufefftemplate: web\r\nrecords:\r\n${a}\r\n${added}`,
    ['@ A 192.0.2.1', 'www A 192.0.2.1'],
  ],
  [
    'of several templates in a file, one is changed',
    `template: other\nrecords:\n${a}\n---\ntemplate: web\nrecords:\n${a}\n---\ntemplate: third\nrecords:\n${a}\n`,
    `template: other\nrecords:\n${a}\n---\ntemplate: web\nrecords:\n${a.replace('.1 ', '.9 ')}\n${added}\n---\ntemplate: third\nrecords:\n${a}\n`,
    ['@ A 192.0.2.9', 'www A 192.0.2.1'],
  ],
])('%s', async (_, before, after, records) => {
  const directory = await directoryWith({ 'web.yaml': before });
  await acceptInto(directory, served(...records));
  expect(await readFile(`${directory}/web.yaml`, 'utf8')).toBe(after);
});

test('a second copy of a record is named, since a file cannot say it', async () => {
  const directory = await directoryWith({ 'web.yaml': `template: web\nrecords:\n${a}\n` });
  const result = await acceptInto(directory, served('@ A 192.0.2.1', '@ A 192.0.2.1'));
  expect(result).toMatchObject({ files: [], unsaid: [expect.stringContaining('a second copy')] });
});

test('a TTL that a file cannot state is named, and the one that it states stays', async () => {
  const text = 'template: web\nttl: 300\nrecords:\n  - { type: A, content: 192.0.2.1 }\n';
  const directory = await directoryWith({ 'web.yaml': text });
  const result = await acceptInto(directory, templateOf({ type: 'A', content: '192.0.2.9', ttl: -1 }));
  expect(result).toMatchObject({
    files: [{ after: text.replace('192.0.2.1', '192.0.2.9') }],
    unsaid: [expect.stringContaining('a TTL of -1')],
  });
});

test('a patch of a file of which all lines but one change applies', async () => {
  const lines = (text: string): string => Array.from({ length: 10 }, (_, at) => `${text} ${at}`).join('\r\n');
  const [before, after] = [`# same\n${lines('old')}`, `# same\n${lines('new')}\n`];
  const directory = await directoryWith({ 'a b.yaml': before });
  execFileSync('git', ['init', '-q'], { cwd: directory });
  const input = patchFor('a b.yaml', before, after);
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: directory, input });
  expect(await readFile(`${directory}/a b.yaml`, 'utf8')).toBe(after);
});
