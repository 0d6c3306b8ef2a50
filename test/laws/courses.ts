import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Schedule } from './explore.ts';
import { replay } from './play.ts';
import { storyOf } from './story.ts';
import { worlds } from './worlds.ts';

/*
 * courses.golden.txt has schedules, each with what the product does in it: that every world ends well where all goes well,
 * that a fault is mended as soon as it may be, and what is reported meanwhile. A new one is a line there, `WORLD` or
 * `WORLD: pass N: WHAT = CHOSEN; ...`.
 */

export interface Course {
  /** Its line in the file. */
  readonly line: string;
  readonly world: string;
  readonly schedule: Schedule;
  readonly told: readonly string[];
}

export const coursesFile = path.join(import.meta.dirname, 'courses.golden.txt');

export const readCourses = (text = readFileSync(coursesFile, 'utf8')): Course[] =>
  text
    .split(/\n(?=\S)/)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [line = '', ...told] = part.trimEnd().split('\n');
      const world = line.split(': pass ')[0]!;
      return { line, world, schedule: scheduleOf(line.slice(world.length + 2)), told };
    });

const scheduleOf = (text: string): Schedule =>
  text === ''
    ? []
    : text.split('; ').map((choice) => {
        const [what = '', chosen = ''] = choice.split(' = ');
        return [what, chosen];
      });

/** What is told of it now, and the laws that it breaks. */
export const take = async ({ world, schedule }: Pick<Course, 'world' | 'schedule'>) => {
  const small = worlds.find(({ name }) => name === world);
  if (!small) throw new Error(`courses.golden.txt: there is no world "${world}"`);
  const { trace, violations, faults } = await replay(small, schedule);
  const left = trace.filter((line) => line.startsWith('(there was no'));
  return { told: [...storyOf(trace), ...left], violations, faults };
};
