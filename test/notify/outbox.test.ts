import { describe, expect, test } from 'vitest';
import type { PassEvent } from '../../src/notify/news.ts';
import type { Change } from '../../src/notify/schema.ts';
import type { NotifyReceiver } from '../../src/settings/receivers.ts';
import { notAsked, type ServerResult } from '../../src/result.ts';
import {
  add,
  address,
  blocked,
  drifted,
  inSync,
  passEvent,
  newOutbox,
  newStore,
  update,
} from './pass-events.ts';

/** What a receiver hears that is told at once after each pass: a word for each message, `-` for none. */
const heard = async (sights: readonly PassEvent[], more: Partial<NotifyReceiver> = {}): Promise<string[]> => {
  const outbox = newOutbox();
  const words: string[] = [];
  for (const one of sights) {
    await outbox.add(one, more);
    const changes = await taken(outbox);
    words.push(
      changes
        .map(({ event, template }) => (template === 'web' ? event : `${template ?? 'client'} ${event}`))
        .join(', ') || '-',
    );
  }
  return words;
};

/** The changes of the next message, which the receiver takes. */
const taken = async (outbox: ReturnType<typeof newOutbox>): Promise<readonly Change[]> => {
  const next = await outbox.next();
  if (next !== null) await outbox.done(next.id);
  return next?.changes ?? [];
};

const held = passEvent([{ status: 'held', message: 'Too many adds.' }]);
const failed = passEvent([{ status: 'failed', differences: [update({ outcome: 'failed' })] }]);
const unknown = passEvent([{ status: 'failed', differences: [add('192.0.2.7', { outcome: 'unknown' })] }]);
const mended = passEvent([{ differences: [update({ outcome: 'applied' })] }]);
const edited = passEvent([{ differences: [update({ outcome: 'applied', cause: 'edited' })] }]);
const unreachable = passEvent([{ status: 'failed', message: 'ECONNREFUSED' }], {
  holdReason: 'ECONNREFUSED',
});
const none: PassEvent = { ...inSync, result: null, failure: 'The state directory cannot be used.' };
const two = passEvent([{ status: 'drifted', differences: [update(), add('192.0.2.8')] }]);
const subdomain = (status: 'pending' | 'drifted' | 'failed') =>
  passEvent([
    {
      status: status === 'drifted' ? 'drifted' : 'in-sync',
      subdomains: [
        {
          subdomain: 'shop.example.net',
          status,
          message: null,
          differences: [{ kind: 'missing', templateRecord: null, record: null, fields: [] }],
          answers: notAsked,
        },
      ],
    },
  ]);

const answered = (
  status: 'in-sync' | 'drifted' | 'failed',
  server: ServerResult['status'],
  content = '192.0.2.9',
) =>
  passEvent([
    {
      status,
      subdomains: [
        {
          subdomain: 'shop.example.net',
          status: 'in-sync',
          message: null,
          differences: [],
          answers: {
            status,
            servers: [
              { name: 'ns1.example.net', address: '192.0.2.53', serial: 1, status: server, message: null },
            ],
            differences:
              server === 'drifted'
                ? [
                    {
                      kind: 'stale',
                      server: 'ns1.example.net',
                      address: '192.0.2.53',
                      name: 'shop.example.net',
                      type: 'A',
                      desired: [],
                      current: [{ type: 'A', name: null, content, priority: null, ttl: null }],
                    },
                  ]
                : [],
          },
        },
      ],
    },
  ]);

