import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { existingIn, nothingYet } from '../../src/import/existing.ts';
import { dataOf } from '../../src/model/record.ts';
import type { DesiredTemplate, ActualTemplate } from '../../src/model/template.ts';
import { loadOnce } from '../desired/load-files.ts';
import { serviceState } from '../desired/service-state.ts';
import { templateOf, textFor } from './written.ts';

vi.setConfig({ testTimeout: 60_000 });

const read = async (text: string): Promise<DesiredTemplate> => {
  const { templates, lines } = await loadOnce({ 'web.yaml': text });
  // People may put a comment behind any value.
  expect(lines.filter((line) => !line.endsWith('[comment-after-text]'))).toEqual([]);
  return templates[0]!;
};

/** The file that is there, written anew for what the template holds now. */
const writeAnew = async (text: string, template: ActualTemplate): Promise<string> => {
  const desired = await read(text);
  const existing = existingIn(text, desired);
  if ('refusal' in existing) throw new Error(existing.refusal);
  return textFor(template, existing, { name: template.name, id: desired.id });
};

const a = { type: 'A', content: '192.0.2.1' };
const www = { ...a, name: 'www' };
const mx = { type: 'MX', content: 'mx.example.net', priority: 10 };

test('comments stay with their records, and everything else stays unchanged', async () => {
  const file = `# Sites of the bakery.
# yaml-language-server: $schema=.template.schema.json

template: wbe # the old name
# half an hour
ttl: 30m # since May
mode:   edits   # for now
limits:
  # a small one
  maxChangePercent: 60

# nobody else's
ignore: [ {type: TXT, name: "_acme*"} ]
records: # all of them
  # the server
  - { type: A, content: 192.0.2.1 } # in Bern

  # gone soon
  - { type: A, name: old, content: 192.0.2.1 }
  # two lines
  # on www
  - type: A # an address
    name: www
    # the same one
    content: [192.0.2.1, 192.0.2.2]
  # at the end of the list
subdomains: # two
  - shop.example.net # open
  - cafe.example.net
# at the end of the file
`;
  const acme = { type: 'TXT', name: '_acme-challenge', content: 'x' };
  expect(
    await writeAnew(file, { ...templateOf(www, mx, a, acme, { ...www, content: '192.0.2.2' }), name: 'web' }),
  ).toBe(`# Sites of the bakery.
# yaml-language-server: $schema=.template.schema.json

template: web # the old name
# half an hour
ttl: 3600 # since May
mode:   edits   # for now
limits:
  # a small one
  maxChangePercent: 60

# nobody else's
ignore: [ {type: TXT, name: "_acme*"} ]
records: # all of them
  # the server
  - { type: A, content: 192.0.2.1 } # in Bern
  # two lines
  # on www
  - type: A # an address
    name: www
    # the same one
    content: [192.0.2.1, 192.0.2.2]
  - { type: MX, content: mx.example.net, priority: 10 }
  # at the end of the list
subdomains: # two
  - shop.example.net # open
  - cafe.example.net
# at the end of the file
`);
});

test('a comment stays when the TTL or the content changes', async () => {
  const file = `template: web
records:
  # first
  - { type: A, content: 192.0.2.1, ttl: 60 }
  # second
  - { type: A, name: www, content: 192.0.2.1 }
`;
  const written = await writeAnew(file, templateOf(a, { ...www, content: '192.0.2.9' }));
  expect(written).toContain('  # first\n  - { type: A, content: 192.0.2.1, ttl: 3600 }\n');
  expect(written).toContain('  # second\n  - { type: A, name: www, content: 192.0.2.9 }\n');
});

test('a blank line before a comment stays, except at the first record', async () => {
  const file = `template: web
ttl: 3600
records:
  - { type: A, name: gone, content: 192.0.2.1 }

  # one
  - { type: A, name: www, content: 192.0.2.1 }

  # two
  - { type: MX, content: mx.example.net, priority: 10 }
`;
  const written = await writeAnew(file, templateOf(www, mx));
  expect(written).toBe(file.replace(/ +- .* gone,.*\n\n/, ''));
  expect(await writeAnew(written, templateOf(www, mx))).toBe(written);
});

