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
  test.each([120, 60])('at %i columns', async (width) => {
    await expect(renderText(everyKindReport, plain(width))).toMatchFileSnapshot(
      `every-kind.golden.${width}.txt`,
    );
  });

  test('with colour, which changes nothing else', async () => {
    const colored = renderText(everyKindReport, { color: true, width: 120 });
    await expect(colored).toMatchFileSnapshot('every-kind.golden.color.txt');
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
    const held = { outcome: 'skipped', error: `held: ${reason}` } as const;
    const text = render([
      template({ status: 'held', message: reason, differences: [update('a', held), update('b', held)] }),
    ]);
    expect(text.split('would change')).toHaveLength(2);
    expect(text).toMatch(/skipped .*\n.*skipped /);
    expect(text).toMatch(/\n2 held back, 1 template held\n$/);
  });

  test('of differences, such as a mode, are shown once', () => {
    const skipped = { outcome: 'skipped', error: 'mode: report writes nothing' } as const;
    const text = render([
      template({ status: 'drifted', differences: [update('a', skipped), update('b', skipped)] }),
    ]);
    expect(text.split('mode: report')).toHaveLength(2);
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
    expect(text).toMatch(/record 1\n.*record 2\n +To do: [^]*records 1 and 2 [^]*ignore[^]*adopt: true/);
    expect(text.split('To do')).toHaveLength(2);
  });

  test('of unreadable templates are shown once, with their names', () => {
    const unread = (name: string, id: number) =>
      template({ template: name, id, status: 'failed', message: 'the service is away', asOf: null });
    expect(render([unread('one', 1), unread('two', 2)])).toBe(
      '✗ 2 templates not compared: the service is away\n  one (1), two (2)\n\n2 templates not compared\n',
    );
    expect(render([unread('one', 1), { ...unread('two', 2), client: 'bakery' }])).toBe(
      '✗ 2 templates not compared: the service is away\n  default: one (1), bakery: two (2)\n\n2 templates not compared\n',
    );
  });

  test('of templates in sync are one line, unless all are listed', () => {
    const templates = [
      template({ template: 'one', inSync: 1 }),
      template({ template: 'two', inSync: 2 }),
      template({ template: 'web', status: 'drifted', differences: [update('a')] }),
    ];
    const text = render(templates);
    expect(text).toContain('\n✓ 2 of 3 templates in sync\n\n1 of 3 templates differs, 1 to change\n');
    expect(text).not.toContain('one (17)');
    expect(render(templates, true)).toContain('✓ one (17)  in sync: 1 record');
  });

  test('of unknown causes are one line above all, unless most causes are known', () => {
    const of = (...causes: Update['cause'][]): string =>
      render([template({ status: 'drifted', differences: causes.map((cause) => update('a', { cause })) })]);
    expect(of('unknown', 'unknown', 'edited')).toMatch(
      /^Causes are unknown unless a line names one: [^]* edited · /,
    );
    expect(of('unknown', 'unknown')).not.toContain('cause unknown');
    expect(of('unknown', 'edited')).not.toContain('Causes are');
    const written = update('a', { cause: 'unknown', outcome: 'applied' });
    expect(render([template({ differences: [written] })])).not.toContain('Causes are');
  });

  test('advice names the template, quoted for a shell', () => {
    const text = render([
      template({
        template: "it's mine",
        status: 'drifted',
        differences: [
          {
            action: 'blocked',
            reason: 'vanished',
            desired: update('a').desired,
            source: { file: 'web.yaml', line: 9, column: 5 },
            message: 'gone again',
          },
        ],
      }),
    ]);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(String.raw`apply --retry 'it'\''s mine'`);
  });
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
    ['no templates', []],
    ['everything in sync: 1 record in 1 template', [template({ inSync: 1 })]],
    ['everything in sync: 27 records in 2 templates', [template({ inSync: 20 }), template({ inSync: 7 })]],
    ['2 to add, 1 surplus', [template({ status: 'drifted', differences: [add, add, surplus] })]],
    [
      '1 applied, everything in sync: 1 record in 1 template',
      [template({ inSync: 1, differences: [{ ...add, outcome: 'applied' }] })],
    ],
    [
      '2 of 4 templates differ, 1 template held, 1 template failed',
      (['drifted', 'held', 'drifted', 'failed'] as const).map((status) => template({ status })),
    ],
    ['differs', [template({ status: 'drifted' })]],
  ])('%s', (line, templates) => {
    const text = renderText(assembleReport([pass({ templates })]), plain(120));
    expect(text.trimEnd().split('\n').at(-1)).toBe(line);
  });
});

test('a template in sync is one line if all are listed', () => {
  const templates = [template({ inSync: 3 }), template({ template: 'other', id: null, inSync: 1 })];
  expect(
    renderText(assembleReport([pass({ templates })]), { ...plain(120), all: true })
      .split('\n')
      .slice(0, 3),
  ).toEqual([
    '✓ standard-web (17)  in sync: 3 records  templates/standard-web.yaml',
    '✓ other  in sync: 1 record  templates/standard-web.yaml',
    '',
  ]);
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
    const message = `${'word '.repeat(20)}::add-mask::com ##[add-mask]com ##vso[task.complete]`;
    for (let width = 40; width < 140; width += 1) {
      const templates = [template({ status: 'held', message })];
      const problems = [
        {
          severity: 'error',
          check: 'include',
          message,
          client: 'a',
          file: '::warning::.yaml',
          line: 1,
          column: 1,
        },
      ] as const;
      const text = renderText(assembleReport([pass({ templates, problems })]), plain(width));
      expect(text).not.toMatch(commands);
    }
  });

  test('that only look like commands stay unchanged', () => {
    const templates = [template({ status: 'held', message: '::1 and 2001:db8::2, ## [a] #[b]' })];
    const text = renderText(assembleReport([pass({ templates })]), plain(100));
    expect(text).toContain('::1 and 2001:db8::2, ## [a] #[b]');
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
        numRuns: 60,
        examples: [
          [hostileTexts, 80],
          [hostileTexts, 40],
        ],
      },
    );
  });
});
