import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NotifiedChange } from '../../src/notify/schema.ts';
import { slackMessageOf } from '../../src/notify/slack.ts';
import type { EndedPass } from '../../src/notify/news.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { notAsked, type SubdomainResult, type TemplateResult } from '../../src/result.ts';
import { hostileTexts, someHostileTexts, unseen } from '../report/hostile.ts';
import { add, blocked, newOutbox, newStore, passEvent, update } from './pass-events.ts';

const changesIn = async (one: EndedPass): Promise<readonly NotifiedChange[]> => {
  const outbox = newOutbox({ ...newStore(), clients: () => null });
  await outbox.add(one);
  return (await outbox.next())?.changes ?? [];
};

const slackOf = (changes: readonly NotifiedChange[]): object =>
  slackMessageOf({
    schema: 'dns-template-sync/notification/v1',
    delivery: 'id',
    createdAt: '',
    changes: [...changes],
  });

interface SlackMessage {
  readonly text: string;
  readonly blocks: {
    readonly type: string;
    readonly text: { readonly type: string; readonly text: string };
  }[];
}

const messageOf = async (one: EndedPass): Promise<SlackMessage> =>
  JSON.parse(JSON.stringify(slackOf(await changesIn(one))));

const behind = (more: Partial<SubdomainResult>): SubdomainResult => ({
  subdomain: 'shop.example.net',
  status: 'drifted',
  message: null,
  differences: [],
  answers: notAsked,
  ...more,
});

test('has a summary line, and shows the first differences', async () => {
  const differences: Difference[] = [
    update(),
    ...['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'].map((content) => add(content)),
  ];
  const subdomains = [behind({})];
  const message = await messageOf(passEvent([{ status: 'drifted', differences, subdomains }]));
  const line =
    '*`web` (client `acme`)* 6 differences between file and service, 1 subdomain with other records';
  expect(message.text).toBe(line);
  expect(message.blocks).toHaveLength(1);
  expect(message.blocks[0]?.text.text.split('\n')).toMatchInlineSnapshot(`
    [
      "*\`web\` (client \`acme\`)* 6 differences between file and service, 1 subdomain with other records",
      "\`\`\`",
      "~ A www  192.0.2.99 → 192.0.2.1  drifted · templates/web.yaml:3 · record 5",
      "    To do: \`dns-template-sync accept web 'www A'\` makes the file say what the",
      "    service has; a pass writes what the file says.",
      "+ A www  192.0.2.2               edited · templates/web.yaml:3",
      "+ A www  192.0.2.3               edited · templates/web.yaml:3",
      "+ A www  192.0.2.4               edited · templates/web.yaml:3",
      "+ A www  192.0.2.5               edited · templates/web.yaml:3",
      "and 1 more",
      "see shop.example.net",
      "\`\`\`",
    ]
  `);
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
])('says that a template %s', async (words, one) => {
  expect((await messageOf(passEvent([one]))).text).toBe(`*\`web\` (client \`acme\`)* ${words}`);
});

test('says that a client fails, and what has ended', async () => {
  expect((await messageOf(passEvent([], { holdReason: '503' }))).text).toBe(
    '*client `acme`* cannot be synchronised: `503`',
  );
  const [change] = await changesIn(passEvent([{ status: 'held' }]));
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

test('foreign texts stay in code, without mentions and links', async () => {
  await fc.assert(
    fc.asyncProperty(someHostileTexts, async (texts) => {
      const { text, blocks } = await messageOf(
        hostileEvent([...texts, '<!channel> & <@U1> @here <https://evil.example|x>']),
      );
      expect(text.length).toBeLessThanOrEqual(4_000);
      expect(blocks).toHaveLength(20);
      for (const part of [text, ...blocks.map((block) => block.text.text)]) {
        expect(part.length).toBeLessThanOrEqual(3_900);
        expect(part).not.toMatch(unseen);
        const outside = part.replaceAll(/^```\n.*?\n```$/gms, '').replaceAll(/`[^`\n]*`/g, '');
        for (const line of outside.split('\n')) expect(line).toMatch(/^[a-z0-9 *(),:…]*$/);
        expect(part).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/);
      }
      for (const block of blocks) expect(block.text.text.length).toBeLessThanOrEqual(3_000);
    }),
    { numRuns: 20, examples: [[hostileTexts]], endOnFailure: true },
  );
});

test('links the commit of the file', async () => {
  const commits = [
    {
      revision: 'a'.repeat(40),
      url: `https://git.example.net/commit/${'a'.repeat(40)}?a=b&c=|d`,
    },
  ];
  const one = passEvent([{ status: 'drifted', differences: [update()], revision: 'a'.repeat(40) }]);
  const message = await messageOf({ ...one, result: { ...one.result!, commits } });
  expect(message.blocks[0]?.text.text).toContain(
    `\ncommit <https://git.example.net/commit/${'a'.repeat(40)}?a=b&amp;c=%7Cd|aaaaaaaaaa>\n`,
  );
});
