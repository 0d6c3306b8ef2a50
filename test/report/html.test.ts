import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeControl } from '../../src/lib/escape-control.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { renderHtml } from '../../src/report/html.ts';
import type { PassResult, TemplateResult } from '../../src/result.ts';
import { everyKindReport, linkToCommit, pass, record, template, update } from './every-kind.ts';
import { forHostileTexts, harmlessReport, hostileTexts, reportWith, skeletonOf, unseen } from './hostile.ts';

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

const part = fc.string({ unit: 'grapheme', maxLength: 200 });

test('both sides of a change are there whole, also where only a part of them is marked', () => {
  fc.assert(
    fc.property(part, part, part, part, (start, old, recent, end) => {
      const sides = [old, recent].map((middle) => `service.${start}${middle}${end}.example`);
      const [from, to] = sides.map((content) => ({ ...record('@ TXT text'), content }));
      const change = { ...update(5, '@ TXT old', '@ TXT new'), current: from!, desired: to! };
      const page = pageOf({ status: 'drifted', differences: [change] });
      const texts = [...page.matchAll(/<code>(.*?)<\/code>/gs)].map(([, text]) =>
        decoded(text!.replaceAll(/<\/?mark>/g, '')),
      );
      expect(texts).toEqual(expect.arrayContaining(sides.map(escapeControl)));
    }),
    { numRuns: 200 },
  );
});

test('hostile texts do not change the structure of the page, and are all visible', () => {
  forHostileTexts((texts) => {
    const page = renderHtml(reportWith(texts));
    expect(skeletonOf(page)).toEqual(skeletonOf(renderHtml(harmlessReport(texts))));
    expect(page).not.toMatch(unseen);
  });
  for (const message of hostileTexts)
    expect(decoded(pageOf({ status: 'held', message }))).toContain(
      `<p class="message">${escapeControl(message)}</p>`,
    );
});
