import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { patchFor } from '../../src/import/accept.ts';
import { directoryWith } from '../desired/load-files.ts';
import { acceptInto, differencesIn, loadIn } from './accepted.ts';
import { templateOf, type Stated } from './written.ts';

/** The files after accepting, as one text of the lines that differ. */
const accepted = async (files: Record<string, string>, ...records: Stated[]): Promise<string> => {
  const directory = await directoryWith(files);
  const result = await acceptInto(directory, templateOf(...records));
  if ('refusals' in result)
    return result.refusals.map((one) => one.replaceAll(`${directory}/`, '')).join('\n');
  expect(differencesIn(await loadIn(directory), templateOf(...records))).toEqual([]);
  return result.files
    .map(({ path: file, before, after }) => patchFor(path.relative(directory, file), before, after))
    .join('')
    .split('\n')
    .filter((line) => /^[+-]/.test(line) && !/^(?:\+\+\+|--- a\/web) ?/.test(line))
    .join('\n');
};

const a = { type: 'A', content: '192.0.2.1', ttl: null };
const www = { ...a, name: 'www' };

describe('one record', () => {
  test.each<[string, string, Stated[], string]>([
    [
      'in lines of its own',
      '  - type: A\n    content: "192.0.2.1" # in Bern\n    ttl: 1h\n',
      [{ ...a, content: '192.0.2.9', ttl: 60 }],
      '-    content: "192.0.2.1" # in Bern\n-    ttl: 1h\n+    content: "192.0.2.9" # in Bern\n+    ttl: 60',
    ],
    [
      'that is new',
      '  - { type: A, content: 192.0.2.1 }\n  - { type: TXT, content: x }\n',
      [a, { type: 'TXT', content: 'x', ttl: null }, { ...www, ttl: 300 }],
      '+  - { type: A, name: www, content: 192.0.2.1, ttl: 300 }',
    ],
    [
      'in aligned columns',
      '  - { type: A,    content: 192.0.2.1   }   # one\n  - { type: A,    name: www,   content: 192.0.2.1   }   # two\n',
      [a, { ...www, content: '192.0.2.99' }],
      '-  - { type: A,    name: www,   content: 192.0.2.1   }   # two\n+  - { type: A,    name: www,   content: 192.0.2.99   }   # two',
    ],
    [
      'in a list that is not indented',
      '- type: A\n  content: 192.0.2.1\n\n-   type: A\n    name: www\n    content: 192.0.2.1 # two\n',
      [a, { ...www, content: '192.0.2.9' }, { ...a, name: 'x' }],
      '-    content: 192.0.2.1 # two\n+    content: 192.0.2.9 # two\n+- { type: A, name: x, content: 192.0.2.1 }',
    ],
    [
      'in braces over several lines',
      '  - { type: A,\n      content: 192.0.2.1,\n    }\n\n\n  - {\n      type: A, name: www, content: 192.0.2.1\n    }\n',
      [{ ...www, content: '192.0.2.9' }],
      '-  - { type: A,\n-      content: 192.0.2.1,\n-    }\n-      type: A, name: www, content: 192.0.2.1\n+      type: A, name: www, content: 192.0.2.9',
    ],
    [
      'with a text that needs quotation marks',
      '  - { type: TXT, content: plain }\n  - { type: TXT, name: b, content: "double" }\n',
      [
        { type: 'TXT', content: 'a: b', ttl: null },
        { type: 'TXT', name: 'b', content: 'x "y"', ttl: null },
      ],
      String.raw`-  - { type: TXT, content: plain }
-  - { type: TXT, name: b, content: "double" }
+  - { type: TXT, content: 'a: b' }
+  - { type: TXT, name: b, content: x "y" }`,
    ],
    [
      'in a text of several lines',
      '  - type: TXT\n    content: >-\n      v=spf1 mx\n      -all\n    ttl: 60\n',
      [{ type: 'TXT', content: 'v=spf1 -all', ttl: 60 }],
      '-    content: >-\n-      v=spf1 mx\n-      -all\n+    content: v=spf1 -all',
    ],
    [
      'in parts',
      '  - { type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net }\n',
      [{ type: 'SRV', name: '_sip._tcp', priority: 20, content: '5 5061 sip.example.net', ttl: null }],
      '-  - { type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net }\n+  - { type: SRV, name: _sip._tcp, priority: 20, weight: 5, port: 5061, target: sip.example.net }',
    ],
  ])('%s', async (_, entries, records, diff) => {
    expect(await accepted({ 'web.yaml': `template: web\nrecords:\n${entries}` }, ...records)).toBe(diff);
  });
});

test('a fragment of its own is changed', async () => {
  const files = {
    'web.yaml': 'template: web\ninclude: [_mail.yaml]\nrecords:\n  - { type: A, content: 192.0.2.1 }\n',
    '_mail.yaml': 'records:\n  # mail\n  - { type: MX, content: mx.example.net, priority: 10 }\n',
  };
  const mx = { type: 'MX', content: 'mx.example.net', priority: 20, ttl: null };
  expect(await accepted(files, mx, a)).toBe(
    [
      '--- a/_mail.yaml',
      '-  - { type: MX, content: mx.example.net, priority: 10 }',
      '+  - { type: MX, content: mx.example.net, priority: 20 }',
    ].join('\n'),
  );
});

