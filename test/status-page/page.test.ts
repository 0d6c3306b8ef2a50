import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Difference } from '../../src/plan/difference.ts';
import { PassHistory } from '../../src/daemon/passes/pass-history.ts';
import {
  type ClientSummary,
  type PageFacts,
  recordStates,
  type WriteEntry,
  type Writes,
} from '../../src/status-page/facts.ts';
import { renderOverview } from '../../src/status-page/overview.ts';
import { renderWrites } from '../../src/status-page/writes-page.ts';
import { pagePolicy } from '../../src/status-page/frame.ts';
import { assembleReport } from '../../src/report/assemble.ts';
import { excerptOf } from '../../src/status-page/excerpt.ts';
import { everything } from '../../src/status-page/query.ts';
import type { Report } from '../../src/report/report.ts';
import { notAsked } from '../../src/result.ts';
import { everyKindReport, linkToCommit, pass, template } from '../report/every-kind.ts';
import {
  harmlessReport,
  hostileTexts,
  reportWith,
  skeletonOf,
  someHostileTexts,
  unseen,
} from '../report/hostile.ts';
import { renderTemplatePage } from '../../src/status-page/template-page.ts';
import { client, lastPass, now, states, templateState } from './page-states.ts';

const write = (text: string): WriteEntry => ({
  at: '2026-11-20T20:00:30.000Z',
  client: text,
  template: text,
  action: 'update',
  recordId: 5,
  before: { type: text, name: text, content: 'old', priority: null, ttl: 300 },
  after: { type: text, name: text, content: text, priority: null, ttl: 600 },
  outcome: 'failed',
  error: text,
});

const facts = (report: Report, rest: Partial<PageFacts> = {}): PageFacts => {
  const { query = everything } = rest;
  return {
    version: 'v-1',
    reader: { role: null, canAct: false },
    notice: null,
    root: './',
    page: '',
    now,
    timeZone: 'UTC',
    query,
    fleet: null,
    newest: excerptOf(report, query),
    clients: [client()],
    day: new PassHistory().day(now),
    passes: [lastPass()],
    ...rest,
  };
};

const page = (report: Report, rest: Partial<PageFacts> = {}): string => renderOverview(facts(report, rest));

const writesPage = (writes: Writes): string =>
  renderWrites({ ...facts(everyKindReport), hasSeveralClients: false, writes });

/** What a person reads of it: without the tags, what steers and the signs' escapes. */
const wordsOf = (html: string): string =>
  html
    .replaceAll(/<(style|script|title)>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, ' ');

describe('the processes that share a store', () => {
  const hostile = '<b>panel</b>';
  const process = {
    id: 'one',
    place: hostile,
    address: null,
    version: '1.2.3',
    since: new Date(now).toISOString(),
    aliveUntil: new Date(now).toISOString(),
    clients: 12,
  };

  it('are listed with how many clients they own, and clients that nobody owns', () => {
    const fleet = { processes: [process], unowned: ['acme', hostile], isHere: 'one' };
    const html = page(everyKindReport, { fleet });
    for (const part of ['No process makes the passes of acme,', '12 1.2.3'])
      expect(wordsOf(html)).toContain(part);
    expect(html).not.toContain(hostile);
  });

  it('are not there where one process does everything', () => {
    const fleet = { processes: [process], unowned: [], isHere: 'one' };
    const words = 'Each client has a process that makes its passes.';
    expect(wordsOf(page(everyKindReport, { fleet }))).toContain(words);
    expect(wordsOf(page(everyKindReport))).not.toContain(words);
  });
});

