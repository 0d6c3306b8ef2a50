import { expect, test } from 'vitest';
import type { ActualTemplate } from '../../src/model/template.ts';
import {
  acceptedAs,
  closedSets,
  judgeAnswer,
  openEntries,
  settle,
  takeWord,
  withoutContradicted,
  withoutOver,
  type Reading,
} from '../../src/reconcile/journal.ts';
import type { Entry } from '../../src/state/memory.ts';
import { actual, actualTemplate, data, keyOf } from '../plan/records.ts';
import { newEntry } from '../state/samples.ts';

/* What no law or scenario finds by itself, or not as exactly. Times are seconds; writes are sent at 0. */

const times = { settle: 10_000, unknownPause: 300_000 };

const at = (seconds: number) => ({ now: seconds * 1000, uptime: { boot: 'b', at: seconds * 1000 } });

const add = (line: string, changes: Partial<Entry> = {}): Entry => ({
  ...newEntry({ at: 0, action: 'add', after: data(line), key: keyOf(line), idsBefore: [] }),
  id: 1,
  ...changes,
});

/** `#2 www A 192.0.2.1` and what it is to become. */
const update = (before: string, after: string, changes: Partial<Entry> = {}): Entry => ({
  ...add(after),
  action: 'update',
  recordId: actual(before).id,
  before: data(before),
  ...changes,
});

const accepted = (entry: Entry, stored: string, seconds = 0): Entry =>
  acceptedAs(entry, actual(stored), at(seconds));

/** `610: #7 www A 192.0.2.1`; `610 cut` is one that lost many records. */
const readingOf = (text: string): Reading => {
  const [, seconds, cut, records = ''] = /^(\d+)( cut)?(?:: (.*))?$/.exec(text)!;
  const when = at(Number(seconds));
  const lines = records === '' ? [] : records.split(' | ');
  return { records: lines.map(actual), asked: when, read: when, isWhole: !cut };
};

/** What became of entries by the last of several readings, and the states in which they are left. */
const settled = (entries: readonly Entry[], readings: readonly string[], file: readonly string[]): string => {
  let [left, said]: [readonly Entry[], string[]] = [entries, []];
  for (const text of readings) {
    const known = { isKnown: () => false, isRemembered: () => false, desiredKeys: new Set(file.map(keyOf)) };
    const { entries: next, outcomes } = settle(left, readingOf(text), known, times);
    said = outcomes.map((one) =>
      one.kind === 'accepted' ? [one.record, ...one.copies].map(({ id }) => `#${id}`).join() : one.kind,
    );
    left = next;
  }
  const states = left.map(({ state, isOnlyCounted }) => (isOnlyCounted ? `${state}, counted` : state));
  return [...said, '=>', ...states].join(' ');
};

const www = add('www A 192.0.2.1');
const inPlace = update('#2 www A 192.0.2.1', 'www A 192.0.2.2');
const parked = accepted(update('#2 www A 192.0.2.1', '_parked-2 A 0.0.0.0'), '#2 _parked-2 A 0.0.0.0');
const back = update('#2 _parked-2 A 0.0.0.0', 'www A 192.0.2.1', { id: 2, sentAt: at(60) });
const refused = { ...www, refusedAt: at(1), error: 'no' };
const ignored = update('#2 www 60 A 192.0.2.1', 'www 300 A 192.0.2.1', { unchangedAt: at(1) });
const shop = ['www.shop A 192.0.2.1'];