describe('it is refused with its place and what to write there', () => {
  const entry = (content: string): string => `- { type: A, content: ${content} }`;
  test.each<[string, Record<string, string>, Stated[], string]>([
    [
      'a variable',
      {
        'web.yaml': 'template: web\nvars: { web: 192.0.2.1 }\nrecords:\n  - { type: A, content: "${web}" }\n',
      },
      [{ ...a, content: '192.0.2.9' }],
      `web.yaml:4: its value comes from the variable \`\${web}\`: instead of { type: A, content: 192.0.2.1 }, write ${entry('192.0.2.9')}`,
    ],
    [
      'an alias',
      {
        'web.yaml':
          'template: web\nrecords:\n  - { type: A, content: &w 192.0.2.1 }\n  - { type: A, name: www, content: *w }\n',
      },
      [a, { ...www, content: '192.0.2.9' }],
      'web.yaml:4: its value is that of `&w`: instead of { type: A, name: www, content: 192.0.2.1 }, write - { type: A, name: www, content: 192.0.2.9 }',
    ],
    [
      'a value that an alias repeats',
      {
        'web.yaml':
          'template: web\nrecords:\n  - { type: A, content: &w 192.0.2.1 }\n  - { type: A, name: www, content: *w }\n',
      },
      [{ ...a, content: '192.0.2.9' }, www],
      `web.yaml:3: something else would change with it: instead of { type: A, content: 192.0.2.1 }, write ${entry('192.0.2.9')}`,
    ],
    [
      'one TTL of a list',
      { 'web.yaml': 'template: web\nrecords:\n  - { type: A, content: [192.0.2.1, 192.0.2.2], ttl: 1h }\n' },
      [
        { ...a, ttl: 3_600 },
        { ...a, content: '192.0.2.2', ttl: 60 },
      ],
      'web.yaml:3: the records of this entry share its `ttl`: instead of { type: A, content: 192.0.2.2, ttl: 3600 }, write - { type: A, content: 192.0.2.2, ttl: 60 }',
    ],
    [
      'all of a list in brackets',
      { 'web.yaml': 'template: web\nrecords: [\n  { type: A, content: 192.0.2.1 }, # one\n]\n' },
      [{ type: 'AAAA', content: '2001:db8::1', ttl: null }],
      "web.yaml:3: the file has no list `records` of entries that begin with `-`: remove { type: A, content: 192.0.2.1 }\nweb.yaml: the file has no list `records` of entries that begin with `-`: add - { type: AAAA, content: '2001:db8::1' }",
    ],
    [
      'the last record of a file',
      { 'web.yaml': 'template: web\nrecords:\n  - { type: A, content: 192.0.2.1 }\n' },
      [],
      'web.yaml:3: `records` is a list, not empty: write `[]`, or entries that begin with `-` [wrong-type]: remove { type: A, content: 192.0.2.1 }',
    ],
    [
      'one of a list',
      { 'web.yaml': 'template: web\nrecords:\n  - { type: A, content: [192.0.2.1, 192.0.2.2] }\n' },
      [a],
      'web.yaml:3: other records stay in its list: remove { type: A, content: 192.0.2.2 }',
    ],
    [
      'a TTL that the service does not state',
      { 'web.yaml': 'template: web\nrecords:\n  - { type: A, content: 192.0.2.1, ttl: 60 }\n' },
      [a],
      `web.yaml:3: the service states no \`ttl\`: instead of { type: A, content: 192.0.2.1, ttl: 60 }, write ${entry('192.0.2.1')}`,
    ],
    [
      'what would be invalid',
      { 'web.yaml': 'template: web\nrecords:\n  - { type: A, content: 192.0.2.1 }\n' },
      [{ ...a, content: 'nowhere' }],
      `web.yaml:3: \`nowhere\` is not an IPv4 address; that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1 [bad-ipv4]: instead of { type: A, content: 192.0.2.1 }, write ${entry('nowhere')}`,
    ],
  ])('%s', async (_, files, records, message) => {
    expect(await accepted(files, ...records)).toBe(message);
  });
});

test('line ends of Windows, a byte order mark and a last line without an end stay', async () => {
  const text = '\ufefftemplate: web\r\nrecords:\r\n  - { type: A, content: 192.0.2.1 }';
  const directory = await directoryWith({ 'web.yaml': text });
  await acceptInto(directory, templateOf(a, www));
  expect(await readFile(`${directory}/web.yaml`, 'utf8')).toBe(
    `${text}\r\n  - { type: A, name: www, content: 192.0.2.1 }`,
  );
});

test('of several templates in a file, one is changed', async () => {
  const other = 'template: other\nrecords:\n  - { type: A, content: 192.0.2.1 }\n';
  const web = 'template: web\nrecords:\n  - { type: A, content: 192.0.2.1 }\n';
  const directory = await directoryWith({
    'web.yaml': `${other}---\n${web}---\n${other.replace('other', 'third')}`,
  });
  await acceptInto(directory, templateOf({ ...a, content: '192.0.2.9' }, www));
  expect(await readFile(`${directory}/web.yaml`, 'utf8')).toBe(
    `${other}---\n${web.replace('192.0.2.1', '192.0.2.9')}  - { type: A, name: www, content: 192.0.2.1 }\n---\n${other.replace('other', 'third')}`,
  );
});

test('a second copy of a record is named, since a file cannot say it', async () => {
  const directory = await directoryWith({
    'web.yaml': 'template: web\nrecords:\n  - { type: A, content: 192.0.2.1 }\n',
  });
  const result = await acceptInto(directory, templateOf(a, a));
  expect(result).toMatchObject({ files: [], unsaid: [expect.stringContaining('a second copy')] });
});

test('a TTL that a file cannot state is named, and the one that it states stays', async () => {
  const text = 'template: web\nttl: 300\nrecords:\n  - { type: A, content: 192.0.2.1 }\n';
  const directory = await directoryWith({ 'web.yaml': text });
  const result = await acceptInto(directory, templateOf({ ...a, content: '192.0.2.9', ttl: -1 }));
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
