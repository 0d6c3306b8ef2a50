import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Update } from '../../src/plan/difference.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { widthOf } from '../../src/report/columns.ts';
import { renderText } from '../../src/report/text.ts';
import type { TemplateResult } from '../../src/result.ts';
import { everyKindReport, pass, template } from './every-kind.ts';
import { commands, someHostileTexts, hostileTexts, reportWith, unseen } from './hostile.ts';

const plain = (width: number) => ({ color: false, width });

describe('a report of every kind', () => {
  test('at 120 columns', async () => {
    await expect(renderText(everyKindReport, plain(120))).toMatchFileSnapshot('every-kind.golden.txt');
  });

  test('at 60 columns', async () => {
    const narrow = renderText(everyKindReport, plain(60)).split('\n').slice(0, 40).join('\n');
    await expect(`${narrow}\n`).toMatchFileSnapshot('every-kind.golden.60.txt');
  });

  test('with colour for each sign, which changes nothing else', () => {
    const colored = renderText(everyKindReport, { color: true, width: 120 });
    for (const [sign, code] of Object.entries({ '\\+': 32, '~': 33, '!': 31, '\\?': 35, '»': 36 }))
      expect(colored).toMatch(new RegExp(`\u001B\\[${code}m *${sign} `));
    expect(stripVTControlCharacters(colored)).toBe(renderText(everyKindReport, plain(120)));
  });
});

const update = (name: string, more: Partial<Update> = {}): Update => ({
  action: 'update',
  recordId: 5,
  current: { type: 'A', name, content: '203.0.113.1', priority: null, ttl: 60 },
  desired: { type: 'A', name, content: '203.0.113.1', priority: null, ttl: 300 },
  fields: ['ttl'],
  cause: 'edited',
  source: { file: 'web.yaml', line: 9, column: 5 },
  ...more,
});

describe('repeated messages', () => {
  const render = (templates: TemplateResult[], all = false): string =>
    renderText(assembleReport([pass({ templates })]), { ...plain(100), all });

  test('of differences, such as a guard, are shown once', () => {
    const reason = '2 of 4 records would change: raise it';
    const held = { outcome: 'skipped', skippedBy: 'held', error: `held: ${reason}` } as const;
    const text = render([
      template({ status: 'held', message: reason, differences: [update('a', held), update('b', held)] }),
    ]);
    expect(text.split('would change')).toHaveLength(2);
    expect(text).not.toContain('held back ·');
    expect(text).toMatch(/\n2 held back, 1 template held\n$/);
    // Another reason than that of the template is said.
    const other = { ...held, error: 'held: its file is not whole' } as const;
    const both = render([
      template({ status: 'held', message: reason, differences: [update('a', held), update('b', other)] }),
    ]);
    expect(both).toContain('held: its file is not whole.');
  });

  test('of surplus records are shown once, below the last of them', () => {
    const surplus = (recordId: number, cause = 'drifted') =>
      ({
        action: 'surplus',
        recordId,
        current: update('a').desired,
        reason: 'unlisted',
        cause,
      }) as TemplateResult['differences'][number];
    const text = render([template({ status: 'drifted', differences: [surplus(1), surplus(2)] })]);
    expect(text).toMatch(/record 1\n.*record 2\n +To do: [^]*records 1, 2 [^]*ignore[^]*adopt: true/);
    expect(text.split('To do')).toHaveLength(2);
  });

  test('of unreadable templates are shown once, with their names', () => {
    const unread = (client: string, name: string) =>
      template({ client, template: name, status: 'failed', message: 'the service is away', asOf: null });
    expect(render([unread('default', 'one'), unread('bakery', 'two')])).toBe(
      '✗ 2 templates failed: the service is away\n  default: one (17), bakery: two (17)\n\n2 templates failed\n',
    );
  });

  test('of templates in sync are one line, unless all are listed', () => {
    const templates = [
      template({ template: 'one', inSync: 1 }),
      template({ template: 'two', inSync: 2 }),
      template({ template: 'web', status: 'drifted', differences: [update('a')] }),
    ];
    const text = render(templates);
    expect(text).toContain('\n✓ 2 of 3 templates in sync\n\n1 to change\n');
    expect(text).not.toContain('one (17)');
    expect(render(templates, true)).toContain('✓ one (17): 1 in sync');
  });

  test('of unknown causes are one line above all', () => {
    const of = (...causes: Update['cause'][]): string =>
      render([template({ status: 'drifted', differences: causes.map((cause) => update('a', { cause })) })]);
    expect(of('unknown', 'unknown', 'edited')).toMatch(
      /^Causes are unknown unless a line names one: [^]* edited · /,
    );
    expect(of('unknown', 'unknown')).not.toContain('cause unknown');
    expect(of('edited', 'edited')).not.toContain('Causes are');
    const written = update('a', { cause: 'unknown', outcome: 'applied' });
    expect(render([template({ differences: [written] })])).not.toContain('Causes are');
  });

  test('of a time when a write is tried again are shown once', () => {
    const retryAt = '2026-11-20T20:05:00.000Z';
    const waits = update('a', { outcome: 'skipped', retryAt, error: `it waits until ${retryAt}` });
    const text = render([template({ status: 'drifted', differences: [waits, update('b', { retryAt })] })]);
    expect(text.match(/it waits until 2026|Next try at 2026/g)).toEqual([
      'it waits until 2026',
      'Next try at 2026',
    ]);
  });
});