test.each<[string, readonly Entry[], readonly string[], string, string[]?]>([
  ['accepted by the first reading that shows it', [www], ['30: #7 www A 192.0.2.1'], '#7 => accepted'],
  ['open until what lands last is visible', [inPlace], ['309: #2 www A 192.0.2.1'], '=> sent'],
  ['missed then', [inPlace], ['310: #2 www A 192.0.2.1'], '=> missed'],
  ['open as long as listings may be behind, if a name changes', [www], ['609'], '=> sent'],
  ['missed by one reading, which may be cut', [www], ['610'], '=> missed'],
  ['missed by two at one time', [www], ['610', '619'], '=> missed'],
  ['lost by a second one later', [add('www A 192.0.2.1', { sentAt: at(30) })], ['640', '650'], 'lost =>'],
  ['accepted in between', [www], ['610', '611: #7 www A 192.0.2.1'], '#7 => accepted'],
  ['not missed by a reading that lost many records', [www], ['610 cut'], '=> sent'],
  [
    'recognised after it failed',
    [{ ...inPlace, state: 'failed' }],
    ['320: #2 www A 192.0.2.2'],
    '#2 => accepted',
  ],
  [
    'not taken from before the write that it undoes',
    [parked, back],
    ['599: #2 www A 192.0.2.1'],
    '=> accepted sent',
  ],
  ['taken once no listing is as old', [parked, back], ['600: #2 www A 192.0.2.1'], '#2 => accepted'],
  [
    'not somebody’s of its name',
    [add('@ MX 10 mx1.example.net')],
    ['30: #7 @ MX 20 mx9.example.com'],
    '=> sent',
  ],
  ['the first of two', [www], ['30: #8 www A 192.0.2.1 | #7 www A 192.0.2.1'], '#7,#8 => accepted'],
  [
    'the one that equals it, not that of another add',
    [www, add('www.shop A 192.0.2.1', { id: 2 })],
    ['30: #7 www.shop A 192.0.2.1'],
    '#7 => sent accepted',
  ],
  ['none from before it', [{ ...www, idsBefore: [7] }], ['30: #7 www A 192.0.2.1'], '=> sent'],
  ['counted at a longer name', [www], ['30: #7 www.shop A 192.0.2.1'], '#7 => accepted, counted'],
  ['not another record of the file', [www], ['30: #7 www.shop A 192.0.2.1'], '=> sent', shop],
  ['a refusal before a reading', [refused], ['0'], '=> sent'],
  ['a refusal and a reading that lost many records', [refused], ['2 cut'], '=> sent'],
  ['a refusal by the next whole reading', [refused], ['2'], 'refused =>'],
  ['a refusal of what is there', [refused], ['2: #7 www A 192.0.2.1'], '#7 => accepted'],
  ['ignored, by the answer and a reading at once', [ignored], ['10: #2 www 60 A 192.0.2.1'], '=> sent'],
  ['ignored, by a reading later', [ignored], ['11: #2 www 60 A 192.0.2.1'], '#2 => accepted'],
  [
    'the last of equal ones, since the earlier may still land',
    [inPlace, { ...inPlace, id: 2 }],
    ['30: #2 www A 192.0.2.2'],
    '#2 => sent accepted',
  ],
  [
    'the last of two that differ by a TTL which the earlier one did not send',
    [inPlace, update('#2 www A 192.0.2.1', 'www 60 A 192.0.2.2', { id: 2 })],
    ['30: #2 www 60 A 192.0.2.2'],
    '#2 => sent accepted',
  ],
  [
    'both of equal ones of which the later had failed',
    [inPlace, { ...inPlace, id: 2, state: 'failed' }],
    ['30: #2 www A 192.0.2.2'],
    '#2 #2 => accepted accepted',
  ],
])('a write that was sent is %s', (_, entries, readings, expected, file = []) => {
  expect(settled(entries, readings, file).trim()).toBe(expected);
});

test('what was another record of the file is not what an add made, also if the file drops it later', () => {
  const [shown, known] = [
    readingOf('30: #7 www.shop A 192.0.2.1'),
    { isKnown: () => false, isRemembered: () => false },
  ];
  const first = settle([www], shown, { ...known, desiredKeys: new Set(shop.map(keyOf)) }, times);
  expect(settle(first.entries, shown, { ...known, desiredKeys: new Set() }, times).outcomes).toEqual([]);
});

