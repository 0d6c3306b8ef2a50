import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeControl } from '../../src/lib/escape-control.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { renderHtml } from '../../src/report/html.ts';
import type { PassResult, TemplateResult } from '../../src/result.ts';
import { everyKindReport, linkToCommit, pass, template } from './every-kind.ts';
import { harmlessReport, hostileTexts, reportWith, skeletonOf, someHostileTexts, unseen } from './hostile.ts';

const pageOf = (one: Partial<TemplateResult>, more: Partial<PassResult> = {}): string =>
  renderHtml(assembleReport([pass({ templates: [template(one)], ...more })]));

const decoded = (page: string): string =>
  page.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

/** A line for each heading and element of a list, with the words and what is marked in them as changed. */
const linesOf = (page: string): string =>
  decoded(page)
    .replaceAll(/<head>.*?<\/head>/gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<(?:li|h\d|section|article|header|main|footer|ul)\b/g, '\n$&')
    .replaceAll(/<(?!\/?(?:del|ins|mark|a)\b)[^>]*>/g, '')
    .replaceAll(/ *\n\s*/g, '\n')
    .replaceAll(/ +/g, ' ')
    .trim();

test('a report of every kind, which loads nothing and runs no script', async () => {
  const page = renderHtml(everyKindReport);
  await expect(`${linesOf(page)}\n`).toMatchFileSnapshot('every-kind.golden.html.txt');
  // A link loads nothing until somebody follows it.
  expect(page.replaceAll(linkToCommit, '')).not.toMatch(
    /<(script|link|img|iframe|object|form|a)\b|\b(src|href|on\w+|style)=|url\(|@import/i,
  );
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
});

test('says whether anything was written, and nothing of a pass that was not made', () => {
  expect(pageOf({})).toContain('Nothing was written.');
  expect(pageOf({}, { dryRun: false })).not.toContain('Nothing was written.');
  const empty = renderHtml(assembleReport([]));
  expect(empty).toContain('no templates');
  expect(empty).not.toContain('1970');
});

test('a command in a message is to be copied', () => {
  const message = 'too much: run `dns-template-sync apply --force web`, not `this`';
  expect(decoded(pageOf({ status: 'held', message }))).toContain(
    'run <code>dns-template-sync apply --force web</code>, not `this`',
  );
});

const word = fc.string({ unit: 'grapheme', maxLength: 200 });

test('both sides of a change are there whole, also where only a part of them is marked', () => {
  fc.assert(
    fc.property(word, word, word, word, (start, old, recent, end) => {
      const textOf = (part: string) => ({
        type: 'TXT',
        name: null,
        content: `service.${start}${part}${end}.example`,
        priority: null,
        ttl: null,
      });
      const [before, after] = [textOf(old), textOf(recent)];
      const page = pageOf({
        status: 'drifted',
        differences: [
          {
            action: 'update',
            recordId: 5,
            current: before,
            desired: after,
            fields: ['content'],
            cause: 'drifted',
            source: { file: 'web.yaml', line: 9, column: 5 },
          },
        ],
      });
      const texts = [...page.matchAll(/<code>(.*?)<\/code>/gs)].map(([, text]) =>
        decoded(text!.replaceAll(/<\/?mark>/g, '')),
      );
      expect(texts).toEqual(
        expect.arrayContaining([before, after].map(({ content }) => escapeControl(content))),
      );
    }),
    { numRuns: 200 },
  );
});

describe('hostile texts', () => {
  test('do not change the structure of the page, and are all visible', () => {
    fc.assert(
      fc.property(someHostileTexts, (texts) => {
        const page = renderHtml(reportWith(texts));
        expect(skeletonOf(page)).toEqual(skeletonOf(renderHtml(harmlessReport(texts))));
        expect(page).not.toMatch(unseen);
      }),
      { numRuns: 25, examples: [[hostileTexts], ...hostileTexts.map((text): [string[]] => [[text]])] },
    );
  });

  test.each(hostileTexts)('%j is shown completely, as text', (message) => {
    expect(decoded(pageOf({ status: 'held', message }))).toContain(
      `<p class="message">${escapeControl(message)}</p>`,
    );
  });
});