test('long texts show where they differ', () => {
  const [start, end] = ['x'.repeat(60_000), 'y'.repeat(60_000)];
  const of = (content: string): Update['current'] => ({ ...update('a').current, content });
  const change = {
    current: of(`${start}old${end}`),
    desired: of(`${start}new${end}`),
    fields: ['content'],
  } as const;
  const templates = [template({ status: 'drifted', differences: [update('a', change)] })];
  const text = renderText(assembleReport([pass({ templates })]), plain(80));
  expect(text).toMatch(/x…x+oldy+…y+ → x+…x+newy+…y+\n/);
});

test('records are sorted as people would: by name, type and priority, after what needs somebody', () => {
  const of = (name: string | null, more: Partial<Update['desired']> = {}, rest: Partial<Update> = {}) => {
    const record = { ...update('a').current, name, ...more };
    return update('a', { current: record, desired: { ...record, ttl: 300 }, ...rest });
  };
  const differences = [
    of('host10'),
    of(null, { type: 'MX', content: 'mx1.example.net', priority: 100 }),
    of('host2'),
    of(null, { type: 'MX', content: 'mx2.example.net', priority: 20 }),
    of('done', {}, { outcome: 'applied' }),
    of(null),
    of('zone', {}, { outcome: 'failed' }),
  ];
  const report = assembleReport([pass({ templates: [template({ status: 'drifted', differences })] })]);
  expect(
    renderText(report, plain(120))
      .match(/~ \w+ +\S+ +\S+/g)
      ?.map((row) => row.split(/ +/).slice(2).join(' ')),
  ).toEqual([
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
  const of = (differences: Update[]): string => {
    const paused = template({
      status: 'suspended',
      message: 'suspended by ana: moving',
      suspension,
      differences,
    });
    return renderText(assembleReport([pass({ templates: [paused] })]), plain(100));
  };
  expect(of([update('a')])).toContain(
    'by ana: moving\n  To do: `dns-template-sync resume standard-web` ends the suspension.\n',
  );
  expect(of([])).toContain('by ana: moving\n');
});

describe('the summary line', () => {
  const add: TemplateResult['differences'][number] = {
    action: 'add',
    desired: { type: 'A', name: 'www', content: '203.0.113.10', priority: null, ttl: null },
    cause: 'edited',
    source: { file: 'web.yaml', line: 9, column: 5 },
  };
  const surplus: TemplateResult['differences'][number] = {
    action: 'surplus',
    recordId: 3,
    current: add.desired,
    reason: 'unlisted',
    cause: 'unknown',
  };

  test.each<[string, TemplateResult[]]>([
    ['no templates were compared', []],
    ['everything in sync: 1 record in 1 template', [template({ inSync: 1 })]],
    ['everything in sync: 27 records in 2 templates', [template({ inSync: 20 }), template({ inSync: 7 })]],
    ['2 to add, 1 surplus', [template({ status: 'drifted', differences: [add, add, surplus] })]],
    [
      '1 applied, everything in sync: 1 record in 1 template',
      [template({ inSync: 1, differences: [{ ...add, outcome: 'applied' }] })],
    ],
    [
      '1 template held, 1 template failed',
      (['drifted', 'held', 'drifted', 'failed'] as const).map((status) => template({ status })),
    ],
    ['differs', [template({ status: 'drifted' })]],
  ])('%s', (line, templates) => {
    const text = renderText(assembleReport([pass({ templates })]), plain(120));
    expect(text.trimEnd().split('\n').at(-1)).toBe(line);
  });
});

test('the largest numbers fit into the narrowest terminal', () => {
  const current = { type: 'CNAME', name: 'a'.repeat(20), content: 'x', priority: null, ttl: 2 ** 52 };
  const templates = [
    template({
      differences: [
        { action: 'surplus', recordId: 2 ** 52, current, reason: 'unlisted', cause: 'both' },
        {
          action: 'update',
          recordId: 2 ** 52,
          current,
          desired: { ...current, priority: 2 ** 52, ttl: 2 ** 51 },
          fields: ['priority', 'ttl'],
          cause: 'both',
          source: { file: 'web.yaml', line: 2 ** 40, column: 1 },
        },
      ],
    }),
  ];
  const lines = renderText(assembleReport([pass({ templates })]), plain(1)).split('\n');
  expect(lines.filter((line) => widthOf(line) > 40)).toEqual([]);
});

test('with several clients, each template and problem names its client', () => {
  const templates = [template({ client: 'acme' }), template({ client: 'other' })];
  const problem = { severity: 'error', check: 'include', message: 'No.', client: 'acme' } as const;
  const problems = [
    { ...problem, file: 'web.yaml', line: 3, column: 5 },
    { ...problem, file: null, line: null, column: null },
  ];
  const text = renderText(assembleReport([pass({ templates, problems })]), { ...plain(120), all: true });
  expect(text).toContain('acme: standard-web');
  expect(text).toContain('other: standard-web');
  expect(text).toContain('acme: web.yaml:3:5: error: No. [include]');
  expect(text).toContain('acme: error: No. [include]');
});

describe('hostile texts', () => {
  test('are shown as escapes', () => {
    const text = renderText(reportWith(['\x1b[31m\u202e\u{e0041}\n\t a  b\u00a0']), plain(400));
    expect(text).toContain(String.raw`\x1b[31m\u202e\u{e0041}\n\t a\x20\x20b\xa0`);
  });

  test('contain no runner command, wherever lines break', () => {
    const message = `${'word '.repeat(5)}::add-mask::com ##[add-mask]com ##vso[task.complete]`;
    for (let width = 40; width < 140; width += 1) {
      const templates = [template({ status: 'held', message })];
      const problems = [
        {
          severity: 'error',
          check: 'include',
          message,
          client: 'default',
          file: '::warning title=',
          line: 1,
          column: 1,
        },
      ] as const;
      const text = renderText(assembleReport([pass({ templates, problems })]), plain(width));
      expect(text).not.toMatch(commands);
    }
  });

  test('contain no controls, hide nothing and break no line', () => {
    fc.assert(
      fc.property(someHostileTexts, fc.integer({ min: 1, max: 200 }), (texts, width) => {
        const report = reportWith(texts);
        const text = renderText(report, plain(width));
        expect(text).not.toMatch(unseen);
        expect(text).not.toMatch(commands);
        const tooWide = text.split('\n').filter((line) => widthOf(line) > Math.max(40, width));
        expect(tooWide).toEqual([]);
        expect(stripVTControlCharacters(renderText(report, { color: true, width }))).toBe(text);
      }),
      {
        numRuns: 30,
        examples: [
          [hostileTexts, 80],
          [hostileTexts, 40],
        ],
      },
    );
  });
});