describe('each pass sends what is new', () => {
  test.each<[string, PassEvent[], string[]]>([
    ['nothing while all is well', [inSync, inSync], ['-', '-']],
    ['drift once, and its end', [drifted, drifted, inSync, inSync], ['drift', '-', 'cleared', '-']],
    ['drift at the first pass', [drifted], ['drift']],
    [
      'what name servers answer, once, and its end',
      [answered('drifted', 'drifted'), answered('drifted', 'drifted'), answered('in-sync', 'in-sync')],
      ['drift', '-', 'cleared'],
    ],
    [
      'no other wrong answer of a subdomain that has one',
      [
        answered('drifted', 'drifted'),
        answered('drifted', 'drifted', '192.0.2.8'),
        answered('drifted', 'silent'),
      ],
      ['drift', '-', '-'],
    ],
    [
      'servers that cannot be asked',
      [answered('failed', 'silent'), answered('failed', 'silent')],
      ['failed', '-'],
    ],
    ['a hold and its end', [held, held, inSync], ['held', '-', 'cleared']],
    ['a failure and its end', [failed, failed, inSync], ['failed', '-', 'cleared']],
    ['an unknown outcome until it is settled', [unknown, unknown, inSync], ['unknown', '-', 'cleared']],
    ['one state after the other', [drifted, held, failed, drifted], ['drift', 'held', 'failed', 'drift']],
    ['more drift', [drifted, two, two], ['drift', 'drift', '-']],
    ['no part of drift that ends', [two, drifted, drifted], ['drift', '-', '-']],
    ['what had gone and comes again', [two, drifted, two], ['drift', '-', 'drift']],
    [
      'another change of a record that differed already',
      [
        drifted,
        passEvent([
          {
            status: 'drifted',
            differences: [update({ current: address('192.0.2.100') })],
          },
        ]),
      ],
      ['drift', 'drift'],
    ],
    [
      'what was changed at the service and is set right, each time',
      [mended, inSync, mended],
      ['mended', '-', 'mended'],
    ],
    [
      'what was changed on both sides and is as in the file now',
      [passEvent([{ differences: [update({ outcome: 'applied', cause: 'both' })] }])],
      ['mended'],
    ],
    [
      'that a template waits for an earlier write: as drift',
      [passEvent([{ status: 'held', retryAt: '2026-11-20T20:05:00.000Z' }])],
      ['drift'],
    ],
    [
      'the same beside drift that stays',
      [
        drifted,
        passEvent([
          { status: 'drifted', differences: [update(), update({ recordId: 6, outcome: 'applied' })] },
        ]),
      ],
      ['drift', 'mended'],
    ],
    ['no edit of the file that was written', [edited], ['-']],
    [
      'that a refusal waits for its next try: no',
      [
        passEvent([{ status: 'failed', differences: [add('192.0.2.7', { outcome: 'failed' })] }]),
        passEvent([{ status: 'drifted', differences: [blocked('refused', '192.0.2.7')] }]),
      ],
      ['failed', '-'],
    ],
    [
      'a service that cannot be reached, once for all',
      [inSync, unreachable, unreachable, inSync],
      ['-', 'client failed', '-', 'client cleared'],
    ],
    [
      'what a service that fails midway did, too',
      [
        passEvent([{ status: 'failed', differences: [update({ outcome: 'unknown' })] }], {
          holdReason: '503',
        }),
      ],
      ['client failed, unknown'],
    ],
    [
      'no end of drift that a pass could not look at',
      [drifted, unreachable, drifted],
      ['drift', 'client failed', 'client cleared'],
    ],
    ['a pass that could not be made', [none, none, inSync], ['client failed', '-', 'client cleared']],
    ['a subdomain behind', [subdomain('pending'), subdomain('drifted'), inSync], ['-', 'drift', 'cleared']],
    ['a subdomain that cannot be read', [subdomain('failed'), inSync], ['failed', 'cleared']],
    [
      'the end of a template that no file describes any more',
      [drifted, { ...passEvent([]), removed: ['web'] }],
      ['drift', 'cleared'],
    ],
    [
      'nothing of a template that no part of the pass was about',
      [drifted, passEvent([]), drifted],
      ['drift', '-', '-'],
    ],
    [
      'nothing that the end of the program cut short',
      [
        { ...drifted, isEnding: true },
        { ...held, isEnding: true },
      ],
      ['-', '-'],
    ],
    ['an unknown outcome at the end', [{ ...unknown, isEnding: true }], ['unknown']],
    [
      'several templates in one message',
      [passEvent([{ status: 'held' }, { template: 'mail', status: 'drifted', differences: [update()] }])],
      ['held, mail drift'],
    ],
  ])('%s', async (_, sights, expected) => {
    expect(await heard(sights)).toEqual(expected);
  });

  test.each<[NotifyReceiver['on'], PassEvent[], string[]]>([
    [['drift'], [held, drifted, inSync], ['-', 'drift', 'cleared']],
    [['drift'], [drifted, held, inSync], ['drift', 'held', 'cleared']],
    [['drift'], [mended, held, inSync], ['mended', '-', '-']],
    [
      ['held', 'failed'],
      [mended, drifted, held, inSync],
      ['-', '-', 'held', 'cleared'],
    ],
    [['unknown'], [failed, unknown, failed, inSync], ['-', 'unknown', 'failed', 'cleared']],
  ])('of subscribed states, and of their end: %j', async (on, sights, expected) => {
    expect(await heard(sights, { on })).toEqual(expected);
  });
});

