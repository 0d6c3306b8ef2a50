import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { explore } from './explore.ts';
import { play, replay } from './play.ts';
import { worlds } from './worlds.ts';

const named = (name: string): (typeof worlds)[number] => worlds.find((one) => one.name === name)!;

it('breaks no law in any world where all goes well', async () => {
  for (const world of worlds) {
    const { breaches } = await explore((director) => play(world, director), 0);
    expect({ world: world.name, breaches }).toEqual({ world: world.name, breaches: [] });
  }
});

// .ci/run plays all of them, and those of the core with two.
it.each(['a record', 'first contact', 'somebody removes it', 'a template is suspended meanwhile'].map(named))(
  'breaks no law in any schedule with one fault: $name',
  { timeout: 600_000 },
  async (world) => {
    const { breaches, schedules } = await explore((director) => play(world, director), 1);
    expect(breaches).toEqual([]);
    expect(schedules).toBeGreaterThan(50);
  },
);

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

it('finds the text of each break once', () => {
  const lines = readFileSync('test/laws/mutations.txt', 'utf8').split('\n');
  const breaks = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const isOnce = (line: string): boolean => {
    const [, file = '', from = ''] = line.split(' | ');
    return readFileSync(file, 'utf8').split(from).length === 2;
  };
  expect(breaks.filter((line) => !isOnce(line))).toEqual([]);
  expect(breaks.length).toBeGreaterThan(50);
});
