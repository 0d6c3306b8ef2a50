import { expect, it } from 'vitest';
import { explore, type Schedule } from './explore.ts';
import { play, replay } from './play.ts';
import { worlds } from './worlds.ts';

const named = (name: string): (typeof worlds)[number] => worlds.find((one) => one.name === name)!;

it.each(worlds)('breaks no law where all goes well: $name', async (world) => {
  expect((await explore((director) => play(world, director), 0)).breaches).toEqual([]);
});

it.each(worlds.filter(({ name }) => name === 'a record'))(
  'breaks no law in any schedule with one fault: $name',
  async (world) => {
    const { breaches, schedules } = await explore((director) => play(world, director), 1);
    expect(breaches).toEqual([]);
    expect(schedules).toBeGreaterThan(50);
  },
);

/** That broke a law once. */
const mended: readonly (readonly [world: string, schedule: Schedule])[] = [
  [
    'a record added, retry at once',
    [
      ['pass 1: add A www 192.0.2.1', 'lost-late'],
      ['pass 2: add A www 192.0.2.1', 'rate-limited'],
    ],
  ],
  [
    'mode edits',
    [
      ['pass 2: save on disk', 'the disk is full'],
      ['pass 3: the listing is behind us', 'yes'],
      ['pass 3: the listing is behind us (2)', 'yes'],
    ],
  ],
  [
    'an A becomes a CNAME and an A again, park',
    [
      ['pass 1: add A www 192.0.2.1', 'lost-before'],
      ['pass 2: until then', 'an hour'],
      ['pass 3: until then', 'an hour'],
      ['pass 3: add A www 192.0.2.1', 'refused'],
    ],
  ],
  [
    'an A becomes a CNAME and an A again, park',
    [
      ['pass 2: add CNAME www web.example.org', 'refused'],
      ['pass 2: the process dies after update (2)', 'true'],
    ],
  ],
  ['the panel writes placeholders', [['pass 1: the listing shows', 'nothing']]],
  ['a name with a placeholder in the panel is added to the file', [['pass 2: the listing shows', 'nothing']]],
];

it.each(mended)('breaks no law any more: %s, %j', async (world, schedule) => {
  const { trace, violations } = await replay(named(world), schedule);
  expect(violations).toEqual([]);
  expect(trace.filter((line) => line.startsWith('(there was no'))).toEqual([]);
});

it('plays a schedule again by its words', async () => {
  const { trace, violations } = await replay(named('a record'), [
    ['pass 1: the process dies after begin', 'true'],
    ['pass 2: the listing', 'unavailable,502'],
  ]);
  expect(violations).toEqual([]);
  expect(trace.filter((line) => /dies after begin|unavailable 502/.test(line))).toHaveLength(2);
});

it('names what cannot be chosen', async () => {
  const { violations } = await replay(named('a record'), [['pass 1: the listing', 'late']]);
  expect(violations.join()).toContain('pass 1: the listing cannot be late, but unavailable,');
});