test('a refused change that waits for its retry is not new', async () => {
  const waits = blocked('refused', '192.0.2.1', { recordId: 5 });
  expect(await heard([failed, passEvent([{ status: 'drifted', differences: [waits] }]), failed])).toEqual([
    'failed',
    '-',
    '-',
  ]);
});

describe('while a message is not taken', () => {
  test('it stays the same, also after a restart, and later ones wait in their order', async () => {
    const store = newStore();
    const outbox = newOutbox(store);
    await outbox.add(drifted);
    const first = await outbox.next();
    for (const one of [drifted, held, mended]) await outbox.add(one);
    expect(await outbox.next()).toEqual(first);
    const later = newOutbox(store);
    expect(await later.next()).toEqual(first);
    const events: string[] = [];
    for (let next = await later.next(); next !== null; next = await later.next()) {
      events.push(...next.changes.map(({ event }) => event));
      await later.done(next.id);
    }
    expect(events).toEqual(['drift', 'held', 'cleared']);
  });

  test('a hundred wait, and after that the newest state is told', async () => {
    const outbox = newOutbox();
    for (let pass = 0; pass < 150; pass += 1) await outbox.add(pass % 2 === 0 ? held : failed);
    let last: readonly Change[] = [];
    for (let count = 0; count < 100; count += 1) last = await taken(outbox);
    expect(last).toMatchObject([{ event: 'failed' }]);
    expect(await taken(outbox)).toEqual([]);
    await outbox.add(inSync);
    expect(await taken(outbox)).toMatchObject([{ event: 'cleared', previous: 'failed' }]);
  });

  test('twenty changes are one message', async () => {
    const outbox = newOutbox();
    const many = Array.from({ length: 25 }, (_, index) => ({
      template: `t${index}`,
      status: 'held' as const,
    }));
    await outbox.add(passEvent(many));
    const counts = [await taken(outbox), await taken(outbox), await taken(outbox)];
    expect(counts.map(({ length }) => length)).toEqual([20, 5, 0]);
  });
});

test('after a restart nothing is sent again, and what ended meanwhile is sent', async () => {
  const store = newStore();
  const before = newOutbox(store);
  await before.add(drifted);
  await before.add(passEvent([{ template: 'mail', status: 'held' }]));
  await taken(before);
  await taken(before);
  await before.add(passEvent([{ template: 'late', status: 'held' }]));
  await before.add(passEvent([{ template: 'lost', differences: [update({ outcome: 'applied' })] }]));

  const after = newOutbox(store);
  const next = passEvent([
    { status: 'drifted', differences: [update()] },
    { template: 'mail' },
    { template: 'late', status: 'held' },
  ]);
  await after.add(next);
  const told: string[] = [];
  for (let changes = await taken(after); changes.length > 0; changes = await taken(after))
    told.push(...changes.map(({ event, template }) => `${template} ${event}`));
  expect(told).toEqual(['late held', 'lost mended', 'mail cleared']);
});

test('a change with a delay is told by the first pass after it, and its end at once', async () => {
  let time = 0;
  const outbox = newOutbox({ ...newStore(), now: () => Promise.resolve(time) });
  const heardAt = async (now: number, pass: PassEvent): Promise<string> => {
    time = now;
    await outbox.add(pass, { after: 10 });
    return (await taken(outbox)).map(({ event }) => event).join() || '-';
  };
  const words: string[] = [];
  for (const [now, pass] of [
    [0, drifted],
    [5, inSync],
    [6, mended],
    [7, drifted],
    [16, drifted],
    [17, drifted],
    [18, drifted],
    [19, inSync],
  ] as const)
    words.push(await heardAt(now, pass));
  expect(words).toEqual(['-', '-', '-', '-', '-', 'drift', '-', 'cleared']);
});

test('the first error of a file is the message of its template, or of the client if it has none', async () => {
  const problem = { severity: 'error', check: 'x', client: 'acme', line: 3, column: 1 } as const;
  const problems = ['a', 'b', 'c', 'web'].map((name) => ({
    ...problem,
    file: `${name}.yaml`,
    message: 'no',
  }));
  const { result, ...rest } = passEvent([{ status: 'held', file: 'web.yaml', message: '1 error' }]);
  const outbox = newOutbox();
  await outbox.add({ ...rest, result: { ...result!, problems } });
  expect((await taken(outbox)).map(({ event, message }) => [event, message])).toEqual([
    ['failed', 'a.yaml:3:1: no (and 2 more)'],
    ['held', 'web.yaml:3:1: no'],
  ]);
});
