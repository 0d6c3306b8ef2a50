import { describe, expect, test } from 'vitest';
import { occasions, type Occasion } from '../../src/notify/health-change.ts';
import { notificationOf } from '../../src/notify/delivery.ts';
import { LocalOutbox } from '../../src/notify/outbox.ts';
import { slackMessageOf } from '../../src/notify/slack.ts';
import type { PassEvent } from '../../src/notify/health.ts';
import { notAsked, type ServerResult } from '../../src/result.ts';
import {
  add,
  address,
  blocked,
  drifted,
  inSync,
  passEvent,
  notifiedInMemory,
  update,
} from './pass-events.ts';

/** What a receiver hears that is told at once after each pass: a word for each message, `-` for none. */
const heard = (sights: readonly PassEvent[], on: readonly Occasion[] = occasions): string[] => {
  const outbox = new LocalOutbox(notifiedInMemory());
  return sights.map((one) => {
    outbox.enqueue(one, on);
    const words = outbox
      .next()
      ?.changes.map(({ event, health }) =>
        health.template === 'web' ? event : `${health.template ?? 'client'} ${event}`,
      );
    outbox.done();
    return words?.join(', ') ?? '-';
  });
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
      'another answer, and a server that is silent',
      [
        answered('drifted', 'drifted'),
        answered('drifted', 'drifted', '192.0.2.8'),
        answered('drifted', 'silent'),
      ],
      ['drift', 'drift', 'drift'],
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
  ])('%s', (_, sights, expected) => {
    expect(heard(sights)).toEqual(expected);
  });

  test.each<[Occasion[], PassEvent[], string[]]>([
    [['drift'], [held, drifted, inSync], ['-', 'drift', 'cleared']],
    [['drift'], [drifted, held, inSync], ['drift', 'held', 'cleared']],
    [['drift'], [mended, held, inSync], ['mended', '-', '-']],
    [
      ['held', 'failed'],
      [mended, drifted, held, inSync],
      ['-', '-', 'held', 'cleared'],
    ],
    [['unknown'], [failed, unknown, failed, inSync], ['-', 'unknown', 'failed', 'cleared']],
  ])('of subscribed states, and of their end: %j', (on, sights, expected) => {
    expect(heard(sights, on)).toEqual(expected);
  });
});

test('a refused change that waits for its retry is not new', () => {
  const waits = blocked('refused', '192.0.2.1', { recordId: 5 });
  expect(heard([failed, passEvent([{ status: 'drifted', differences: [waits] }]), failed])).toEqual([
    'failed',
    '-',
    '-',
  ]);
});

describe('while a message is in flight', () => {
  const merged = (outbox: LocalOutbox) =>
    outbox.next()?.changes.map(({ event, previous, merged: count }) => ({ event, previous, count }));

  test('it stays the same, and later changes become one with the newest state', () => {
    const outbox = new LocalOutbox(notifiedInMemory());
    outbox.enqueue(drifted, occasions);
    const first = outbox.next();
    for (const one of [held, drifted, inSync]) outbox.enqueue(one, occasions);
    expect(outbox.next()).toBe(first);
    expect(outbox.size).toBe(2);
    outbox.done();
    expect(merged(outbox)).toEqual([{ event: 'cleared', previous: 'drifted', count: 3 }]);
    outbox.done();
    expect(outbox.next()).toBe(null);
  });

  test('waiting changes are sent with their newest state', () => {
    const outbox = new LocalOutbox(notifiedInMemory());
    outbox.enqueue(passEvent([{ template: 'other', status: 'held' }]), occasions);
    outbox.next();
    for (const one of [two, drifted]) outbox.enqueue(one, occasions);
    outbox.done();
    expect(outbox.next()?.changes[0]).toMatchObject({ merged: 1, health: { differences: [update()] } });
  });

  test('drift that came and went is still sent', () => {
    const outbox = new LocalOutbox(notifiedInMemory());
    outbox.enqueue(passEvent([{ template: 'other', status: 'held' }]), occasions);
    outbox.next();
    for (const one of [drifted, inSync, mended]) outbox.enqueue(one, occasions);
    outbox.done();
    expect(merged(outbox)).toEqual([{ event: 'cleared', previous: 'in-sync', count: 3 }]);
  });

  test('an unreachable receiver keeps one change for each template', () => {
    const outbox = new LocalOutbox(notifiedInMemory());
    for (let round = 0; round < 1_000; round += 1)
      outbox.enqueue(round % 2 === 0 ? drifted : held, occasions);
    expect(outbox.size).toBe(1);
  });

  test('with too many templates, the oldest changes are dropped and counted', () => {
    const outbox = new LocalOutbox(notifiedInMemory());
    const many = Array.from({ length: 10_005 }, (_, index) => ({
      template: `t${index}`,
      status: 'held' as const,
    }));
    expect(outbox.enqueue(passEvent(many), occasions)).toBe(5);
    expect(outbox.next()?.changes[0]?.health.template).toBe('t5');
    expect(outbox.next()?.changes).toHaveLength(20);
  });
});