describe('the status page', () => {
  it('shows each difference with before and after, its place, cause, reason and what to do', () => {
    const words = wordsOf(page(everyKindReport));
    for (const text of [
      '+ add A www missing → 203.0.113.10 ttl 300 edited to be written',
      'templates/standard-web.yaml:9',
      'priority 10 → 20',
      'failed edited The service answered 429. Next try at 20:05:00 UTC.',
      'templates/standard-web.yaml:11 · record 6',
      'record 21',
      '203.0.113.10 ttl 3600 → not in the file duplicate · drifted',
      'cname-conflict remove records 31 and 32 in the panel, change the file',
      'A ttl 203.0.113.30 ttl 60 → 5 not-converging',
      'An add was sent at 19:59:58 UTC and its outcome is not known. Next try at 20:05:00 UTC.',
      'mail-only (18) ■ held',
      'lost ▲ failed',
      'Subdomain shop.example.net ◆ differs',
      'new.example.net ○ pending Its template was written 2 minutes ago.',
      'templates/broken.yaml:3:5',
      '1 template in sync',
    ]) {
      expect(words).toContain(text);
    }
  });

  it('leaves out what was applied, which differs no more', () => {
    expect(wordsOf(page(everyKindReport))).not.toContain('v=spf1 mx -all');
  });

  it('shows when the last pass ran, why and how long, and what the next one waits for', () => {
    const words = wordsOf(page(everyKindReport));
    expect(words).toContain(
      'Last pass 20:00:00 UTC, a file changed, took 1.2 s. Next pass 20:05:00 UTC, on schedule.',
    );
    expect(wordsOf(page(everyKindReport, { clients: [client({ running: 'request' })] }))).toContain(
      'A pass is running, on request.',
    );
  });

  it('calls nothing in sync while a client has had no pass', () => {
    const report = assembleReport([pass({ templates: [template({ template: 'shop' })] })]);
    const first = client({ client: 'first' });
    const other = client({
      client: 'other',
      health: 'starting',
      why: 'no pass has ended yet',
      lastPass: null,
    });
    const stateIn = (html: string) => /<p class="state">(.*?)<\/p>/s.exec(html)?.[1];
    expect(stateIn(page(report, { clients: [first] }))).toContain('in sync');
    expect(stateIn(page(report, { clients: [first, other] }))).toContain('starting');
  });

  it.each<[string, Partial<ClientSummary>, string]>([
    ['healthy', {}, '● healthy'],
    ['starting', { health: 'starting', why: 'no pass has ended yet', lastPass: null }, '○ starting no pass'],
    ['held', { health: 'held', why: 'mail-only: 120 adds' }, '■ held mail-only: 120 adds'],
    ['denied', { health: 'denied', why: 'the service answered 401' }, '✕ denied the service answered 401'],
    ['failing', { health: 'failing', why: 'no route' }, '▲ failing no route'],
    [
      'backing off',
      { failures: 3, backoffUntil: now + 8_000 },
      'Backing off until 20:01:08 UTC 3 failures in a row',
    ],
    ['yesterday', { nextScheduled: now + 86_400_000 }, '2026-11-21 20:01:00 UTC on schedule'],
  ])('shows that a client is %s', (_, state, words) => {
    expect(wordsOf(page(everyKindReport, { clients: [client(state)] }))).toContain(words);
  });

  it('says so before the first pass, without writes, and if the history cannot be read', () => {
    const empty = wordsOf(page(assembleReport([]), { passes: [] }));
    expect(empty).toContain('the first pass has not ended yet');
    expect(empty).toContain('No pass has ended in the last 24 hours.');
    expect(wordsOf(writesPage([]))).toContain('Nothing has been written yet.');
    expect(wordsOf(writesPage('it is damaged'))).toContain('The history cannot be read: it is damaged');
  });

  it('describes the chart of the day in words', () => {
    const passHistory = new PassHistory();
    passHistory.add({ ...lastPass(), startedAt: now - 5 * 3_600_000, left: 12, status: 'failed' });
    passHistory.add({ ...lastPass(), left: 0 });
    expect(wordsOf(page(everyKindReport, { day: passHistory.day(now) }))).toContain(
      '2 passes; 4 differences written; at most 12 open differences at a time, none now; a pass failed or was held in one 15-minute interval.',
    );
  });

  it('promises no writes where a daemon makes none', () => {
    const words = wordsOf(page({ ...everyKindReport, dryRun: true }));
    expect(words).toContain('edited not written: dry run');
    expect(words).not.toContain('to be written');
  });

  it('shows what was edited, or drifted, alone', () => {
    for (const [show, count] of [
      ['edited', 5],
      ['drifted', 2],
    ] as const) {
      const query = { ...everything, show };
      const { groups, counts } = excerptOf(everyKindReport, query);
      const causes = groups.flatMap(({ templates }) =>
        templates.flatMap(({ template: { differences } }) =>
          differences.map((one) => ('cause' in one ? one.cause : null)),
        ),
      );
      expect(counts[show]).toBe(count);
      expect(causes.every((cause) => cause === show || cause === 'both')).toBe(true);
    }
  });

  it('of one template says of a dry run that nothing is written', () => {
    const summary = templateState();
    const dry = { ...summary, templates: summary.templates.map((one) => ({ ...one, dryRun: true })) };
    expect(wordsOf(renderTemplatePage(summary))).toContain('to be written');
    expect(wordsOf(renderTemplatePage(dry))).not.toContain('to be written');
    expect(wordsOf(renderTemplatePage(dry))).toContain('not written: dry run');
  });

  it('of one template says nothing about records that were not compared', () => {
    const source = { file: 'templates/site.yaml', line: 3, column: 5 };
    const record = { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: null, source };
    const stateIn = (inSync: number) => recordStates([record], { inSync, differences: [] })[0]?.state;
    expect([stateIn(1), stateIn(0)]).toEqual(['in-sync', null]);
  });

  it('of one template shows beside each record what the service has, and what only the service has', () => {
    const { templates, ...summary } = templateState();
    const [details] = templates;
    const source = { file: 'templates/standard-web.yaml', line: 3, column: 5 };
    const at = (name: string, content: string) => ({ type: 'A', name, content, priority: null, ttl: 300 });
    const differences: Difference[] = [
      {
        action: 'update',
        recordId: 5,
        current: at('www', '192.0.2.7'),
        desired: at('www', '203.0.113.1'),
        fields: ['content'],
        cause: 'drifted',
        source,
      },
      {
        action: 'surplus',
        recordId: 9,
        current: at('old', '192.0.2.9'),
        reason: 'unlisted',
        cause: 'unknown',
      },
    ];
    const file = [
      { ...at('www', '203.0.113.1'), source },
      { ...at('api', '203.0.113.2'), source: { ...source, line: 4 } },
    ];
    const records = recordStates(file, { inSync: 1, differences });
    const words = wordsOf(renderTemplatePage({ ...summary, templates: [{ ...details!, records }] }));
    expect(words).toContain('2 records in the file, 1 more at the service');
    expect(words).toMatch(
      /differs A www 203\.0\.113\.1 at the service: 192\.0\.2\.7 ttl 300 ttl 300 line 3 ● in sync A api 203\.0\.113\.2 ttl 300 line 4 \? surplus A old 192\.0\.2\.9 ttl 300 record 9/,
    );
  });

  it('of one template lists the errors of its file', () => {
    const summary = { ...templateState(), problems: everyKindReport.problems };
    expect(wordsOf(renderTemplatePage(summary))).toContain('A CNAME must be the only record of its name');
  });
});

