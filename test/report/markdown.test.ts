import { expect, test } from 'vitest';
import type { Difference } from '../../src/plan/difference.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import type { PassResult, TemplateResult } from '../../src/result.ts';
import { add, at, pass, problem, template } from './every-kind.ts';
import { commands, forHostileTexts, harmlessReport, reportWith, unseen } from './hostile.ts';

const comment = (templates: readonly Partial<TemplateResult>[], more: Partial<PassResult> = {}): string =>
  renderMarkdown(assembleReport([pass({ templates: templates.map(template), ...more })]));

const adds = (count: number, content: string): Difference[] =>
  Array.from({ length: count }, (_, index) =>
    add(`name-${index} 60 TXT ${content}`, { source: at(index + 1) }),
  );

/** The comment without its fences. */
const outside = (text: string): string => {
  let fence: string | null = null;
  const lines = text.split('\n').filter((line) => {
    const isInside = fence !== null;
    if (fence === null) fence = /^(`{3,})diff$/.exec(line)?.[1] ?? null;
    else if (/^ {0,3}`+ *$/.test(line) && line.trim().length >= fence.length) fence = null;
    return !isInside && fence === null;
  });
  expect(fence).toBe(null);
  return lines.join('\n');
};

/** That without code, too, which has letters, digits, some harmless signs and entities. */
const skeletonOf = (text: string): string =>
  outside(text).replaceAll(/<code dir="ltr">(?:[\p{L}\p{M}\p{N} .,;=+-]|&#\d+;)*<\/code>/gu, '…');

const cutNote = '\n**Cut short:**';

// The lines are those of the text, whose golden file has every kind.
test('a summary line, and a fold for what differs, held is or has failed, with the lines of the text', () => {
  const text = comment(
    [
      { template: 'one', status: 'failed', message: 'away', asOf: null },
      { template: 'two', status: 'failed', message: 'away', asOf: null },
      { status: 'drifted', inSync: 3, differences: adds(1, 'hi') },
    ],
    { problems: [problem('error', 'No.', at(3, 'a.yaml'))] },
  );
  expect(text).toMatchInlineSnapshot(`
    "### dns-template-sync: 1 to add, 2 templates failed, 1 error

    <details open><summary>Problems</summary>

    \`\`\`diff
    - a.yaml:3:5: error: No. [include]
    \`\`\`

    </details>

    <details open><summary><code dir="ltr">2 templates</code> <b>failed</b></summary>

    \`\`\`diff
    away
    one (17), two (17)
    \`\`\`

    </details>

    <details open><summary><code dir="ltr">standard-web &#40;17&#41;</code> <b>1 to add, 3 in sync</b> <code dir="ltr">templates&#47;standard-web.yaml</code></summary>

    \`\`\`diff
    + TXT name-0  hi  ttl 60  edited · templates/standard-web.yaml:1
    \`\`\`

    </details>
    "
  `);
  expect(comment([])).toBe('### dns-template-sync: no templates were compared\n');
});

test('what differs is open if it is short, else collapsed', () => {
  const of = (count: number): string => comment([{ status: 'drifted', differences: adds(count, 'hi') }]);
  expect(of(10)).toContain('<details open><summary>');
  expect(of(11)).toContain('<details><summary>');
});

// dflook/terraform-github-actions#197.
test.each<[string, number, Partial<TemplateResult>]>([
  ['many differences in one template', 1, { differences: adds(1000, '<|>'.repeat(20)) }],
  ['many templates that differ', 1000, { differences: adds(2, '<|>'.repeat(20)) }],
  ['many held', 1000, { status: 'held', message: '@'.repeat(5000), differences: adds(1, 'hi') }],
])('a comment has at most 65,536 characters: of %s, it names what is left out', (_, count, one) => {
  const text = comment(Array.from({ length: count }, () => ({ status: 'drifted' as const, ...one })));
  expect(text.length).toBeLessThanOrEqual(65_536);
  expect(text).toMatch(/\n\*\*Cut short:\*\*[^\n]*\n\n- <code dir="ltr">standard-web [^\n]*\n/);
  expect(text.match(/<details>/g) ?? []).toHaveLength(text.match(/<\/details>/g)?.length ?? 0);
});

test('any number of adds hides neither a template nor a few changes of another one', () => {
  const names = Array.from({ length: 12 }, (_, index) => `template-${index}`);
  const junk = names.map((name) => ({
    template: name,
    status: 'drifted' as const,
    differences: adds(900, '<|>'.repeat(20)),
  }));
  const changed = {
    template: 'that-matters',
    status: 'drifted',
    differences: adds(1, '203.0.113.66'),
  } as const;
  const text = comment([...junk, changed]);
  expect(text.length).toBeLessThanOrEqual(65_536);
  for (const name of [...names, 'that-matters']) expect(text).toContain(`<code dir="ltr">${name} `);
  expect(text).toContain('203.0.113.66');
  expect(text).toContain(cutNote);
});

test('hostile texts stay in code, which Markdown and GitHub do not change', () => {
  const ofCut = /^\*\*Cut short:\*\* |^- … <b>[a-z0-9 :,]*<\/b>(?: …)?$|^- and \d+ more$/;
  forHostileTexts((texts) => {
    const harmless = skeletonOf(renderMarkdown(harmlessReport(texts))).split('\n');
    const text = renderMarkdown(reportWith(texts));
    const lines = skeletonOf(text).split('\n');
    if (text.includes(cutNote))
      expect(lines.filter((line) => !harmless.includes(line) && !ofCut.test(line))).toEqual([]);
    else expect(lines).toEqual(harmless);
    expect(text).not.toMatch(unseen);
    expect(text).not.toMatch(commands);
    expect(outside(text)).not.toMatch(/www\./i);
  });
});