const edit = accepted(inPlace, '#2 www A 192.0.2.2');
const added = accepted(www, '#7 www A 192.0.2.1');
const ttl = accepted(update('#2 www 300 A 192.0.2.2', 'www 60 A 192.0.2.2'), '#2 www 60 A 192.0.2.1');
const whole = accepted(update('#2 www 300 A 192.0.2.1', 'www 60 A 192.0.2.2'), '#2 www 60 A 192.0.2.2');
const inVain = accepted(update('#2 www 60 A 192.0.2.1', 'www 60 A 192.0.2.2'), '#2 www 300 A 192.0.2.1');
const again = accepted(back, '#2 www A 192.0.2.1', 61);

test.each<[string, readonly Entry[], number, string, string]>([
  ['an edit that an older listing lacks', [edit], 30, '#2 www A 192.0.2.1', 'behind'],
  ['an edit that it shows', [edit], 30, '#2 www A 192.0.2.2', ''],
  ['an edit over which somebody wrote', [edit], 30, '#2 www A 192.0.2.9', ''],
  ['an edit, when no listing is as old', [edit], 600, '#2 www A 192.0.2.1', ''],
  ['an add that an older listing lacks', [added], 30, '#1 @ A 192.0.2.9', 'behind'],
  ['an add, when no listing is as old', [added], 600, '#1 @ A 192.0.2.9', ''],
  ['the last of several, which is shown', [parked, again], 90, '#2 www A 192.0.2.1', ''],
  [
    'the last of several, and one before is shown',
    [parked, again],
    90,
    '#2 _parked-2 A 0.0.0.0',
    'behind,behind',
  ],
  ['what it changed, whoever changed the rest before', [ttl], 30, '#2 www 300 A 192.0.2.1', 'behind'],
  ['what it changed, and somebody the rest after', [ttl], 30, '#2 www 60 A 192.0.2.9', ''],
  ['a part of what it changed, and somebody the rest', [whole], 30, '#2 www 300 A 192.0.2.9', ''],
  ['a move, whoever changed the content before', [parked], 30, '#2 www A 192.0.2.9', 'behind'],
  ['a move, and somebody the content after', [parked], 30, '#2 _parked-2 A 192.0.2.9', ''],
  ['what was ignored, and raised the TTL', [inVain], 30, '#2 www 60 A 192.0.2.1', 'behind'],
  ['what was ignored, and somebody wrote over it', [inVain], 30, '#2 www 60 A 192.0.2.9', ''],
  ['what nobody knows', [www], 609, '#1 @ A 192.0.2.9', 'unknown'],
])('a template is settled by %s', (_, entries, seconds, shown, expected) => {
  const open = openEntries(entries, [actual(shown)], at(seconds), times);
  expect(open.map(({ isBehind }) => (isBehind ? 'behind' : 'unknown')).join()).toBe(expected);
});

test.each<[string, Entry, string[]]>([
  ['both that a rename leaves and enters', update('#2 www A 192.0.2.1', 'api A 192.0.2.1'), ['www', 'api']],
  ['that of an add', www, ['www']],
  ['none of an update in place, which can be sent again', inPlace, []],
  ['that of an update in place that the listing is behind', edit, ['www']],
])('of record sets is closed: %s', (_, entry, names) => {
  const sets = closedSets([{ entry, until: 0, isBehind: entry.state === 'accepted' }]);
  expect([...sets]).toEqual(names.map((name) => `A ${name}`));
});

test('an accepted write stays while an earlier one of its record may still appear', () => {
  const earlier = { ...inPlace, sentAt: at(550) };
  const later = accepted({ ...earlier, id: 2 }, '#2 www A 192.0.2.2');
  expect(withoutOver([earlier, later], at(600), times)).toHaveLength(2);
  expect(withoutOver([later], at(600), times)).toEqual([]);
});

test('an accepted write ends when an answer shows its record otherwise, but by a later write of ours', () => {
  const other = { ...edit, id: 9, recordId: 3 };
  const left = (entries: readonly Entry[], line: string, of: Entry) =>
    withoutContradicted(entries, actualTemplate([line]), of);
  expect(left([edit], '#2 www A 192.0.2.2', other)).toEqual([edit]);
  expect(left([edit], '#2 www A 192.0.2.1', other)).toEqual([]);
  expect(left([edit], '#2 www A 192.0.2.9', { ...edit, id: 9 })).toEqual([edit]);
  const both = [accepted(www, '#2 www A 192.0.2.1'), { ...edit, id: 9 }];
  expect(left(both, '#2 www A 192.0.2.2', both[1]!)).toEqual(both);
  expect(left(both, '#2 www A 192.0.2.2', { ...other, id: 10 })).toEqual(both);
});

