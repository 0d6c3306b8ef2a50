import { expect, it } from 'vitest';
import { coursesFile, readCourses, take } from './courses.ts';
import { explore } from './explore.ts';
import { play, replay } from './play.ts';
import { worlds } from './worlds.ts';

const named = (name: string): (typeof worlds)[number] => worlds.find((one) => one.name === name)!;

it('does the same as ever where all goes well, and after single faults', async () => {
  const courses = readCourses();
  expect(courses.map(({ line }) => line)).toEqual(expect.arrayContaining(worlds.map(({ name }) => name)));
  const text = [];
  for (const course of courses) {
    const { told, violations } = await take(course);
    expect({ line: course.line, violations }).toEqual({ line: course.line, violations: [] });
    text.push([course.line, ...told, ''].join('\n'));
  }
  await expect(text.join('\n')).toMatchFileSnapshot(coursesFile);
}, 300_000);

it.each(worlds.filter(({ name }) => name === 'a record'))(
  'breaks no law in any schedule with one fault: $name',
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
