import { describe, expect, test } from 'vitest';
import type { ActualTemplate } from '../../src/model/template.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import {
  acceptedAs,
  closedSets,
  judgeAnswer,
  openEntries,
  settle,
  takeWord,
  withoutContradicted,
  withoutOver,
  type Known,
  type Reading,
} from '../../src/reconcile/journal.ts';
import type { Entry } from '../../src/state/memory.ts';
import { actual, actualTemplate, data } from '../plan/records.ts';
import { newEntry } from '../state/samples.ts';

const times = { settle: 10_000, unknownPause: 300_000 };
const lag = 600_000;

const at = (seconds: number) => ({ now: seconds * 1000, uptime: { boot: 'b', at: seconds * 1000 } });

/** `add www A 192.0.2.1`, sent at 0. */
const add = (line: string, changes: Partial<Entry> = {}): Entry => {
  const after = data(line);
  const key = recordKey(entryOf(after));
  return { ...newEntry({ at: 0, action: 'add', after, key, idsBefore: [] }), id: 1, ...changes };
};

/** Sent at 0, as `#2 www A 192.0.2.1` and what it is to become. */
const update = (before: string, after: string, changes: Partial<Entry> = {}): Entry => ({
  ...add(after),
  action: 'update',
  recordId: actual(before).id,
  before: data(before),
  ...changes,
});

const accepted = (entry: Entry, stored: string, seconds = 0): Entry =>
  acceptedAs(entry, actual(stored), at(seconds));

const reading = (seconds: number, records: readonly string[], isWhole = true): Reading => ({
  records: records.map(actual),
  asked: at(seconds),
  read: at(seconds),
  isWhole,
});

const nothingKnown: Known = { isKnown: () => false, isRemembered: () => false, desiredKeys: new Set() };

const stateAfter = (
  entries: readonly Entry[],
  readings: readonly Reading[],
  known = nothingKnown,
): { entries: readonly Entry[]; outcomes: string[] } => {
  const outcomes: string[] = [];
  let left = entries;
  for (const one of readings) {
    const settlement = settle(left, one, known, times);
    left = settlement.entries;
    for (const outcome of settlement.outcomes)
      outcomes.push(
        outcome.kind === 'accepted'
          ? `accepted #${outcome.record.id}${outcome.copies.map(({ id }) => ` copy #${id}`).join('')}`
          : outcome.kind,
      );
  }
  return { entries: left, outcomes };
};

const statesOf = (entries: readonly Entry[]): string[] => entries.map(({ state }) => state);

/** Why a template is not settled. */
const open = (entries: readonly Entry[], records: readonly string[], seconds: number): string[] =>
  openEntries(entries, records.map(actual), at(seconds), times).map(
    ({ entry, isBehind }) => `${entry.action} ${isBehind ? 'behind' : 'unknown'}`,
  );

