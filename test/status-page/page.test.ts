import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Day } from '../../src/daemon/passes/day.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { templateAddress } from '../../src/report/address.ts';
import { notAsked, type PassResult, type Report } from '../../src/result.ts';
import type { ClientFacts, Facts, WriteEntry, Writes } from '../../src/status-page/facts.ts';
import { pagePolicy } from '../../src/status-page/frame.ts';
import { addressOf, everything, readPageQuery, rootOf, type PageQuery } from '../../src/status-page/query.ts';
import { renderTemplatePage, renderWrites } from '../../src/status-page/template-page.ts';
import {
  add,
  at,
  behind,
  blocked,
  everyKind,
  linkToCommit,
  pass,
  problem,
  template,
} from '../report/every-kind.ts';
import { forHostileTexts, harmlessReport, reportWith, skeletonOf, unseen } from '../report/hostile.ts';
import {
  client,
  factsOf,
  lastPass,
  now,
  overviewOf,
  resultsOf,
  states,
  templateState,
  visitor,
} from './page-states.ts';

const page = (
  passes: readonly PassResult[],
  rest: Partial<Facts> = {},
  query: Partial<PageQuery> = {},
): string => overviewOf(factsOf(passes, rest), query);

/** What a person reads of it: without the tags, what steers and the signs' escapes. */
const wordsOf = (html: string): string =>
  html
    .replaceAll(/<(style|script|title)>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/\s+/g, ' ');

const wanted = (name: string): Difference => add(`${name} A 192.0.2.1`);

describe('the status page', () => {
  it('shows what differs still, and when passes were and will be', () => {
    const words = wordsOf(page([everyKind]));
    expect(words).not.toContain('v=spf1 mx -all');
    expect(words).toContain('Last pass 2026-11-20 20:00:00 UTC, a file changed, took 1.2 s.');
    expect(words).toContain('Next pass 2026-11-20 20:05:00 UTC');
  });

  it('calls nothing in sync while a client has had no pass', () => {
    const all = [pass({ templates: [template({ template: 'shop' })] })];
    const first = client({ client: 'first' });
    const other = client({ client: 'other', health: 'starting', why: 'no pass has ended', lastPass: null });
    const stateIn = (html: string) => /<p class="state">(.*?)<\/p>/s.exec(html)?.[1];
    expect(stateIn(page(all, { clients: [first] }))).toContain('in sync');
    expect(stateIn(page(all, { clients: [first, other] }))).toContain('starting');
  });

  it.each<[Partial<ClientFacts>, string]>([
    [{}, '✓ healthy'],
    [{ running: 'request' }, 'Running now: on request'],
    [{ health: 'starting', why: 'no pass has ended yet', lastPass: null }, '○ starting no pass'],
    [{ health: 'held', why: 'mail-only: 120 adds' }, '‖ held mail-only: 120 adds'],
    [{ health: 'denied', why: 'the service answered 401' }, '✗ denied the service answered 401'],
    [
      { failures: 3, backoffUntil: now + 8_000 },
      'Backing off until 2026-11-20 20:01:08 UTC, 3 failures in a row',
    ],
  ])('shows the health of a client: %j', (state, words) => {
    expect(wordsOf(page([], { clients: [client(state)] }))).toContain(words);
  });

  it('shows the last known state of what cannot be read now, and why, once', () => {
    const words = wordsOf(overviewOf(states['service-down']!()));
    expect(words).toMatch(
      /✗ failed .*refused \(ECONNREFUSED\)\. This shows the state of 2026-11-20 19:55:00 UTC\./,
    );
    expect(words.match(/ECONNREFUSED/g)).toHaveLength(1);
    expect(words).toContain('customer-0 (1000) ≠ differs');
  });

  it.each<[PassResult['templates'][number]['status'], string]>([
    ['failed', 'no template of this client is called so'],
    ['held', '120 adds'],
    ['suspended', 'suspended by a person'],
  ])('says that a template which cannot be read now was %s, and why', (status, message) => {
    const unread = { status: 'failed', message: 'away', asOf: new Date(now).toISOString() } as const;
    const words = wordsOf(page([pass({ templates: [template({ ...unread, was: { status, message } })] })]));
    expect(words).toContain(` ${status} `);
    expect(words).toContain(message);
    expect(words).not.toMatch(/1 in sync|away/);
  });

  it('describes the day in words, also before the first pass', () => {
    const first = wordsOf(overviewOf(states['first-start']!()));
    expect(first).toContain('the first pass has not ended yet');
    expect(first).toContain('No pass has ended in the last 24 hours.');
    const day = new Day();
    day.add({ ...lastPass(), startedAt: now - 5 * 3_600_000, left: 12, status: 'failed' });
    day.add({ ...lastPass(), left: 0 });
    expect(wordsOf(page([everyKind], { day: day.slots(now) }))).toContain(
      '2 passes; 4 differences written; at most 12 open differences at a time, 0 now; passes failed or were held in 1 interval of 15 minutes.',
    );
  });

  it('lists the processes that share a store, and clients that nobody owns', () => {
    const hostile = '<b>panel</b>';
    const time = new Date(now).toISOString();
    const process = { id: 'one', place: hostile, address: null, version: '1.2.3', since: time };
    const html = page([everyKind], {
      fleet: {
        processes: [{ ...process, aliveUntil: time, clients: 12 }],
        unowned: ['acme', hostile],
      },
    });
    for (const part of ['No process makes the passes of acme,', ': 12 clients version 1.2.3'])
      expect(wordsOf(html)).toContain(part);
    expect(html).not.toContain(hostile);
    expect(page([everyKind])).not.toContain('Processes');
  });
});

