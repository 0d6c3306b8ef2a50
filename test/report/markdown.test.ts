import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleReport } from '../../src/report/assemble.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import type { TemplateResult } from '../../src/result.ts';
import { everyKindReport, pass, template } from './every-kind.ts';
import { harmlessReport, hostileTexts, reportWith, someHostileTexts, unseen } from './hostile.ts';

/** The comment without the texts that come from elsewhere: code of letters, digits, some harmless signs, entities. */
const skeletonOf = (comment: string): string =>
  comment.replaceAll(/<code(?: dir="ltr")?>(?:[\p{L}\p{M}\p{N} .,;=+-]|&#\d+;)*<\/code>/gu, '…');

const cutNote = '\n**Cut short:**';

test('a report of every kind', async () => {
  await expect(renderMarkdown(everyKindReport)).toMatchFileSnapshot('every-kind.golden.md');
});

test('a report of nothing', () => {
  expect(renderMarkdown(assembleReport([]))).toBe('### dns-template-sync: in sync\n\nno templates\n');
});

describe('a comment has at most 65,536 characters', () => {
  const adds = (count: number): TemplateResult['differences'] =>
    Array.from({ length: count }, (_, index) => ({
      action: 'add',
      desired: { type: 'TXT', name: `name-${index}`, content: '<|>'.repeat(200), priority: null, ttl: 60 },
      cause: 'edited',
      source: { file: 'templates/web.yaml', line: index + 1, column: 1 },
    }));
  const many = (count: number, more: Partial<TemplateResult>) =>
    Array.from({ length: count }, () => template(more));

  test.each<[string, TemplateResult[]]>([
    ['many differences in one template', many(1, { status: 'drifted', differences: adds(1000) })],
    ['many templates that differ', many(1000, { status: 'drifted', differences: adds(2) })],
    ['many templates in sync', many(2000, { inSync: 5 })],
    ['many held', many(2000, { status: 'held', message: '@'.repeat(5000) })],
  ])('%s: the rest is left out, in whole lines, and that is said', (_, templates) => {
    const comment = renderMarkdown(assembleReport([pass({ templates })]));
    expect(comment.length).toBeLessThanOrEqual(65_536);
    expect(comment.length).toBeGreaterThan(55_000);
    expect(comment).toContain(cutNote);
    expect(comment.match(/<details>/g)).toHaveLength(comment.match(/<\/details>/g)?.length ?? 0);
    const rows = comment.split('\n').filter((line) => line.startsWith('|'));
    expect(rows.filter((row) => !row.endsWith(' |') && !row.endsWith('-|'))).toEqual([]);
  });

  test('what fits is left whole', () => {
    expect(renderMarkdown(everyKindReport)).not.toContain(cutNote);
  });
});

describe('hostile texts', () => {
  test('stay in their code, where Markdown and GitHub leave them alone', () => {
    const skeleton = skeletonOf(renderMarkdown(harmlessReport));
    fc.assert(
      fc.property(someHostileTexts, (texts) => {
        const comment = renderMarkdown(reportWith(texts));
        const [shown = '', ...cut] = skeletonOf(comment).split(`\n</details>\n${cutNote}`);
        expect(cut.length === 0 ? shown === skeleton : skeleton.startsWith(shown)).toBe(true);
        expect(comment).not.toMatch(unseen);
        expect(comment).not.toMatch(/www\./i);
      }),
      { numRuns: 100, examples: [[hostileTexts], ...hostileTexts.map((text): [string[]] => [[text]])] },
    );
  });

  test('written from right to left keep to their place', () => {
    const comment = renderMarkdown(reportWith(['שלום']));
    expect(comment).toContain('<code dir="ltr">שלום</code> → <code dir="ltr">שלום</code>');
  });
});