describe('a sent entry', () => {
  const www = add('www A 192.0.2.1');

  test('is accepted by the first reading that shows its record', () => {
    expect(stateAfter([www], [reading(30, ['#7 www A 192.0.2.1'])])).toMatchObject({
      entries: [{ state: 'accepted', recordId: 7 }],
      outcomes: ['accepted #7'],
    });
  });

  test('holds its template until its time is over: what lands last is visible `settle` later', () => {
    expect(open([www], [], 300)).toEqual(['add unknown']);
    expect(open([www], [], 610)).toEqual(['add unknown']);
    const inPlace = update('#2 www A 192.0.2.1', 'www A 192.0.2.2');
    expect(stateAfter([inPlace], [reading(309, ['#2 www A 192.0.2.1'])]).entries).toMatchObject([
      { state: 'sent' },
    ]);
    expect(stateAfter([inPlace], [reading(310, ['#2 www A 192.0.2.1'])]).entries).toMatchObject([
      { state: 'missed' },
    ]);
  });

  test('is missed by one reading, and failed by a second one `settle` later: one listing may be cut', () => {
    const late = (...seconds: number[]) =>
      stateAfter(
        [www],
        seconds.map((one) => reading(one, [])),
      );
    expect(late(609)).toMatchObject({ entries: [{ state: 'sent' }], outcomes: [] });
    expect(late(610)).toMatchObject({ entries: [{ state: 'missed' }], outcomes: [] });
    expect(late(610, 619)).toMatchObject({ entries: [{ state: 'missed' }], outcomes: [] });
    expect(late(610, 620)).toMatchObject({ outcomes: ['lost'] });
  });

  test('is not taken from a listing that may be from before the write that it undoes', () => {
    const parked = accepted(update('#2 www A 192.0.2.1', '_parked-2 A 0.0.0.0'), '#2 _parked-2 A 0.0.0.0');
    const back = { ...update('#2 _parked-2 A 0.0.0.0', 'www A 192.0.2.1'), id: 2, sentAt: at(60) };
    const shown = ['#2 www A 192.0.2.1'];
    expect(stateAfter([parked, back], [reading(599, shown)]).outcomes).toEqual([]);
    expect(stateAfter([parked, back], [reading(600, shown)]).outcomes).toEqual(['accepted #2']);
  });

  test('is bound all the same if its record appears in between', () => {
    expect(stateAfter([www], [reading(610, []), reading(611, ['#7 www A 192.0.2.1'])])).toMatchObject({
      entries: [{ state: 'accepted' }],
      outcomes: ['accepted #7'],
    });
  });

  test('is not missed by a reading that lost many records', () => {
    expect(statesOf(stateAfter([www], [reading(610, [], false)]).entries)).toEqual(['sent']);
  });

  test('is recognised after it failed', () => {
    const failed = stateAfter([{ ...www, sentAt: at(100) }], [reading(710, []), reading(720, [])]);
    expect(statesOf(failed.entries)).toEqual([]);
    const early = update('#2 www A 192.0.2.1', 'www A 192.0.2.2', { state: 'failed' });
    expect(stateAfter([early], [reading(320, ['#2 www A 192.0.2.2'])]).outcomes).toEqual(['accepted #2']);
  });

  test('does not take somebody’s record of its name', () => {
    const mx = add('@ MX 10 mx1.example.net');
    expect(stateAfter([mx], [reading(30, ['#7 @ MX 20 mx9.example.com'])]).outcomes).toEqual([]);
  });

  test('takes an equal record of somebody else as a copy, so that neither is a stranger', () => {
    const both = ['#8 www A 192.0.2.1', '#7 www A 192.0.2.1'];
    expect(stateAfter([www], [reading(30, both)]).outcomes).toEqual(['accepted #7 copy #8']);
  });

  test('takes no record from before it', () => {
    expect(stateAfter([{ ...www, idsBefore: [7] }], [reading(30, ['#7 www A 192.0.2.1'])]).outcomes).toEqual(
      [],
    );
  });

  test('only counts a record at a longer name', () => {
    expect(stateAfter([www], [reading(30, ['#7 www.shop A 192.0.2.1'])]).entries).toMatchObject([
      { state: 'accepted', isOnlyCounted: true },
    ]);
  });

  test('takes no record that another one of the file equals, also if the file drops that one later', () => {
    const shop = ['#7 www.shop A 192.0.2.1'];
    const desiredKeys = new Set([recordKey(entryOf(data('www.shop A 192.0.2.1')))]);
    const first = stateAfter([www], [reading(30, shop)], { ...nothingKnown, desiredKeys });
    expect(stateAfter(first.entries, [reading(60, shop)]).outcomes).toEqual([]);
  });

  test('that was refused is decided by the next whole reading', () => {
    const refused = { ...www, refusedAt: at(1), error: 'no' };
    expect(stateAfter([refused], [reading(0, [])]).outcomes).toEqual([]);
    expect(stateAfter([refused], [reading(2, [], false)]).outcomes).toEqual([]);
    expect(stateAfter([refused], [reading(2, [])])).toEqual({ entries: [], outcomes: ['refused'] });
    expect(stateAfter([refused], [reading(2, ['#7 www A 192.0.2.1'])]).outcomes).toEqual(['accepted #7']);
  });

  test('is accepted where the service ignores the change: the answer and a later reading show it as it was', () => {
    const ignored = update('#2 www 60 A 192.0.2.1', 'www 300 A 192.0.2.1', { unchangedAt: at(1) });
    const shown = ['#2 www 60 A 192.0.2.1'];
    expect(stateAfter([ignored], [reading(10, shown)]).outcomes).toEqual([]);
    expect(stateAfter([ignored], [reading(11, shown)]).outcomes).toEqual(['accepted #2']);
  });

  test('of equal updates only the last is accepted by a reading: the earlier one may still land', () => {
    const one = update('#2 www A 192.0.2.1', 'www A 192.0.2.2');
    const settled = stateAfter([one, { ...one, id: 2 }], [reading(30, ['#2 www A 192.0.2.2'])]);
    expect(settled.entries.map(({ id, state }) => [id, state])).toEqual([
      [1, 'sent'],
      [2, 'accepted'],
    ]);
  });
});

