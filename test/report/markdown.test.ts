import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Difference } from '../../src/plan/difference.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import type { TemplateResult } from '../../src/result.ts';
import { everyKindReport, pass, template } from './every-kind.ts';
import { commands, harmlessReport, hostileTexts, reportWith, someHostileTexts, unseen } from './hostile.ts';

/** The comment without its fences and the code elsewhere: letters, digits, some harmless signs and entities. */
const skeletonOf = (comment: string): string => {
  let fence: string | null = null;
  const outside = comment.split('\n').filter((line) => {
    const isInside = fence !== null;
    if (fence === null) fence = /^(`{3,})diff$/.exec(line)?.[1] ?? null;
    else if (/^ {0,3}`+ *$/.test(line) && line.trim().length >= fence.length) fence = null;
    return !isInside && fence === null;
  });
  expect(fence).toBe(null);
  return outside.join('\n').replaceAll(/<code dir="ltr">(?:[\p{L}\p{M}\p{N} .,;=+-]|&#\d+;)*<\/code>/gu, '…');
};

const cutNote = '\n**Cut short:**';

test('a report of every kind', async () => {
  await expect(renderMarkdown(everyKindReport)).toMatchFileSnapshot('every-kind.golden.md');
});

test('a service that is away is said once, with the names of its templates', () => {
  const unread = ['one', 'two'].map((name) =>
    template({ template: name, status: 'failed', message: 'away', asOf: null }),
  );
  expect(renderMarkdown(assembleReport([pass({ templates: unread })]))).toBe(
    [
      '### dns-template-sync: 2 templates failed\n',
      '<details open><summary>2 templates <b>failed</b></summary>\n',
      '```diff\naway\n  one (17)\n  two (17)\n```\n',
      '</details>\n',
    ].join('\n'),
  );
});

test('an empty report', () => {
  expect(renderMarkdown(assembleReport([]))).toBe('### dns-template-sync: no templates were compared\n');
});

describe('a comment has at most 65,536 characters', () => {
  const adds = (count: number): TemplateResult['differences'] =>
    Array.from({ length: count }, (_, index) => ({
      action: 'add',
      desired: { type: 'TXT', name: `name-${index}`, content: '<|>'.repeat(20), priority: null, ttl: 60 },
      cause: 'edited',
      source: { file: 'templates/web.yaml', line: index + 1, column: 1 },
    }));
  const many = (count: number, more: Partial<TemplateResult>) =>
    Array.from({ length: count }, () => template(more));

  test.each<[string, TemplateResult[]]>([
    ['many differences in one template', many(1, { status: 'drifted', differences: adds(1000) })],
    ['many templates that differ', many(1000, { status: 'drifted', differences: adds(2) })],
    ['many held', many(1000, { status: 'held', message: '@'.repeat(5000), differences: adds(1) })],
  ])('%s: what does not fit is left out as a whole, and named', (_, templates) => {
    const comment = renderMarkdown(assembleReport([pass({ templates })]));
    // dflook/terraform-github-actions#197.
    expect(comment.length).toBeLessThanOrEqual(65_536);
    expect(comment).toMatch(/\n\*\*Cut short:\*\*[^\n]*\n\n- <code dir="ltr">standard-web [^\n]*\n/);
    expect(comment.match(/<details>/g) ?? []).toHaveLength(comment.match(/<\/details>/g)?.length ?? 0);
  });

  test('any number of adds hides neither a template nor a few changes of another one', () => {
    const name = (index: number): string => `template-${String(index).padStart(3, '0')}`;
    const junk = (index: number): TemplateResult =>
      template({ template: name(index), status: 'drifted', differences: adds(900) });
    const changed = template({
      template: 'the-one-that-matters',
      status: 'drifted',
      differences: [
        {
          action: 'update',
          recordId: 5,
          current: { type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: null },
          desired: { type: 'A', name: 'www', content: '203.0.113.66', priority: null, ttl: null },
          fields: ['content'],
          cause: 'edited',
          source: { file: 'templates/zz.yaml', line: 3, column: 5 },
        },
      ],
    });
    const templates = [...Array.from({ length: 40 }, (_, index) => junk(index)), changed];
    const comment = renderMarkdown(assembleReport([pass({ templates })]));
    expect(comment.length).toBeLessThanOrEqual(65_536);
    for (const one of templates) expect(comment).toContain(`<code dir="ltr">${one.template} `);
    expect(comment).toContain('192.0.2.1 → 203.0.113.66');
    expect(comment).toContain(cutNote);
  });
});

describe('what differs', () => {
  const difference = (index: number): Difference => ({
    action: 'add',
    desired: { type: 'A', name: `n${index}`, content: '192.0.2.1', priority: null, ttl: null },
    cause: 'edited',
    source: { file: 'templates/web.yaml', line: index + 1, column: 1 },
  });
  const comment = (count: number): string =>
    renderMarkdown(
      assembleReport([
        pass({
          templates: [
            template({
              status: 'drifted',
              differences: Array.from({ length: count }, (_, index) => difference(index)),
            }),
          ],
        }),
      ]),
    );

  test('is open if it is short, else collapsed', () => {
    expect(comment(10)).toContain('<details open><summary>');
    expect(comment(11)).toContain('<details><summary>');
  });
});

describe('hostile texts', () => {
  test('stay in code, which Markdown and GitHub do not change', () => {
    fc.assert(
      fc.property(someHostileTexts, (texts) => {
        const lines: unknown[] = skeletonOf(renderMarkdown(harmlessReport(texts))).split('\n');
        const ofCut = /^\*\*Cut short:\*\* |^- … <b>[a-z0-9 :,]*<\/b> …$|^- and \d+ more$/;
        const comment = renderMarkdown(reportWith(texts));
        const skeleton = skeletonOf(comment);
        if (!comment.includes(cutNote)) expect(skeleton.split('\n')).toEqual(lines);
        for (const line of skeleton.split('\n'))
          expect([...lines, expect.stringMatching(ofCut)]).toContainEqual(line);
        expect(comment).not.toMatch(unseen);
        expect(comment).not.toMatch(commands);
        expect(skeleton).not.toMatch(/www\./i);
      }),
      { numRuns: 30, examples: [[hostileTexts], ...hostileTexts.map((text): [string[]] => [[text]])] },
    );
  });
});
