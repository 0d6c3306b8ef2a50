import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NotifiedChange } from '../../src/notify/schema.ts';
import { slackMessageOf } from '../../src/notify/slack.ts';
import { healthsOf, newsAfter, nothingTold, type EndedPass } from '../../src/notify/news.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { notAsked, type SubdomainResult, type TemplateResult } from '../../src/result.ts';
import { hostileTexts, someHostileTexts, unseen } from '../report/hostile.ts';
import { add, address, blocked, passEvent, receiver, update } from './pass-events.ts';

/** Of a receiver that has heard nothing yet. */
const changesIn = (one: EndedPass): readonly NotifiedChange[] =>
  healthsOf(one).flatMap((health) => newsAfter(nothingTold, health, one, receiver(), 0).change ?? []);

interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly { readonly text: { readonly text: string } }[];
}

const slackOf = (changes: readonly NotifiedChange[]): SlackMessage =>
  JSON.parse(
    JSON.stringify(
      slackMessageOf({
        schema: 'dns-template-sync/notification/v1',
        delivery: 'id',
        createdAt: '',
        changes: [...changes],
      }),
    ),
  );

const messageOf = (one: EndedPass): SlackMessage => slackOf(changesIn(one));

const behind = (more: Partial<SubdomainResult>): SubdomainResult => ({
  subdomain: 'shop.example.net',
  status: 'drifted',
  message: null,
  differences: [],
  answers: notAsked,
  ...more,
});

test('has a summary line, and shows the first differences', () => {
  const differences: Difference[] = [
    update(),
    ...['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'].map((content) => add(content)),
  ];
  const subdomains = [behind({})];
  const { text, blocks } = messageOf(passEvent([{ status: 'drifted', differences, subdomains }]));
  expect(blocks).toHaveLength(1);
  const [summary, ...lines] = blocks[0]?.text.text.split('\n') ?? [];
  expect(summary).toBe(text);
  expect(['', text, ...lines, ''].join('\n')).toBe(`
*\`web\` (client \`acme\`)* 6 differences between file and service, 1 subdomain with other records
\`\`\`
~ A www  192.0.2.99 → 192.0.2.1  drifted · templates/web.yaml:3 · record 5
    To do: \`dns-template-sync accept web 'www A'\` makes the file say what the
    service has; a pass writes what the file says.
+ A www  192.0.2.2               edited · templates/web.yaml:3
+ A www  192.0.2.3               edited · templates/web.yaml:3
+ A www  192.0.2.4               edited · templates/web.yaml:3
+ A www  192.0.2.5               edited · templates/web.yaml:3
and 1 more
see shop.example.net
\`\`\`
`);
});

test('nobody is told to remove a record while an earlier write may still appear', () => {
  const surplus: Difference = {
    action: 'surplus',
    recordId: 5,
    current: address('192.0.2.1'),
    reason: 'unlisted',
    cause: 'edited',
  };
  const told = (more: Partial<TemplateResult>): string | undefined =>
    messageOf(
      passEvent([{ status: 'held', differences: [surplus], ...more }]),
    ).blocks[0]?.text.text.replaceAll(/\s+/g, ' ');
  expect(told({ status: 'drifted' })).toContain('remove record 5 in the panel');
  const resting = told({ retryAt: '2026-11-20T20:05:00.000Z' });
  expect(resting).toContain('? A www 192.0.2.1');
  expect(resting).not.toContain('remove record');
});

test.each<[string, Partial<TemplateResult>]>([
  ['is held, and waits for a person: `Too much.`', { status: 'held', message: 'Too much.' }],
  ['failed', { status: 'failed' }],
  ['has a write of unknown outcome', { differences: [add('x', { outcome: 'unknown' })] }],
  [
    'failed: `it answered 422`',
    { status: 'failed', differences: [add('x', { outcome: 'failed', error: 'it answered 422' })] },
  ],
  ['failed: `it answered 409`', { differences: [blocked('refused', 'x', { message: 'it answered 409' })] }],
  [
    'failed: `shop.example.net is not at the service`',
    { subdomains: [behind({ status: 'failed', message: 'shop.example.net is not at the service' })] },
  ],
  ['was changed at the service: 1 difference corrected', { differences: [update({ outcome: 'applied' })] }],
])('says that a template %s', (words, one) => {
  expect(messageOf(passEvent([one])).text).toBe(`*\`web\` (client \`acme\`)* ${words}`);
});

test('says that a client fails, and what has ended', () => {
  expect(messageOf(passEvent([], { holdReason: '503' })).text).toBe(
    '*client `acme`* cannot be synchronised: `503`',
  );
  const [change] = changesIn(passEvent([{ status: 'held' }]));
  const cleared = { ...change!, event: 'cleared', state: 'in-sync', message: null } as const;
  expect(slackOf([cleared])).toMatchObject({ text: '*`web` (client `acme`)* is in sync again' });
});

const hostileEvent = (texts: readonly string[]): EndedPass => {
  let used = 0;
  const next = (): string => texts[used++ % texts.length] ?? '';
  const record = () => ({ type: next(), name: next(), content: next(), priority: null, ttl: null });
  return {
    ...passEvent(
      Array.from({ length: 20 }, (_, index) => ({
        template: `${index}${next()}`,
        status: 'drifted' as const,
        message: next(),
        differences: Array.from({ length: 7 }, (__, recordId) =>
          update({ recordId, current: record(), desired: record(), fields: ['name', 'content'] }),
        ),
        subdomains: [behind({ subdomain: next(), message: next() })],
      })),
    ),
    client: next(),
  };
};

test('foreign texts stay in code, without mentions and links', () => {
  fc.assert(
    fc.property(someHostileTexts, (texts) => {
      const { text, blocks } = messageOf(
        hostileEvent([...texts, '<!channel> & <@U1> @here <https://evil.example|x>']),
      );
      expect(text.length).toBeLessThanOrEqual(4_000);
      expect(blocks).toHaveLength(20);
      for (const part of [text, ...blocks.map((block) => block.text.text)]) {
        expect(part.length).toBeLessThanOrEqual(3_900);
        expect(part).not.toMatch(unseen);
        // Anywhere in a line, three of them would end the block of code.
        expect([1, 3]).toContain(part.split('```').length);
        const outside = part.replaceAll(/^```\n.*?\n```$/gms, '').replaceAll(/`[^`\n]*`/g, '');
        for (const line of outside.split('\n')) expect(line).toMatch(/^[a-z0-9 *(),:…]*$/);
        expect(part).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/);
      }
      for (const block of blocks) expect(block.text.text.length).toBeLessThanOrEqual(3_000);
    }),
    { numRuns: 20, examples: [[hostileTexts], [['&'.repeat(400)]]], endOnFailure: true },
  );
});

test('links the commit of the file', () => {
  const revision = 'a'.repeat(40);
  const commits = [{ revision, url: `https://git.example.net/commit/${revision}?a=b&c=|d` }];
  const one = passEvent([{ status: 'drifted', differences: [update()], revision }]);
  const message = messageOf({ ...one, result: { ...one.result!, commits } });
  expect(message.blocks[0]?.text.text).toContain(
    `\ncommit <https://git.example.net/commit/${revision}?a=b&amp;c=%7Cd|aaaaaaaaaa>\n`,
  );
});
