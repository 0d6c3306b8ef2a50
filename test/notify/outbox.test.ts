import { describe, expect, test } from 'vitest';
import type { EndedPass } from '../../src/notify/news.ts';
import type { NotifiedChange } from '../../src/notify/schema.ts';
import type { Difference } from '../../src/plan/difference.ts';
import {
  notAsked,
  type SubdomainAnswers,
  type SubdomainResult,
  type TemplateResult,
} from '../../src/result.ts';
import type { NotifyReceiver } from '../../src/settings/receivers.ts';
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

/** The changes of the next message, which the receiver takes. */
const taken = async (outbox: ReturnType<typeof newOutbox>): Promise<readonly NotifiedChange[]> => {
  const next = await outbox.next();
  if (next !== null) await outbox.done(next.id);
  return next?.changes ?? [];
};

const subdomain = (more: Partial<SubdomainResult>): SubdomainResult => ({
  subdomain: 'shop.example.net',
  status: 'in-sync',
  message: null,
  differences: [],
  answers: notAsked,
  ...more,
});

/** A name server answers this. */
const answering = (content: string): EndedPass => {
  const place = { server: 'ns1.example.net', address: '192.0.2.53', name: 'shop.example.net', type: 'A' };
  const differences = [{ kind: 'stale' as const, ...place, desired: [], current: [address(content)] }];
  const answers: SubdomainAnswers = { status: 'drifted', servers: [], differences };
  return passEvent([{ status: 'drifted', subdomains: [subdomain({ answers })] }]);
};

const of = (status: TemplateResult['status'], ...differences: Difference[]) => ({ status, differences });
const held = passEvent([{ status: 'held', message: 'Too many adds.' }]);
const failed = passEvent([of('failed', update({ outcome: 'failed' }))]);
const unknown = passEvent([of('failed', add('192.0.2.7', { outcome: 'unknown' }))]);
const mended = passEvent([of('in-sync', update({ outcome: 'applied' }))]);
const cut = { isEnding: true };

/** A pass that also found a file which describes no template. */
const beside = ({ result, ...seen }: EndedPass, file = 'a.yaml'): EndedPass => ({
  ...seen,
  result: result && {
    ...result,
    problems: [
      { severity: 'error', check: 'yaml-syntax', message: 'no', client: 'acme', file, line: 3, column: 1 },
    ],
  },
});

/** What passes find, by the words for them below. */
const sights = {
  calm: inSync,
  drift: drifted,
  held,
  failed,
  unknown,
  mended,
  more: passEvent([of('drifted', update(), add('192.0.2.8'))]),
  changedOnceMore: passEvent([of('drifted', update({ current: address('192.0.2.100') }))]),
  mendedOnBothSides: passEvent([of('in-sync', update({ outcome: 'applied', cause: 'both' }))]),
  mendedBesideDrift: passEvent([of('drifted', update(), update({ recordId: 6, outcome: 'applied' }))]),
  edited: passEvent([of('in-sync', update({ outcome: 'applied', cause: 'edited' }))]),
  waiting: passEvent([{ status: 'held', retryAt: '2026-11-20T20:05:00.000Z' }]),
  addFailed: passEvent([of('failed', add('192.0.2.7', { outcome: 'failed' }))]),
  addRefused: passEvent([of('drifted', blocked('refused', '192.0.2.7'))]),
  pauseEnds: passEvent([of('drifted', blocked('refused', '192.0.2.1', { recordId: 5 }))]),
  away: passEvent([{ status: 'failed', message: 'ECONNREFUSED' }], { holdReason: 'ECONNREFUSED' }),
  awayMidway: passEvent([of('failed', update({ outcome: 'unknown' }))], { holdReason: '503' }),
  awayOnceMended: passEvent(
    [of('failed', update({ outcome: 'applied' }), update({ recordId: 6, outcome: 'skipped' }))],
    { holdReason: '401' },
  ),
  noFileRead: passEvent([{ status: 'failed', message: '1 error in templates/web.yaml' }]),
  strange: beside(inSync),
  strangeToo: beside(inSync, 'b.yaml'),
  strangeAndAway: beside(passEvent([{ status: 'failed', message: '401' }], { holdReason: '401' })),
  noPass: { ...inSync, result: null, failure: 'The state directory cannot be used.' },
  behind: passEvent([{ status: 'drifted', subdomains: [subdomain({ status: 'drifted' })] }]),
  following: passEvent([{ subdomains: [subdomain({ status: 'pending' })] }]),
  unread: passEvent([{ subdomains: [subdomain({ status: 'failed' })] }]),
  answer: answering('192.0.2.9'),
  otherAnswer: answering('192.0.2.8'),
  noFile: { ...passEvent([]), removed: ['web'] },
  noTemplate: passEvent([]),
  nameless: passEvent([{}, { template: 'a.yaml', file: 'a.yaml', status: 'held' }]),
  allCalm: { ...inSync, hasAll: true },
  others: passEvent([{ template: 'mail' }]),
  allOthers: { ...passEvent([{ template: 'mail' }]), hasAll: true },
  driftCut: { ...drifted, ...cut },
  heldCut: { ...held, ...cut },
  unknownCut: { ...unknown, ...cut },
  mendedCut: { ...mended, ...cut },
  cutOnceMended: passEvent(
    [
      {
        ...of('failed', update({ outcome: 'applied' }), update({ recordId: 6, outcome: 'skipped' })),
        subdomains: [subdomain({ status: 'failed' })],
      },
    ],
    cut,
  ),
  two: passEvent([{ status: 'held' }, { template: 'mail', ...of('drifted', update()) }]),
} satisfies Record<string, EndedPass>;