test('a person takes the word of a listing for earlier runs, but for what it shows as it was stored', () => {
  const [earlier, own] = [add('a A 192.0.2.1', { run: 'run-0' }), add('b A 192.0.2.1', { run: 'run-1' })];
  const { entries, outcomes } = takeWord([earlier, own], 'run-1', []);
  expect(entries.map(({ state }) => state)).toEqual(['failed', 'sent']);
  expect(outcomes).toMatchObject([{ kind: 'lost', entry: { run: 'run-0' } }]);
  const stored = { ...added, run: 'run-0' };
  expect(takeWord([stored], 'run-1', [actual('#7 www A 192.0.2.1')]).entries).toEqual([stored]);
  expect(takeWord([stored], 'run-1', []).entries).toEqual([]);
});

const view = actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.1']);
const shows = (...more: string[]) => actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.1', ...more]);
const api = add('api A 192.0.2.3');
const changing = update('#2 www A 192.0.2.1', 'www A 192.0.2.5');

test.each<[string, Entry, ActualTemplate, string, number?]>([
  ['an add shows the record', api, shows('#7 api A 192.0.2.3'), '#7 whole'],
  ['an add spells its name otherwise', api, shows('#7 api.example.net A 192.0.2.3'), '#7 whole'],
  ['an add shows another content', api, shows('#7 api A 192.0.2.8'), '#7 counted whole'],
  ['an add shows another name', api, shows('#7 @ A 192.0.2.3'), '#7 counted whole'],
  ['an add shows another address of the same digits', api, shows('#7 api A 19.20.2.3'), '#7 counted whole'],
  ['an add shows another type of the same content', api, shows('#7 api TXT 192.0.2.3'), '#7 counted whole'],
  ['an add shows another record', api, shows('#7 api TXT hello'), 'unknown'],
  ['an add shows one more', api, shows('#7 api A 192.0.2.3', '#8 x TXT hello'), '#7'],
  ['an add shows two others', api, shows('#7 x A 192.0.2.4', '#8 y A 192.0.2.5'), 'unknown'],
  ['an add is from before', api, shows(), 'unknown'],
  ['an add shows the record alone', api, actualTemplate(['#7 api A 192.0.2.3']), '#7'],
  ['an add lacks records, and the record', api, actualTemplate(['#1 @ A 192.0.2.9']), 'unknown'],
  ['an add is of another template', api, { ...shows('#7 api A 192.0.2.3'), id: 18 }, 'unknown'],
  ['an add shows an id that was seen before', api, shows('#7 api A 192.0.2.3'), 'unknown', 7],
  ['an update shows it', changing, actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.5']), '#2 whole'],
  [
    'an update shows other values',
    changing,
    actualTemplate(['#1 @ A 192.0.2.9', '#2 www A 192.0.2.6']),
    '#2 whole',
  ],
  ['an update shows it as it was', changing, shows(), 'unchanged'],
  ['an update shows the record alone', changing, actualTemplate(['#2 www A 192.0.2.5']), '#2'],
  ['an update does not show it', changing, actualTemplate(['#1 @ A 192.0.2.9']), 'unknown'],
])('an answer to %s', (_, entry, answer, expected, old = 0) => {
  const found = judgeAnswer(entry, view, answer, (id) => id === old);
  const { kind } = found;
  const words = (verdict: Extract<typeof found, { kind: 'accepted' }>): string[] => [
    `#${verdict.record.id}`,
    ...(verdict.isOnlyCounted ? ['counted'] : []),
    ...(verdict.isWhole ? ['whole'] : []),
  ];
  expect(kind === 'accepted' ? words(found).join(' ') : kind).toBe(expected);
});