test('a full name of the service is allowed beside the subdomains of the file', async () => {
  const file = 'template: web\nttl: 3600\nsubdomains: [shop.example.net]\nrecords: []\n';
  expect(await writeAnew(file, templateOf({ ...a, name: 'www.shop.example.net' }))).toContain(
    '{ type: A, name: www.shop.example.net, content: 192.0.2.1, allow: [full-name] }',
  );
});

test('a stated id stays, and no id is added', async () => {
  const template = templateOf(a);
  expect(await writeAnew('id: 17\ntemplate: web\nrecords: []\n', template)).toBe(
    'id: 17\ntemplate: web\nttl: 3600\nrecords:\n  - { type: A, content: 192.0.2.1 }\n',
  );
  expect(await writeAnew('template: web\nrecords: []\n', template)).not.toContain('id:');
});

test('a template TTL that not all records have is removed', async () => {
  const written = await writeAnew(
    'template: web\n# why\nttl: 60\nrecords: []\n',
    templateOf({ ...a, ttl: null }),
  );
  expect(written).toBe('template: web\n# why\nrecords:\n  - { type: A, content: 192.0.2.1 }\n');
});

test('variables stay if their value is current, and are replaced if the content has changed', async () => {
  const file = `template: web
vars: { zone: example.net }
subdomains: ['shop.\${zone}']
records:
  - { type: MX, content: 'mx.\${zone}', priority: 10 } # ours
`;
  expect(await writeAnew(file, templateOf(mx))).toBe(file);
  const written = await writeAnew(file, templateOf({ ...mx, content: 'mx.example.org' }));
  expect(written).toContain("vars: { zone: example.net }\nsubdomains: ['shop.${zone}']\n");
  expect(written).toContain('  - { type: MX, content: mx.example.org, priority: 10 } # ours\n');
});

describe('unchanged parts stay byte for byte', () => {
  const file = `template:   "web"   # quoted
ttl: 1h
vars: {web: 192.0.2.1}

records:
  # mail first
  - {type: mx, content: MX.example.net., priority: "10"}   # aligned

  - type: A
    content: "\${web}"
    ttl: 60m
  - { type: A, name: www, content: [ "\${web}", 192.0.2.2 ] }
`;
  const state = templateOf({ ...www, content: '192.0.2.2' }, www, a, mx);

  test.each<[string, string]>([
    ['as it is', file],
    ['with the line ends of Windows', file.replaceAll('\n', '\r\n')],
    ['without a line end at its end', file.trimEnd()],
    ['with blank lines at its end', `${file}\n\n`],
    ['in brackets', 'template: web\nrecords: [{type: A, content: 192.0.2.1, ttl: 1h}] # all\n'],
  ])('%s', async (what, text) => {
    expect(await writeAnew(text, what === 'in brackets' ? templateOf(a) : state)).toBe(text);
  });

  test('except changed records', async () => {
    const written = await writeAnew(
      file,
      templateOf({ ...www, content: '192.0.2.2' }, www, { ...a, content: '192.0.2.9' }, mx, {
        ...www,
        type: 'AAAA',
        content: '2001:db8::1',
      }),
    );
    expect(written).toBe(
      file
        .replace(/ {2}- type: A\n.*\n.*\n/, '  - { type: A, content: 192.0.2.9 }\n')
        .replace(/$/, "  - { type: AAAA, name: www, content: '2001:db8::1' }\n"),
    );
  });

  test('except the TTL of the template, if all its records have another one', async () => {
    const written = await writeAnew(
      file,
      templateOf({ ...www, content: '192.0.2.2', ttl: 300 }, { ...www, ttl: 300 }, a, { ...mx, ttl: 300 }),
    );
    expect(written).toBe(file.replace('ttl: 1h', 'ttl: 300'));
  });
});