const seen = (words: string): EndedPass[] =>
  words.split(' ').map((word) => sights[word as keyof typeof sights] ?? expect.fail(word));

/** Each row: what passes find, and the message that follows each; then what the receiver has subscribed. */
test.each<[string, string, NotifyReceiver['on']?]>([
  ['calm calm', '-; -'],
  ['drift drift calm calm', 'drift; -; cleared; -'],
  ['answer answer calm', 'drift; -; cleared'],
  ['answer otherAnswer', 'drift; -'],
  ['held held calm', 'held; -; cleared'],
  ['failed failed calm', 'failed; -; cleared'],
  ['failed pauseEnds failed', 'failed; -; -'],
  ['addFailed addRefused', 'failed; -'],
  ['unknown unknown calm', 'unknown; -; cleared'],
  ['drift held failed drift', 'drift; held; failed; drift'],
  ['drift more more', 'drift; drift; -'],
  ['more drift drift', 'drift; -; -'],
  ['more drift more', 'drift; -; drift'],
  ['drift changedOnceMore', 'drift; drift'],
  ['mended calm mended', 'mended; -; mended'],
  ['mendedOnBothSides', 'mended'],
  ['drift mendedBesideDrift', 'drift; mended'],
  ['edited', '-'],
  ['waiting', 'drift'],
  ['calm away away calm', '-; client failed; -; client cleared'],
  ['awayMidway', 'client failed, unknown'],
  ['awayOnceMended away calm', 'client failed, failed; -; client cleared, cleared'],
  ['drift away drift', 'drift; client failed; client cleared'],
  ['noPass noPass calm', 'client failed; -; client cleared'],
  ['strange strange calm', 'client failed; -; client cleared'],
  ['strange strangeToo', 'client failed; client failed'],
  ['strange strangeAndAway strange calm', 'client failed; client failed; -; client cleared'],
  ['strange noPass noPass', 'client failed; client failed; -'],
  ['addRefused noFileRead noFileRead addRefused', 'failed; failed; -; failed'],
  ['following behind calm', '-; drift; cleared'],
  ['unread calm', 'failed; cleared'],
  ['drift noFile', 'drift; cleared'],
  ['drift noTemplate drift', 'drift; -; -'],
  ['drift others drift', 'drift; -; -'],
  ['drift allOthers allOthers drift', 'drift; cleared; -; drift'],
  ['nameless allCalm', 'a.yaml held; a.yaml cleared'],
  ['driftCut heldCut', '-; -'],
  ['unknownCut', 'unknown'],
  ['mendedCut calm', 'mended; -'],
  ['cutOnceMended calm held cutOnceMended held', 'mended; -; held; mended; -'],
  ['two', 'held, mail drift'],
  ['held drift calm', '-; drift; cleared', ['drift']],
  ['drift held calm', 'drift; held; cleared', ['drift']],
  ['mended held calm', 'mended; -; -', ['drift']],
  ['mended drift held calm', '-; -; held; cleared', ['held', 'failed']],
  ['failed unknown failed calm', '-; unknown; failed; cleared', ['unknown']],
  ['failed drift more changedOnceMore mendedBesideDrift calm', 'failed; drift; -; -; -; cleared', ['failed']],
])('each pass sends what is new: %s', async (words, expected, on) => {
  const outbox = newOutbox();
  const heard: string[] = [];
  for (const one of seen(words)) {
    await outbox.add(one, on && { on });
    const changes = await taken(outbox);
    const said = changes.map(({ event, template }) =>
      template === 'web' ? event : `${template ?? 'client'} ${event}`,
    );
    heard.push(said.join(', ') || '-');
  }
  expect(heard.join('; ')).toBe(expected);
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
    let last: readonly NotifiedChange[] = [];
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
  const heardAt = async (now: number, pass: EndedPass): Promise<string> => {
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

test('a clock that is set back makes no message later than its delay', async () => {
  let time = 86_400_000;
  const outbox = newOutbox({ ...newStore(), now: () => Promise.resolve(time) });
  await outbox.add(drifted, { after: 10 });
  const words: string[] = [];
  for (time of [1_000, 1_009, 1_010]) {
    await outbox.add(drifted, { after: 10 });
    words.push((await taken(outbox)).map(({ event }) => event).join() || '-');
  }
  expect(words).toEqual(['-', '-', 'drift']);
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
