import { randomOf } from '../sim/random.ts';
import { readCourses, take } from './courses.ts';
import { explore, type Planned, type Schedule } from './explore.ts';
import { play } from './play.ts';
import { worlds, type SmallWorld } from './worlds.ts';

/*
 * What teeth.mjs bundles, as it is and with broken rules, and a process of teeth-worker.mjs calls.
 */

export interface Played extends Planned {
  readonly world: string;
}

/** Plays the courses, then every world as test:model does, and tells what was played. */
export const playAll = async (
  { courses, faults, coreFaults }: { courses: string; faults: number; coreFaults: number },
  onPlayed: (played: Played, isCourse: boolean) => Promise<void>,
): Promise<void> => {
  for (const course of readCourses(courses)) await onPlayed({ ...course, ...(await take(course)) }, true);
  for (const world of worlds)
    await explore((director) => play(world, director), mostIn(world, world.isCore ? coreFaults : faults), {
      onPlayed: (played) => onPlayed({ ...played, world: world.name }, false),
    });
};

const mostIn = ({ isCalm }: SmallWorld, faults: number): number => (isCalm ? 0 : faults);

export interface Task {
  /** The text of courses.golden.txt, and the numbers of those in which the broken code runs. */
  readonly courses: string;
  readonly coursesToTake: readonly number[];
  /** Those of the unbroken product, by world; `reaches`: whether the broken code runs in it. */
  readonly schedules: Readonly<Record<string, readonly (Planned & { readonly reaches: boolean })[]>>;
  /** At most; in core worlds as many as `schedules` has. */
  readonly faults: number;
  /** Of processor time. */
  readonly seconds: number;
}

/** `course`: it breaks no law, and takes another course than the product. */
type Found = Played & { readonly by: 'law' | 'course'; readonly what: string };

/** A schedule in which a broken product shows itself, at best by a law. */
export const look = async (
  task: Task,
): Promise<{ found: Found | null; seconds: number; isWhole: boolean }> => {
  const courses = readCourses(task.courses).filter((_course, index) => task.coursesToTake.includes(index));
  let course: Found | null = null;
  /** The law that one of them breaks; else the first that differs is kept. */
  const inCourses = async (isCalm: boolean): Promise<Found | null> => {
    for (const { world, schedule, told } of courses) {
      if ((schedule.length === 0) !== isCalm) continue;
      const { told: now, violations, faults } = await take({ world, schedule });
      if (violations.length > 0) return { world, schedule, faults, by: 'law', what: violations[0]! };
      const other = [...now, ''].find((line, index) => line !== (told[index] ?? ''));
      if (other !== undefined) course ??= { world, schedule, faults, by: 'course', what: other.trim() };
    }
    return null;
  };
  let found = await inCourses(true);
  for (let most = 0; most <= task.faults && !found && !isLate(task); most += 1)
    found = await byExploring(task, most);
  if (!found && !course) found = await inCourses(false);
  return { found: found ?? course, seconds: spent(), isWhole: found !== null || !isLate(task) };
};

/** The worlds with the fewest schedules first, each for its share of the time that is left. */
const byExploring = async (task: Task, most: number): Promise<Found | null> => {
  const open = worlds
    .filter(({ isCalm, isCore }) => most === 0 || (!isCalm && (most === 1 || isCore)))
    .map((world) => {
      const known = (task.schedules[world.name] ?? []).filter(({ faults }) => faults <= most);
      return { world, known, start: known.filter(({ reaches }) => reaches) };
    })
    .filter(({ start }) => start.some(({ faults }) => faults === most))
    .toSorted((a, b) => a.start.length - b.start.length);
  for (const [index, { world, known, start }] of open.entries()) {
    const until = spent() + Math.max(0, task.seconds - spent()) / (open.length - index);
    const keys = new Set(known.map(({ schedule }) => keyOf(schedule)));
    const { breaches } = await explore((director) => play(world, director), most, {
      start: randomOf(1).shuffled(start),
      isKnown: (schedule) => keys.has(keyOf(schedule)),
      isEnough: (count) => count > 0 || spent() > until,
    });
    const [breach] = breaches;
    if (breach) return { world: world.name, ...breach, by: 'law', what: breach.what[0]! };
  }
  return null;
};

const keyOf = (schedule: Schedule): string => JSON.stringify(schedule);

const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const isLate = ({ seconds }: Task): boolean => spent() > seconds;
