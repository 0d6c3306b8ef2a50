import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { unifiedDiff } from '../../src/import/edit/unified-diff.ts';
import { directoryWith } from '../desired/load-files.ts';
import { acceptInto, differencesIn, loadIn } from './accepted.ts';
import { templateOf, type Stated } from './written.ts';

/** The files after accepting, as one text of the lines that differ. */
const accepted = async (files: Record<string, string>, ...records: Stated[]): Promise<string> => {
  const directory = await directoryWith(files);
  const result = await acceptInto(directory, templateOf(...records));
  if ('refusal' in result) return `refused: ${result.refusal.replaceAll(`${directory}/`, '')}`;
  expect(differencesIn(await loadIn(directory), templateOf(...records))).toEqual([]);
  return result.files
    .map(({ path: file, before, splices }) => unifiedDiff(path.relative(directory, file), before, splices))
    .join('')
    .split('\n')
    .filter((line) => /^[+-]/.test(line) && !/^(?:---|\+\+\+) [ab]\/web/.test(line))
    .join('\n');
};

const a = { type: 'A', content: '192.0.2.1', ttl: null };
const www = { ...a, name: 'www' };

describe('one record', () => {
  test.each<[string, string, Stated[], string]>([
    [
      'with another content',
      '  - { type: A, content: 192.0.2.1 } # in Bern\n',
      [{ ...a, content: '192.0.2.9' }],
      '-  - { type: A, content: 192.0.2.1 } # in Bern\n+  - { type: A, content: 192.0.2.9 } # in Bern',
    ],
    [
      'in lines of its own',
      '  - type: A\n    content: "192.0.2.1" # in Bern\n    ttl: 1h\n',
      [{ ...a, content: '192.0.2.9', ttl: 60 }],
      '-    content: "192.0.2.1" # in Bern\n-    ttl: 1h\n+    content: "192.0.2.9" # in Bern\n+    ttl: 60',
    ],
    [
      'that is gone',
      '  - { type: A, content: 192.0.2.1 }\n\n  # the old one\n  - { type: A, name: www, content: 192.0.2.1 }\n',
      [a],
      '-  # the old one\n-  - { type: A, name: www, content: 192.0.2.1 }',
    ],
    [
      'that is the last one',
      '  - { type: A, content: 192.0.2.1 }\n',
      [],
      '-records:\n-  - { type: A, content: 192.0.2.1 }\n+records: []',
    ],
    [
      'that is new',
      '  - { type: A, content: 192.0.2.1 }\n  - { type: TXT, content: x }\n',
      [a, { type: 'TXT', content: 'x', ttl: null }, { ...www, ttl: 300 }],
      '+  - { type: A, name: www, content: 192.0.2.1, ttl: 300 }',
    ],
    [
      'of a list',
      '  - { type: A, content: [192.0.2.1, 192.0.2.2] }\n',
      [a, { ...a, content: '192.0.2.9' }],
      '-  - { type: A, content: [192.0.2.1, 192.0.2.2] }\n+  - { type: A, content: [192.0.2.1, 192.0.2.9] }',
    ],
    [
      'of a list, with a TTL of its own',
      '  - type: A\n    ttl: 300\n    content:\n      - 192.0.2.1\n      - 192.0.2.2\n',
      [
        { ...a, ttl: 300 },
        { ...a, content: '192.0.2.2', ttl: 60 },
      ],
      '-      - 192.0.2.2\n+  - { type: A, content: 192.0.2.2, ttl: 60, allow: [mixed-ttl] }',
    ],
    [
      'that an alias repeats',
      '  - { type: A, content: &web 192.0.2.1 }\n  - { type: A, name: www, content: *web }\n',
      [{ ...a, content: '192.0.2.9' }, www],
      '-  - { type: A, content: &web 192.0.2.1 }\n-  - { type: A, name: www, content: *web }\n+  - { type: A, content: 192.0.2.9 }\n+  - { type: A, name: www, content: &web 192.0.2.1 }',
    ],
    [
      'together with its aliases',
      '  - { type: A, content: &web 192.0.2.1 }\n  - { type: A, name: www, content: *web }\n',
      [
        { ...a, content: '192.0.2.9' },
        { ...www, content: '192.0.2.9' },
      ],
      '-  - { type: A, content: &web 192.0.2.1 }\n+  - { type: A, content: &web 192.0.2.9 }',
    ],
    [
      'whose TTL only the service has',
      '  - { type: A, content: 192.0.2.1, ttl: 60 }\n',
      [a],
      '-  - { type: A, content: 192.0.2.1, ttl: 60 }\n+  - { type: A, content: 192.0.2.1 }',
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

test('a variable is changed where it is defined, if all its uses follow', async () => {
  const files = {
    'web.yaml':
      'template: web\ninclude: [_vars.yaml]\nrecords:\n  - { type: A, content: "${web}" }\n  - { type: A, name: www, content: "${web}" }\n',
    '_vars.yaml': 'vars:\n  # our server\n  web: 192.0.2.1\n',
  };
  const moved = { content: '192.0.2.9' };
  expect(await accepted(files, { ...a, ...moved }, { ...www, ...moved })).toBe(
    '--- a/_vars.yaml\n+++ b/_vars.yaml\n-  web: 192.0.2.1\n+  web: 192.0.2.9',
  );
  expect(await accepted(files, { ...a, ...moved }, www)).toBe(
    '-  - { type: A, content: "${web}" }\n+  - { type: A, content: "192.0.2.9" }',
  );
});

test('a variable that other templates use stays', async () => {
  const files = {
    'web.yaml': 'template: web\ninclude: [_vars.yaml]\nrecords:\n  - { type: A, content: "${web}" }\n',
    'other.yaml': 'template: other\ninclude: [_vars.yaml]\nrecords:\n  - { type: A, content: "${web}" }\n',
    '_vars.yaml': 'vars: { web: 192.0.2.1 }\n',
  };
  expect(await accepted(files, { ...a, content: '192.0.2.9' })).toBe(
    '-  - { type: A, content: "${web}" }\n+  - { type: A, content: "192.0.2.9" }',
  );
});

test('the record of a fragment is changed there, and templates that include it are named', async () => {
  const files = {
    'web.yaml': 'template: web\ninclude: [_mail.yaml]\nrecords: [] # none of its own\n',
    'other.yaml': 'template: other\ninclude: [_mail.yaml]\n',
    '_mail.yaml': 'records:\n  # mail\n  - { type: MX, content: mx.example.net, priority: 10 }\n',
  };
  const directory = await directoryWith(files);
  const mx = { type: 'MX', content: 'mx.example.net', priority: 20, ttl: null };
  const result = await acceptInto(directory, templateOf(mx, a));
  expect(result).toMatchObject({ others: ['other'] });
  expect(await readFile(`${directory}/_mail.yaml`, 'utf8')).toBe(
    files['_mail.yaml'].replace('priority: 10', 'priority: 20'),
  );
  expect(await readFile(`${directory}/web.yaml`, 'utf8')).toBe(
    'template: web\ninclude: [_mail.yaml]\nrecords: # none of its own\n  - { type: A, content: 192.0.2.1 }\n',
  );
});

test('the TTL of the template is changed if all records follow', async () => {
  const files = {
    'web.yaml':
      'template: web\nttl: 1h # usual\nrecords:\n  - { type: A, content: 192.0.2.1 }\n  - { type: A, name: www, content: 192.0.2.1 }\n',
  };
  expect(await accepted(files, { ...a, ttl: 60 }, { ...www, ttl: 60 })).toBe(
    '-ttl: 1h # usual\n+ttl: 60 # usual',
  );
  expect(await accepted(files, { ...a, ttl: 60 }, { ...www, ttl: 3600 })).toBe(
    '-  - { type: A, content: 192.0.2.1 }\n+  - { type: A, content: 192.0.2.1, ttl: 60 }',
  );
});

test('line ends of Windows, a byte order mark and a last line without an end stay', async () => {
  const text = '\ufefftemplate: web\r\nrecords:\r\n  - { type: A, content: 192.0.2.1 }';
  const directory = await directoryWith({ 'web.yaml': text });
  await acceptInto(directory, templateOf(a, www));
  expect(await readFile(`${directory}/web.yaml`, 'utf8')).toBe(
    `${text}\r\n  - { type: A, name: www, content: 192.0.2.1 }`,
  );
});

test.each([
  [
    'template: web\nrecords: [{ type: A, content: 192.0.2.1 }]\n',
    '[{ type: A, content: 192.0.2.1 }, { type: A, name: www, content: 192.0.2.1 }]',
  ],
  [
    '{ template: web, records: [] }\n',
    '[{ type: A, content: 192.0.2.1 }, { type: A, name: www, content: 192.0.2.1 }]',
  ],
])('a list in brackets gets entries in braces: %s', async (text, list) => {
  const directory = await directoryWith({ 'web.yaml': text });
  await acceptInto(directory, templateOf(a, www));
  expect(await readFile(`${directory}/web.yaml`, 'utf8')).toContain(list);
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
