import { describe, expect, it } from 'vitest';
import type { Difference } from '../../src/plan/difference.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { excerptOf } from '../../src/status-page/excerpt.ts';
import {
  addressOf,
  everything,
  readPageQuery,
  rootOf,
  templateAddress,
  withNotice,
} from '../../src/status-page/query.ts';
import { everyKindReport, pass, template } from '../report/every-kind.ts';
import { states } from './page-states.ts';

const record = (name: string, content = '192.0.2.1') => ({
  type: 'A',
  name,
  content,
  priority: null,
  ttl: null,
});
const source = { file: 'templates/web.yaml', line: 4, column: 5 };
const add = (name: string): Difference => ({ action: 'add', desired: record(name), cause: 'edited', source });
const blocked = (name: string): Difference => ({
  action: 'blocked',
  reason: 'refused',
  desired: record(name),
  source,
  message: 'it was refused',
});

const report = assembleReport([
  pass({
    templates: [
      template({ template: 'adds', status: 'drifted', differences: [add('www'), add('api')] }),
      template({ template: 'calm', file: 'templates/calm.yaml' }),
      template({ template: 'held', status: 'held', message: 'too many', differences: [add('held')] }),
      template({ template: 'in-the-way', status: 'drifted', differences: [add('one'), blocked('two')] }),
      template({ template: 'lost', status: 'failed', message: 'no such template' }),
      template({ template: 'lost-too', status: 'failed', message: 'no such template' }),
    ],
  }),
]);

const shown = (query: Partial<typeof everything>): string[][] =>
  excerptOf(report, { ...everything, ...query }).groups.map(({ templates }) =>
    templates.flatMap(({ template: { template: name, differences } }) => [
      name,
      ...differences.map((one) => ('desired' in one ? String(one.desired.name) : '')),
    ]),
  );

describe('what the page shows', () => {
  it('starts with what needs a person, and shows messages of several templates once', () => {
    expect(shown({})).toEqual([
      ['lost', 'lost-too'],
      ['in-the-way', 'two', 'one'],
      ['held', 'held'],
      ['adds', 'api', 'www'],
    ]);
  });

  it.each([
    [{ show: 'blocked' }, [['in-the-way', 'two']]],
    [{ show: 'failed' }, [['lost', 'lost-too']]],
    [{ show: 'held' }, [['held', 'held']]],
    [{ show: 'surplus' }, []],
    [{ text: 'API' }, [['adds', 'api']]],
    [{ text: 'in-the' }, [['in-the-way', 'two', 'one']]],
    [{ text: 'refused' }, [['in-the-way', 'two']]],
    [{ text: 'www', show: 'blocked' }, []],
    [
      { skip: 2 },
      [
        ['held', 'held'],
        ['adds', 'api', 'www'],
      ],
    ],
  ] as const)('is what %j asks for', (query, expected) => {
    expect(shown(query)).toEqual(expected);
  });

  it('counts all of each kind, shown or not', () => {
    for (const query of [{}, { show: 'blocked' as const }])
      expect(excerptOf(report, { ...everything, ...query }).counts).toMatchObject({
        failed: 2,
        held: 1,
        blocked: 1,
        add: 4,
        'in-sync': 1,
      });
  });

  it('lists what is in sync on request, else counts it', () => {
    const calm = (query: Partial<typeof everything>): string[] =>
      excerptOf(report, { ...everything, ...query }).calm.map((one) => one.template.template);
    expect(calm({})).toEqual([]);
    expect(calm({ show: 'in-sync' })).toEqual(['calm']);
    expect(calm({ text: 'calm' })).toEqual(['calm']);
    expect(excerptOf(report, everything).calmCount).toBe(1);
  });

  it('reaches each of many templates through its pages', () => {
    const { newest } = states['7000-records']?.() ?? expect.fail();
    expect(newest.groups.length).toBeLessThan(newest.groupCount);
    const [first] = newest.groups;
    expect(first?.templates[0]?.more).toBeGreaterThan(0);
  });

  it('is limited for a report of every kind, and leaves out applied differences', () => {
    const { groups } = excerptOf(everyKindReport, everything);
    const outcomes = groups.flatMap(({ templates }) =>
      templates.flatMap((one) => one.template.differences.map(({ outcome }) => outcome)),
    );
    expect(outcomes).not.toContain('applied');
  });
});

describe('the address of a page', () => {
  it.each(['', '?show=blocked', '?q=www+%C3%A4%26b', '?show=add&q=x&client=acme&skip=40'])(
    '%j is parsed, and formatted back to the same',
    (address) => {
      const { searchParams } = new URL(address, 'http://localhost');
      expect(addressOf(readPageQuery(searchParams, 0))).toBe(address);
    },
  );

  it('ignores invalid parameters', () => {
    const query = new URLSearchParams('show=everything&skip=-1&other=1&q=%20&did=harm&at=5');
    expect(readPageQuery(query, 5)).toEqual(everything);
  });

  it('says what was done for five minutes, and leads to no other page that says so', () => {
    const { search } = new URL(withNotice('?show=held', { did: 'resume', at: 5 }), 'http://localhost');
    const seen = [4, 5, 300_004, 300_005].map((now) => readPageQuery(new URLSearchParams(search), now));
    expect(seen.map(({ notice }) => notice?.did)).toEqual([undefined, 'resume', 'resume', undefined]);
    expect(seen.map(addressOf)).toEqual(seen.map(() => '?show=held'));
  });

  it('of a template works with any name, also with half a character', () => {
    expect(templateAddress('a/b?c', null)).toBe('templates/a%2Fb%3Fc');
    expect(templateAddress('\ud800', 'acme')).toBe('clients/acme/templates/%EF%BF%BD');
  });

  it.each([
    ['/', './'],
    ['/writes', './'],
    ['/api/report', '../'],
    ['/templates/web', '../'],
    ['/templates/a/b', '../'],
    ['/clients/acme/templates/a/b', '../../../'],
    ['/no/such/page', '../../'],
  ])('leads from %s to the root by %s', (path, root) => {
    expect(rootOf(path)).toBe(root);
  });

  it('of a template has its client if another client has a template of that name', () => {
    const twice = assembleReport(
      ['acme', 'bakery'].map((client) =>
        pass({ client, templates: ['web', client].map((name) => template({ client, template: name })) }),
      ),
    );
    expect(excerptOf(twice, everything).calm.map(({ href }) => href)).toEqual([
      'clients/acme/templates/web',
      'templates/acme',
      'clients/bakery/templates/web',
      'templates/bakery',
    ]);
  });
});
