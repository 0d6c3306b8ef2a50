import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleReport } from '../../src/report/assemble.ts';
import { renderHtml } from '../../src/report/html.ts';
import { escapeControl } from '../../src/lib/escape-control.ts';
import { everyKindReport, linkToCommit, pass, template } from './every-kind.ts';
import { harmlessReport, hostileTexts, reportWith, skeletonOf, someHostileTexts, unseen } from './hostile.ts';

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

test('a report of every kind', async () => {
  await expect(`${linesOf(renderHtml(everyKindReport))}\n`).toMatchFileSnapshot('every-kind.golden.html.txt');
});

test('an empty report', () => {
  const page = renderHtml(assembleReport([]));
  expect(page).toContain('no templates');
  expect(page).not.toContain('1970');
});

test('says whether anything was written', () => {
  expect(renderHtml(assembleReport([pass({})]))).toContain('Nothing was written.');
  expect(renderHtml(assembleReport([pass({ dryRun: false })]))).not.toContain('Nothing was written.');
});

test('a command in a message is to be copied', () => {
  const message = 'too much: run `dns-template-sync apply --force web`, not `this`';
  const page = renderHtml(assembleReport([pass({ templates: [template({ status: 'held', message })] })]));
  expect(decoded(page)).toContain('run <code>dns-template-sync apply --force web</code>, not `this`');
});

test('loads nothing and runs no script', () => {
  // A link loads nothing until somebody follows it.
  const page = renderHtml(everyKindReport).replaceAll(linkToCommit, '');
  expect(page).not.toMatch(
    /<(script|link|img|iframe|object|form|a)\b|\b(src|href|on\w+|style)=|url\(|@import/i,
  );
  expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
});

const unmarked = (text: string): string => text.replaceAll(/<\/?mark>/g, '');

const word = fc.string({ unit: 'grapheme', maxLength: 200 });

test('both sides of a change are there whole, also where only a part of them is marked', () => {
  fc.assert(
    fc.property(word, word, word, word, (start, old, recent, end) => {
      const [before, after] = [old, recent].map((part) => `service.${start}${part}${end}.example`);
      const record = { type: 'TXT', name: null, priority: null, ttl: null };
      const page = renderHtml(
        assembleReport([
          pass({
            templates: [
              template({
                status: 'drifted',
                differences: [
                  {
                    action: 'update',
                    recordId: 5,
                    current: { ...record, content: before! },
                    desired: { ...record, content: after! },
                    fields: ['content'],
                    cause: 'drifted',
                    source: { file: 'web.yaml', line: 9, column: 5 },
                  },
                ],
              }),
            ],
          }),
        ]),
      );
      const texts = [...page.matchAll(/<code>(.*?)<\/code>/gs)].map(([, text]) => decoded(unmarked(text!)));
      expect(texts).toEqual(expect.arrayContaining([before!, after!].map(escapeControl)));
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
    const page = renderHtml(assembleReport([pass({ templates: [template({ status: 'held', message })] })]));
    expect(decoded(page)).toContain(`<p class="message">${escapeControl(message)}</p>`);
  });
});