describe('from file to name servers', () => {
  it('each subdomain is shown in four layers, those with differences first', () => {
    const words = wordsOf(page(everyKindReport));
    const section = words.slice(words.indexOf('From file to name servers'));
    expect(section).toMatch(
      /shop\.example\.net ◆ differs standard-web ◆ differs ◆ differs ns1\.example\.net \(192\.0\.2\.1\) serial/,
    );
    expect(section).toMatch(/ns5\.example\.net \(192\.0\.2\.5\) silent/);
    expect(section.indexOf('shop.example.net')).toBeLessThan(section.indexOf('in-sync.example.net ◆'));
    expect(section).not.toContain('gone.example.net ');
  });

  it('is left out if no name server was asked', () => {
    expect(page(assembleReport([pass({ templates: [template({})] })]))).not.toContain(
      'From file to name servers',
    );
  });

  it('is limited', () => {
    const subdomains = Array.from({ length: 1_000 }, (_, index) => ({
      subdomain: `s${index}.example.net`,
      status: 'in-sync' as const,
      message: null,
      differences: [],
      answers: { status: 'in-sync' as const, servers: [], differences: [] },
    }));
    const words = wordsOf(page(assembleReport([pass({ templates: [template({ subdomains })] })])));
    expect(words).toContain('and 900 subdomains more');
  });
});

