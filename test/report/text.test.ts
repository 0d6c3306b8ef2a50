import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Difference, Update } from '../../src/plan/difference.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { shorten, shortenPair, widthOf, wrap } from '../../src/report/columns.ts';
import { renderText } from '../../src/report/text.ts';
import type { PassResult, TemplateResult } from '../../src/result.ts';
import { add, at, everyKindReport, pass, problem, surplus, template, update } from './every-kind.ts';
import { commands, forHostileTexts, reportWith, unseen } from './hostile.ts';

const plain = (width: number) => ({ color: false, width });

/** Of templates that differ, unless they say otherwise. */
const render = (
  templates: readonly Partial<TemplateResult>[],
  { all = false, ...rest }: Partial<PassResult> & { readonly all?: boolean } = {},
): string =>
  renderText(
    assembleReport([
      pass({ templates: templates.map((one) => template({ status: 'drifted', ...one })), ...rest }),
    ]),
    { ...plain(100), all },
  );

/** Of the TTL of a record, an address if nothing else is said. */
const change = (name: string, more: Partial<Update> = {}, value = 'A 203.0.113.1'): Update =>
  update(5, `${name} 60 ${value}`, `${name} 300 ${value}`, { source: at(9, 'web.yaml'), ...more });

const extra = (recordId: number): Difference =>
  surplus(recordId, 'a 300 A 203.0.113.1', { cause: 'drifted' });

test('a report of every kind, with colour for each sign, which changes nothing else', async () => {
  const text = renderText(everyKindReport, plain(120));
  await expect(text).toMatchFileSnapshot('every-kind.golden.txt');
  const colored = renderText(everyKindReport, { color: true, width: 120 });
  for (const [sign, code] of Object.entries({ '\\+': 32, '~': 33, '!': 31, '\\?': 35, '»': 36 }))
    expect(colored).toMatch(new RegExp(`\u001B\\[${code}m *${sign} `));
  expect(stripVTControlCharacters(colored)).toBe(text);
});

describe('what several have to say is said once', () => {
  test('a guard: above the differences; another reason than that stays', () => {
    const held = (error: string) => ({ outcome: 'skipped', skippedBy: 'held', error }) as const;
    const text = render([
      {
        status: 'held',
        message: '2 of 4 records would change: raise it',
        differences: [
          change('a', held('held: 2 of 4 records would change: raise it')),
          change('b', held('held: its file is not whole')),
          change('c', { outcome: 'failed' }),
        ],
      },
    ]);
    expect(text.split('would change')).toHaveLength(2);
    expect(text).toContain('its file is not whole');
    expect(text).not.toContain('held back · edited');
    expect(text).toContain('failed · edited · web.yaml');
    expect(text).toMatch(/\n1 to change, 2 held back, 1 template held\n$/);
  });

  test('what to do about surplus records, and when a write is tried again: with the last', () => {
    const text = render([{ differences: [extra(1), extra(2)] }]);
    expect(text).toMatch(/record 1\n.*record 2\n +To do: [^]*records 1, 2 [^]*ignore[^]*adopt: true/);
    expect(text.split('To do')).toHaveLength(2);
    const retryAt = '2026-11-20T20:05:00.000Z';
    const waits = change('a', { outcome: 'skipped', retryAt, error: `it waits until ${retryAt}` });
    const tried = ['b', 'c'].map((name) => change(name, { retryAt }));
    expect(
      render([{ differences: [waits, ...tried] }]).match(/it waits until 2026|next try at 2026/g),
    ).toEqual(['it waits until 2026', 'next try at 2026']);
  });

  test('why templates cannot be read, with their names', () => {
    const unread = { status: 'failed', message: 'the service is away', asOf: null } as const;
    expect(
      render([
        { ...unread, client: 'default', template: 'one' },
        { ...unread, client: 'bakery', template: 'two' },
      ]),
    ).toBe(
      '✗ 2 templates: failed\n  the service is away\n  default: one (17), bakery: two (17)\n\n2 templates failed\n',
    );
  });

  test('that templates are in sync, unless all are listed', () => {
    const templates = [
      { template: 'one', inSync: 1, status: 'in-sync' as const },
      { template: 'two', inSync: 2, status: 'in-sync' as const },
      { template: 'web', differences: [change('a')] },
    ];
    expect(render(templates)).toContain('\n✓ 2 of 3 templates in sync\n\n1 to change\n');
    expect(render(templates)).not.toContain('one (17)');
    expect(render(templates, { all: true })).toContain('✓ one (17): 1 in sync');
    expect(render(templates, { all: true })).not.toContain('templates in sync');
  });

  test.each<[Update['cause'][], boolean]>([
    [['unknown', 'unknown', 'edited'], true],
    [['edited', 'edited'], false],
  ])('that causes are unknown: above all of %j', (causes, isSaid) => {
    const text = render([{ differences: causes.map((cause) => change('a', { cause })) }]);
    expect(text.startsWith('Causes are unknown unless a line names one: ')).toBe(isSaid);
    expect(text).not.toContain('cause unknown');
  });
});