test('the remarks at the end are replaced, and nothing else there', async () => {
  const copies = templateOf(a, a, { ...a, id: 9 });
  const first = await writeAnew('template: web\nrecords: []\n', copies);
  expect(first.match(/# - record/g)).toHaveLength(2);
  const edited = `${first}\n# mine\n`;
  const again = await writeAnew(edited, templateOf(a, a));
  expect(again).toBe(
    `${first.split('\n\n')[0]}\n\n\n\n\n\n# mine\n\n${first.split('\n\n')[1]!.split('\n').slice(0, 2).join('\n')}\n`,
  );
});

test('a changed list in brackets becomes a block list, with its comments', async () => {
  const file = `template: web
records: [ # all
  {type: A, content: 192.0.2.1}, # first
  {type: TXT, content: 'x # y'}, {type: TXT, content: 'z # y'}
] # end
`;
  const txt = { type: 'TXT', content: 'x # y' };
  expect(await writeAnew(file, templateOf(a, txt, { ...txt, content: 'w # y' }))).toBe(`template: web
ttl: 3600
records: # end
  # all
  - { type: A, content: 192.0.2.1 } # first
  - { type: TXT, content: 'w # y' }
  - { type: TXT, content: 'x # y' }
`);
});

test('a file is refused if other keys use an alias of its records', async () => {
  const file = `template: web
records:
  - { type: TXT, name: &name _acme-challenge, content: x }
ignore:
  - { type: A, name: *name }
`;
  await expect(writeAnew(file, templateOf(a))).rejects.toThrow(/\[yaml-alias\]/);
});

describe('a file is left alone', () => {
  test.for<[string, string, string]>([
    [
      'that holds several documents',
      'template: web\nrecords: []\n---\ntemplate: b\nrecords: []\n',
      'several documents',
    ],
    ['in one pair of braces', '{template: web, records: []}\n', 'beginning of lines'],
    ['with a key in YAML’s long form', '? template\n: web\nrecords: []\n', 'beginning of lines'],
    ['that is indented', '  template: web\n  records: []\n', 'beginning of lines'],
  ])('%s', async ([, text, reason]) => {
    const { templates } = await loadOnce({ 'web.yaml': text, '_a.yaml': 'records: []\n' });
    expect(existingIn(text, templates[0]!)).toEqual({ refusal: expect.stringContaining(reason) });
  });
});

/** Comments in lines of their own, at any indent, or beside what is there, and blank lines. */
const withComments = (text: string, places: readonly { line: number; indent: number }[]): string => {
  const lines = text.split('\n').slice(0, -1);
  const end = lines.findIndex((line) => line.startsWith('# What'));
  const last = end < 0 ? lines.length : end - 1;
  for (const [index, { line, indent }] of places.entries()) {
    const at = line % (last + 1);
    const comment = `# c${index}.`;
    if (indent === 6) lines.splice(at, 0, '');
    else if (indent > 4 && at < last && !lines[at]!.startsWith('#')) lines[at] += ` ${comment}`;
    else lines.splice(at, 0, ' '.repeat(indent % 5) + comment);
  }
  return lines.map((line) => `${line}\n`).join('');
};
const places = fc.array(fc.record({ line: fc.nat(100), indent: fc.constantFrom(0, 2, 4, 5, 6) }), {
  maxLength: 8,
});

test('remarks stay directly after the comment at the end of the last record', async () => {
  const name = 'web';
  const kept = { id: 1, type: 'TXT', name: 'www', content: 'x'.repeat(100), priority: null, ttl: 3600 };
  const unsaid = { id: 2, type: 'SRV', name: null, content: '192.0.2.1', priority: 65_536, ttl: null };
  const template = { id: 1, name, publiclyAvailable: false, subdomains: 0, records: [kept, unsaid] };
  const text = await textFor(template, nothingYet);
  const commented = text.replace('\n\n# What', '\n    # the last one\n\n# What');
  expect(commented).not.toBe(text);
  expect(await writeAnew(commented, template)).toBe(commented);
});

test('no comment is lost or doubled, and a second time changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(serviceState, places, async ([template], comments) => {
      const one = { ...template!, name: 'web' };
      const commented = withComments(await textFor(one, nothingYet), comments);
      const first = await writeAnew(commented, one);
      for (const [index, { indent }] of comments.entries())
        expect(first.split(`# c${index}.`)).toHaveLength(indent === 6 ? 1 : 2);
      expect(await writeAnew(first, one)).toBe(first);
      const recordsIn = async (text: string) => (await read(text)).records.map(dataOf);
      expect(await recordsIn(first)).toEqual(await recordsIn(await textFor(one, nothingYet)));
    }),
    { numRuns: 50 },
  );
});