describe('the content security policy', () => {
  it('allows only its own style and script', () => {
    const html = page(everyKindReport).replaceAll(linkToCommit, '');
    for (const [name, directive] of [
      ['style', 'style-src'],
      ['script', 'script-src'],
    ] as const) {
      const [, source = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(html) ?? [];
      const digest = createHash('sha256').update(source).digest('base64');
      expect(pagePolicy).toContain(`${directive} 'sha256-${digest}'`);
    }
    expect(html).not.toMatch(/<[^>]*\s(style|on\w+)=|https?:\/\/(?!www\.w3\.org)|@import/i);
    expect(pagePolicy).not.toContain('unsafe');
  });
});

describe('a very large page', () => {
  const record = (index: number) => ({
    type: 'A',
    name: `n${index}`,
    content: '192.0.2.1',
    priority: null,
    ttl: null,
  });
  const difference = (index: number) =>
    ({
      action: 'add',
      desired: record(index),
      cause: 'edited',
      source: { file: 'templates/web.yaml', line: index + 1, column: 1 },
    }) as const;

  it.each([
    ['500-templates', 50_000],
    ['7000-records', 100_000],
  ])('of %s has less than %i bytes', (name, size) => {
    expect(Buffer.byteLength(renderOverview(states[name]!()))).toBeLessThan(size);
  });

  it('shows the first differences of a template and says how many more there are', () => {
    const differences = Array.from({ length: 100_000 }, (_, index) => difference(index));
    const report = assembleReport([pass({ templates: [template({ status: 'drifted', differences })] })]);
    const html = page(report);
    expect(html.length).toBeLessThan(100_000);
    const words = wordsOf(html);
    expect(words).toContain('100000 to add');
    expect(words).toContain('and 99940 differences more: all of this template');
  });

  it('is limited for many templates, subdomains, problems and long texts too', () => {
    const differences = Array.from({ length: 50 }, (_, index) => ({
      ...difference(index),
      desired: { ...record(index), content: 'x'.repeat(100_000) },
    }));
    const behind = (index: number) => ({
      subdomain: `s${index}.example.net`,
      status: 'drifted' as const,
      message: null,
      differences: Array.from({ length: 100 }, (_, id) => ({
        kind: 'missing' as const,
        templateRecord: { id, ...record(id) },
        record: null,
        fields: [],
      })),
      answers: notAsked,
    });
    const subdomains = Array.from({ length: 30 }, (_, index) => behind(index));
    const report = assembleReport([
      pass({
        templates: [
          ...Array.from({ length: 300 }, (_, index) =>
            template({ template: `t${index}`, status: 'drifted', differences, subdomains }),
          ),
          ...Array.from({ length: 1_000 }, (_, index) => template({ template: `calm${index}` })),
        ],
        problems: Array.from({ length: 200 }, (_, line) => ({
          client: 'default',
          severity: 'warning',
          check: 'mixed-ttl',
          message: 'm',
          file: 'f.yaml',
          line,
          column: 1,
        })),
      }),
    ]);
    const html = page(report);
    expect(html.length).toBeLessThan(5_000_000);
    const words = wordsOf(html);
    for (const more of [
      'and 3025 differences more',
      '1 to 12 of 300 next →',
      '1000 templates in sync',
      'and 150 problems more',
    ])
      expect(words.includes(more)).toBe(true);
  });
});

describe('hostile texts', () => {
  const withTexts = (report: Report, text: string): string =>
    page(report, {
      clients: [
        client({ client: text, why: text, health: 'failing', lastPass: lastPass({ error: `${text}!` }) }),
      ],
      passes: [lastPass({ error: text })],
    }) + writesPage([write(text)]);

  it('do not change the structure of the page, and hide nothing', () => {
    fc.assert(
      fc.property(someHostileTexts, (texts) => {
        const html = withTexts(reportWith(texts), texts[0] ?? '');
        expect(skeletonOf(html)).toEqual(skeletonOf(withTexts(harmlessReport(texts), 'plain')));
        expect(html.replaceAll(/<(style|script)>.*?<\/\1>/gs, '')).not.toMatch(unseen);
      }),
      { numRuns: 50, examples: [[hostileTexts], ...hostileTexts.map((text): [string[]] => [[text]])] },
    );
  });
});