test('records are sorted as people would: by name, type and priority, after what needs somebody', () => {
  const differences = [
    change('host10'),
    change('@', {}, 'MX 100 mx1.example.net'),
    change('host2'),
    change('@', {}, 'MX 20 mx2.example.net'),
    change('done', { outcome: 'applied' }),
    change('@'),
    change('zone', { outcome: 'failed' }),
  ];
  const rows = render([{ differences }]).match(/~ \w+ +\S+ +\S+/g) ?? [];
  expect(rows.map((row) => row.split(/ +/).slice(2).join(' '))).toEqual([
    'zone 203.0.113.1',
    '@ 203.0.113.1',
    '@ mx2.example.net',
    '@ mx1.example.net',
    'host2 203.0.113.1',
    'host10 203.0.113.1',
    'done 203.0.113.1',
  ]);
});

test('what is suspended says what ends the suspension, if anything waits for it', () => {
  const suspension = { by: 'ana', reason: 'moving', since: '2026-11-20T18:00:00.000Z', until: null };
  const of = (differences: Update[]): string =>
    render([{ status: 'suspended', message: 'suspended by ana: moving', suspension, differences }]);
  const toDo = '\n  To do: `dns-template-sync resume standard-web` ends the suspension; if all of client';
  expect(of([change('a')])).toContain(`by ana: moving${toDo}`);
  expect(of([])).not.toContain(toDo);
});

const www = 'www 300 A 203.0.113.1';

test.each<[string, Partial<TemplateResult>[]]>([
  ['no templates were compared', []],
  [
    'everything in sync: 27 records in 2 templates',
    [
      { status: 'in-sync', inSync: 20 },
      { status: 'in-sync', inSync: 7 },
    ],
  ],
  ['2 to add, 1 surplus', [{ differences: [add(www), add(www), extra(3)] }]],
  [
    '1 applied, everything in sync: 1 record in 1 template',
    [{ status: 'in-sync', inSync: 1, differences: [add(www, { outcome: 'applied' })] }],
  ],
  [
    '1 template held, 1 template failed',
    (['drifted', 'held', 'drifted', 'failed'] as const).map((status) => ({ status })),
  ],
  ['differs', [{}]],
])('the last line is the summary: %s', (line, templates) => {
  expect(render(templates).trimEnd().split('\n').at(-1)).toBe(line);
});

test('with several clients, each template and problem names its client', () => {
  const problems = [at(3, 'web.yaml'), {}].map((place) =>
    problem('error', 'No.', { client: 'acme', ...place }),
  );
  const text = render([{ client: 'acme' }, { client: 'other' }], { problems, all: true });
  for (const part of [
    'acme: standard-web',
    'other: standard-web',
    'acme: web.yaml:3:5: error: No. [include]',
  ])
    expect(text).toContain(part);
  expect(text).toContain('\nacme: error: No. [include]');
});

describe('lines', () => {
  test('shortening removes the middle, and of a pair keeps its difference visible', () => {
    expect(shorten('0123456789', 10)).toBe('0123456789');
    expect(shorten('0123456789', 9)).toBe('0123…6789');
    const long = `v=DKIM1; p=${'A'.repeat(99)}`;
    expect(shortenPair(`${long}1`, `${long}2`, 30)).toEqual(['v=D…AAA1', 'v=D…AAA2']);
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), fc.integer({ min: 12, max: 80 }), (before, after, width) => {
        const of = (middle: string): string => `${'a'.repeat(before)}${middle}${'b'.repeat(after)}`;
        const [from, to] = shortenPair(of('1'), of('2'), width);
        expect(from).not.toBe(to);
        expect(Math.max(widthOf(from), widthOf(to))).toBeLessThanOrEqual(width);
      }),
    );
  });

  test('wrapping breaks at blanks, and inside words that are too long, and loses nothing', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a 0123456789 b', 4)).toEqual(['a', '0123', '4567', '89 b']);
    expect(wrap('run `a b c` now', 8)).toEqual(['run', '`a b c`', 'now']);
  });
});

describe('hostile texts', () => {
  test('are shown as escapes', () => {
    const text = renderText(reportWith(['\x1b[31m\u202e\u{e0041}\n\t a  b\u00a0']), plain(400));
    expect(text).toContain(String.raw`\x1b[31m\u202e\u{e0041}\n\t a\x20\x20b\xa0`);
  });

  test('contain no runner command, wherever lines break', () => {
    const message = `${'word '.repeat(5)}::add-mask::com ##[add-mask]com ##vso[task.complete]`;
    const problems = [problem('error', message, at(1, '::warning title='))];
    const templates = [template({ status: 'held', message })];
    for (let width = 40; width < 140; width += 1)
      expect(renderText(assembleReport([pass({ templates, problems })]), plain(width))).not.toMatch(commands);
  });

  test('contain no controls, hide nothing and break no line', () => {
    forHostileTexts((texts) => {
      const report = reportWith(texts);
      const width = texts.length % 2 === 0 ? 40 : 80 + (texts.join('').length % 120);
      const text = renderText(report, plain(width));
      expect(text).not.toMatch(unseen);
      expect(text).not.toMatch(commands);
      expect(text.split('\n').filter((line) => widthOf(line) > width)).toEqual([]);
      expect(stripVTControlCharacters(renderText(report, { color: true, width }))).toBe(text);
    });
  });
});