describe('an accepted entry', () => {
  test('makes an edit of ours that an older listing lacks no edit of somebody', () => {
    const edit = accepted(update('#2 www A 192.0.2.1', 'www A 192.0.2.2'), '#2 www A 192.0.2.2');
    expect(open([edit], ['#2 www A 192.0.2.1'], 30)).toEqual(['update behind']);
    expect(open([edit], ['#2 www A 192.0.2.2'], 30)).toEqual([]);
    expect(open([edit], ['#2 www A 192.0.2.9'], 30)).toEqual([]);
    expect(open([edit], ['#2 www A 192.0.2.1'], lag / 1000)).toEqual([]);
  });

  test('makes a record that was added and is missing in an older listing no vanished one', () => {
    const added = accepted(add('www A 192.0.2.1'), '#7 www A 192.0.2.1');
    expect(open([added], [], 30)).toEqual(['add behind']);
    expect(open([added], [], lag / 1000)).toEqual([]);
  });

  test('of several of one record the last counts, and any value before one of them is older', () => {
    const park = { ...update('#2 www A 192.0.2.1', '_parked-2 A 0.0.0.0'), action: 'park' as const };
    const back = {
      ...update('#2 _parked-2 A 0.0.0.0', 'www A 192.0.2.1', { id: 2 }),
      action: 'park' as const,
    };
    const both = [accepted(park, '#2 _parked-2 A 0.0.0.0'), accepted(back, '#2 www A 192.0.2.1', 1)];
    expect(open(both, ['#2 www A 192.0.2.1'], 30)).toEqual([]);
    expect(open(both, ['#2 _parked-2 A 0.0.0.0'], 30)).toEqual(['park behind']);
  });

  test('stays while an earlier write of its record may still appear', () => {
    const earlier = update('#2 www A 192.0.2.1', 'www A 192.0.2.2', { sentAt: at(550) });
    const later = accepted({ ...earlier, id: 2 }, '#2 www A 192.0.2.2');
    expect(withoutOver([earlier, later], at(600), times)).toHaveLength(2);
    expect(withoutOver([later], at(600), times)).toEqual([]);
  });

  test('ends when an answer shows its record otherwise', () => {
    const edit = accepted(update('#2 www A 192.0.2.1', 'www A 192.0.2.2'), '#2 www A 192.0.2.2');
    const of = { ...edit, id: 9, recordId: 3 };
    const left = (line: string) => withoutContradicted([edit], actualTemplate([line]), of);
    expect(left('#2 www A 192.0.2.2')).toEqual([edit]);
    expect(left('#2 www A 192.0.2.1')).toEqual([]);
  });

  test('is not ended by a later write of our own', () => {
    const added = accepted(add('www A 192.0.2.1'), '#2 www A 192.0.2.1');
    const edit = {
      ...accepted(update('#2 www A 192.0.2.1', 'www A 192.0.2.2'), '#2 www A 192.0.2.2'),
      id: 9,
    };
    const shown = actualTemplate(['#2 www A 192.0.2.2']);
    expect(withoutContradicted([added, edit], shown, edit)).toEqual([added, edit]);
    expect(withoutContradicted([added, edit], shown, { ...edit, id: 10, recordId: 3 })).toEqual([
      added,
      edit,
    ]);
  });
});