describe('what the status page shows', () => {
  const refused = blocked('two A 192.0.2.1', 'refused', 'it was refused');
  const some = pass({
    templates: [
      template({ template: 'adds', status: 'drifted', differences: [wanted('www'), wanted('api')] }),
      template({ template: 'calm', file: 'templates/calm.yaml' }),
      template({ template: 'held', status: 'held', message: 'too many', differences: [wanted('held')] }),
      template({ template: 'in-the-way', status: 'drifted', differences: [wanted('one'), refused] }),
      template({ template: 'lost', status: 'failed', message: 'no such template' }),
      template({ template: 'lost-too', status: 'failed', message: 'no such template' }),
    ],
  });
  /** Links to templates, and the names of records that differ, in the order of the page. */
  const shown = (query: Partial<PageQuery>): string =>
    [...page([some], {}, query).matchAll(/href="templates\/([^"]+)"|<code class="name">([^<]+)/g)]
      .map(([, link, name]) => link ?? name)
      .join(' ');

  it.each<[Partial<PageQuery>, string]>([
    // What needs a person comes first.
    [{}, 'lost lost-too held held adds api www in-the-way two one'],
    [{ show: 'blocked' }, 'in-the-way two'],
    [{ show: 'failed' }, 'lost lost-too'],
    [{ show: 'held' }, 'held held'],
    [{ show: 'surplus' }, ''],
    [{ show: 'in-sync' }, 'calm'],
    [{ text: 'API' }, 'adds api'],
    [{ text: 'in-the' }, 'in-the-way two one'],
    [{ text: 'refused' }, 'in-the-way two'],
    [{ text: 'calm' }, 'calm'],
    [{ text: 'templates/' }, 'lost lost-too held held adds api www in-the-way two one calm'],
    [{ text: 'www', show: 'blocked' }, ''],
  ])('is what %j asks for, and is counted by kind', (query, expected) => {
    expect(shown(query)).toBe(expected);
    expect(wordsOf(page([some], {}, query))).toContain(
      'all that differs 2 failed 1 blocked 1 held 4 to add ',
    );
  });

  it('has what is searched for as a text, not as an attribute', () => {
    expect(page([some], {}, { text: '" onfocus="alert(1)' })).not.toMatch(/<input[^>]*"\s+onfocus/);
  });

  it('has links with the client where there are several', () => {
    const html = page(
      ['acme', 'bakery'].map((name) =>
        pass({ client: name, templates: [template({ client: name, template: 'web' })] }),
      ),
    );
    for (const name of ['acme', 'bakery']) expect(html).toContain(`href="clients/${name}/templates/web"`);
  });
});

it('the page of a template shows what differs, the records that do not, and the errors of its file', () => {
  const { facts, of } = templateState();
  const wordsWith = (change: Partial<PassResult>): string =>
    wordsOf(
      renderTemplatePage(
        { ...facts, ...visitor() },
        { ...of, results: resultsOf({ ...everyKind, ...change }) },
      ),
    );
  const file = 'templates/standard-web.yaml';
  const words = wordsWith({ problems: [{ ...everyKind.problems[0]!, file, message: 'an odd one' }] });
  for (const part of [
    'priority 10 → 20',
    'records in the file',
    'www A 203.0.113.10 ttl 3600 line 50',
    'an odd one',
    'subdomain shop.example.net',
  ])
    expect(words).toContain(part);
  expect(words).not.toContain('parked-domains');
  expect(words).not.toContain('Dry run');
  expect(wordsWith({ dryRun: true })).toContain('Dry run: nothing is written.');
});

it('the page of writes says so if there are none, or they cannot be read', () => {
  const writes = (of: Writes): string => wordsOf(renderWrites({ ...factsOf([everyKind]), ...visitor() }, of));
  expect(writes([])).toContain('Nothing has been written yet.');
  expect(writes('it is damaged')).toContain('The history cannot be read: it is damaged');
});

describe('the address of a page', () => {
  it.each(['', '?show=blocked', '?q=www+%C3%A4%26b', '?show=add&q=x&client=acme'])(
    '%j is parsed, and formatted back to the same',
    (address) => {
      const { searchParams } = new URL(address, 'http://localhost');
      expect(addressOf(readPageQuery(searchParams))).toBe(address);
    },
  );

  it('ignores invalid parameters, and says what was done on this page alone', () => {
    const query = new URLSearchParams('show=everything&other=1&q=%20&did=harm');
    expect(readPageQuery(query)).toEqual(everything);
    const done = readPageQuery(new URLSearchParams('show=held&did=resume'));
    expect(done.did).toBe('resume');
    expect(addressOf(done)).toBe('?show=held');
  });

  it('of a template works with any name, also with half a character', () => {
    expect(templateAddress('a/b?c', null)).toBe('templates/a%2Fb%3Fc');
    expect(templateAddress('\ud800', 'acme')).toBe('clients/acme/templates/%EF%BF%BD');
  });

  it.each([
    ['/', './'],
    ['/writes', './'],
    ['/api/report', '../'],
    ['/templates/a/b', '../'],
    ['/clients/acme/templates/a/b', '../../../'],
    ['/no/such/page', '../../'],
  ])('leads from %s to the root by %s', (path, root) => {
    expect(rootOf(path)).toBe(root);
  });
});

it('the content security policy allows only its own style and script', () => {
  const html = page([everyKind]).replaceAll(linkToCommit, '');
  for (const name of ['style', 'script']) {
    const [, text = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(html) ?? [];
    const digest = createHash('sha256').update(text).digest('base64');
    expect(pagePolicy).toContain(`${name}-src 'sha256-${digest}'`);
  }
  expect(html).not.toMatch(/<[^>]*\s(style|on\w+)=|https?:\/\/(?!www\.w3\.org)|@import/i);
  expect(pagePolicy).not.toContain('unsafe');
});

describe('a very large page', () => {
  it.each([
    ['500-templates', 50_000],
    ['7000-records', 100_000],
  ])('of %s has less than %i bytes', (name, size) => {
    expect(Buffer.byteLength(overviewOf(states[name]!()))).toBeLessThan(size);
  });

  it('shows the first differences of a template and says how many more there are', () => {
    const differences = Array.from({ length: 10_000 }, (_, index) => wanted(`n${index}`));
    const html = page([pass({ templates: [template({ status: 'drifted', differences })] })]);
    expect(html.length).toBeLessThan(100_000);
    expect(wordsOf(html)).toContain('10000 to add');
    expect(wordsOf(html)).toContain('and 9940 more: all of this template');
  });

  it('is limited for many templates, subdomains, problems and long texts too', () => {
    const many = <Thing>(count: number, of: (index: number) => Thing): Thing[] =>
      Array.from({ length: count }, (_, index) => of(index));
    const follower = {
      subdomain: 'shop.example.net',
      status: 'drifted' as const,
      message: null,
      differences: many(100, (id) => behind('missing', [id, `n${id} A 192.0.2.1`])),
      answers: notAsked,
    };
    const long = add(`long TXT ${'x'.repeat(100_000)}`);
    const html = page([
      pass({
        templates: [
          ...many(300, (index) =>
            template({
              template: `t${index}`,
              status: 'drifted',
              // The first ones are on the page.
              differences: many(50, () => (index < 12 ? long : wanted('short'))),
              subdomains: many(30, () => follower),
            }),
          ),
          ...many(1_000, (index) => template({ template: `calm${index}` })),
        ],
        problems: many(200, (line) => problem('warning', 'm', at(line))),
      }),
    ]);
    expect(html.length).toBeLessThan(5_000_000);
    const words = wordsOf(html);
    for (const more of ['and 288 templates more', '✓ in sync 1000 templates', 'and 190 problems more'])
      expect(words.includes(more)).toBe(true);
  });
});

const changedBy = (text: string): WriteEntry => ({
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

it('hostile texts do not change the structure of a page, and hide nothing', () => {
  const withTexts = ({ templates, problems, commits, unmanaged }: Report): string => {
    const newest = pass({ templates, problems, commits, unmanaged });
    const { client: text } = newest.templates[0]!;
    const state = { client: text, health: 'failing', why: text, lastError: `${text}!` } as const;
    const facts = { ...factsOf([newest], { clients: [client(state)] }), ...visitor() };
    const name = newest.templates[1]!.template;
    const of = { ...templateState().of, name, results: resultsOf(newest, name) };
    return overviewOf(facts) + renderTemplatePage(facts, of) + renderWrites(facts, [changedBy(text)]);
  };
  forHostileTexts((texts) => {
    const html = withTexts(reportWith(texts));
    expect(skeletonOf(html)).toEqual(skeletonOf(withTexts(harmlessReport(texts))));
    expect(html.replaceAll(/<(style|script)>.*?<\/\1>/gs, '')).not.toMatch(unseen);
  });
});