test('after a restart nothing is sent again, and what ended meanwhile is sent', () => {
  const notified = notifiedInMemory();
  const before = new LocalOutbox(notified);
  before.enqueue(drifted, occasions);
  before.enqueue(passEvent([{ template: 'mail', status: 'held' }]), occasions);
  before.next();
  before.done();
  before.enqueue(passEvent([{ template: 'late', status: 'held' }]), occasions);

  const after = new LocalOutbox(notified);
  after.enqueue(
    passEvent([
      { status: 'drifted', differences: [update()] },
      { template: 'mail' },
      { template: 'late', status: 'held' },
    ]),
    occasions,
  );
  expect(after.next()?.changes.map(({ event, health }) => [health.template, event])).toEqual([
    ['mail', 'cleared'],
    ['late', 'held'],
  ]);
});

describe('a change with a delay', () => {
  const patient = () => {
    const outbox = new LocalOutbox(notifiedInMemory());
    const hear = (one: PassEvent, now: number): string => {
      outbox.enqueue(one, occasions, { after: 10, now });
      const words = outbox.next(now)?.changes.map(({ event }) => event);
      outbox.done();
      return words?.join(', ') ?? '-';
    };
    return { outbox, hear };
  };

  test('is sent after the delay, and its end at once', () => {
    const { hear } = patient();
    expect([
      hear(drifted, 0),
      hear(drifted, 9),
      hear(drifted, 10),
      hear(drifted, 20),
      hear(inSync, 21),
    ]).toEqual(['-', '-', 'drift', '-', 'cleared']);
  });

  test('is not sent if it ended before the delay, and neither is its end', () => {
    const { hear } = patient();
    expect([hear(drifted, 0), hear(inSync, 5), hear(inSync, 15), hear(mended, 16)]).toEqual([
      '-',
      '-',
      '-',
      '-',
    ]);
  });

  test('is due after the delay, also without a pass', () => {
    const { outbox } = patient();
    outbox.enqueue(drifted, occasions, { after: 10, now: 5 });
    expect([outbox.dueAt(), outbox.next(14), outbox.next(15)?.changes.length]).toEqual([15, null, 1]);
  });
});

test('the first errors of files without a template are sent for the client', () => {
  const problem = { severity: 'error', check: 'x', client: 'acme', line: 3, column: 1 } as const;
  const problems = ['a', 'b', 'c', 'd'].map((name) => ({ ...problem, file: `${name}.yaml`, message: 'no' }));
  const { result, ...rest } = inSync;
  const outbox = new LocalOutbox(notifiedInMemory());
  outbox.enqueue({ ...rest, result: { ...result!, problems } }, occasions);
  expect(outbox.next()?.changes.map(({ event, health }) => [event, health.message])).toEqual([
    ['failed', 'a.yaml:3: no; b.yaml:3: no; c.yaml:3: no; and 1 more'],
  ]);
});

test('a message has a link to the page if publicUrl is set', () => {
  const outbox = new LocalOutbox(notifiedInMemory());
  outbox.enqueue(drifted, occasions);
  const delivery = outbox.next()!;
  const link = 'https://dns.example.net/clients/acme/templates/web';
  expect(notificationOf(delivery, 'https://dns.example.net').changes[0]).toMatchObject({ link });
  expect(JSON.stringify(slackMessageOf(delivery, 'https://dns.example.net'))).toContain(`<${link}|`);
  expect(notificationOf(delivery).changes[0]).not.toHaveProperty('link');
});