describe('while a template is not settled', () => {
  const sets = (entry: Entry): string[] => [
    ...closedSets([{ entry, until: 0, isBehind: entry.state === 'accepted' }]),
  ];

  test('the record sets that a write enters or leaves are closed', () => {
    expect(sets(update('#2 www A 192.0.2.1', 'api A 192.0.2.1'))).toHaveLength(2);
    expect(sets(add('www A 192.0.2.1'))).toHaveLength(1);
  });

  test('an update in place closes none, since it can be sent again; but its template takes no add', () => {
    const inPlace = update('#2 @ TXT one', '@ TXT two');
    expect(sets(inPlace)).toEqual([]);
    expect(open([inPlace], ['#2 @ TXT one'], 30)).toEqual(['update unknown']);
  });

  test('a listing is from before a write that changed what it shows, whoever changed the rest before that', () => {
    const ttl = accepted(update('#2 www 300 A 192.0.2.2', 'www 60 A 192.0.2.2'), '#2 www 60 A 192.0.2.1');
    expect(open([ttl], ['#2 www 300 A 192.0.2.1'], 30)).toEqual(['update behind']);
    expect(open([ttl], ['#2 www 60 A 192.0.2.9'], 30)).toEqual([]);
  });

  test('an update in place that the listing is behind closes its record set', () => {
    expect(sets(accepted(update('#2 @ TXT one', '@ TXT two'), '#2 @ TXT two'))).toHaveLength(1);
  });
});

test('a person takes the word of the listing for earlier runs, and not for the own one', () => {
  const [earlier, own] = [
    add('a A 192.0.2.1', { run: 'run-0' }),
    add('b A 192.0.2.1', { id: 2, run: 'run-1' }),
  ];
  const { entries, outcomes } = takeWord([earlier, own], 'run-1', []);
  expect(statesOf(entries)).toEqual(['failed', 'sent']);
  expect(outcomes).toMatchObject([{ kind: 'lost', entry: { id: 1 } }]);
});

test('what the listing shows stays when a person takes its word, since a later listing may be older', () => {
  const added = accepted(add('www A 192.0.2.1', { run: 'run-0' }), '#7 www A 192.0.2.1');
  expect(statesOf(takeWord([added], 'run-1', [actual('#7 www A 192.0.2.1')]).entries)).toEqual(['accepted']);
  expect(statesOf(takeWord([added], 'run-1', []).entries)).toEqual([]);
});

describe('an answer', () => {
  const view = actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.1']);
  const verdict = (entry: Entry, answer: ActualTemplate, old: readonly number[] = []): string => {
    const found = judgeAnswer(entry, view, answer, (id) => old.includes(id));
    if (found.kind !== 'accepted') return found.kind;
    const counted = found.isOnlyCounted ? ' counted' : '';
    return `#${found.record.id}${counted}${found.isWhole ? ' whole' : ''}`;
  };
  const shows = (...more: string[]) => actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.1', ...more]);
  const api = add('api A 192.0.2.3');

  test.each<[string, ActualTemplate, string]>([
    ['shows the record', shows('#7 api A 192.0.2.3'), '#7 whole'],
    ['shows it under the service’s spelling', shows('#7 api.example.net A 192.0.2.3'), '#7 whole'],
    [
      'shows one new record of the type with another content',
      shows('#7 api A 192.0.2.8'),
      '#7 counted whole',
    ],
    ['shows one new record of the content at another name', shows('#7 @ A 192.0.2.3'), '#7 counted whole'],
    ['shows another new record', shows('#7 api TXT hello'), 'unknown'],
    ['shows two, of which one is it', shows('#7 api A 192.0.2.3', '#8 x TXT hello'), '#7'],
    ['shows two others', shows('#7 x A 192.0.2.4', '#8 y A 192.0.2.5'), 'unknown'],
    ['is from before', shows(), 'unknown'],
    ['shows the record alone', actualTemplate(['#7 api A 192.0.2.3']), '#7'],
    ['lacks records, and the record', actualTemplate(['#1 @ A 192.0.2.9']), 'unknown'],
    ['is of another template', { ...shows('#7 api A 192.0.2.3'), id: 18 }, 'unknown'],
  ])('to an add that %s', (_, answer, expected) => {
    expect(verdict(api, answer)).toBe(expected);
  });

  test('to an add takes no id that was seen before', () => {
    expect(verdict(api, shows('#7 api A 192.0.2.3'), [7])).toBe('unknown');
  });

  test.each<[string, ActualTemplate, string]>([
    ['shows the change', actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.5']), '#2 whole'],
    ['shows other values', actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.6']), '#2 whole'],
    ['shows it as it was', shows(), 'unchanged'],
    ['shows the record alone', actualTemplate(['#2 www A 192.0.2.5']), '#2'],
    ['does not show the record', actualTemplate(['#1 @ A 192.0.2.9']), 'unknown'],
  ])('to an update that %s', (_, answer, expected) => {
    expect(verdict(update('#2 www A 192.0.2.1', 'www A 192.0.2.5'), answer)).toBe(expected);
  });
});
