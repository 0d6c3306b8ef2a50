import { createHash } from 'node:crypto';
import { readCourses, take } from './courses.ts';
import { explore, type Planned } from './explore.ts';
import { play, replay } from './play.ts';
import { storyOf } from './story.ts';
import { worlds, type SmallWorld } from './worlds.ts';

/*
 * What teeth.mjs bundles, as it is and with broken rules, and a process of teeth-worker.mjs calls.
 */

export interface Played extends Planned {
  readonly world: string;
}

/** Plays the courses, then every world as test:model does, and tells a third of what was played, with a digest of its course. */
export const playAll = async (
  { courses, faults, coreFaults }: { courses: string; faults: number; coreFaults: number },
  onPlayed: (played: Played & { readonly course?: string }, isCourse: boolean) => Promise<void>,
): Promise<void> => {
  for (const course of readCourses(courses)) await onPlayed({ ...course, ...(await take(course)) }, true);
  for (const world of worlds)
    await explore((director) => play(world, director), mostIn(world, world.isCore ? coreFaults : faults), {
      onPlayed: async (planned) => {
        const played = { ...planned, world: world.name };
        if (planned.faults > 0 && isOfSample(played))
          await onPlayed({ ...played, course: (await courseOf(played)).digest }, false);
      },
    });
};

const isOfSample = (played: Played): boolean =>
  Number.parseInt(hashOf(lineOf(played)).slice(0, 6), 16) % 3 === 0;

const mostIn = ({ isCalm }: SmallWorld, faults: number): number => (isCalm ? 0 : faults);

const courseOf = async ({
  world,
  schedule,
}: Played): Promise<{ digest: string; violations: readonly string[] }> => {
  const { trace, violations } = await replay(worldOf(world), schedule);
  return { digest: hashOf(storyOf(trace).join('\n')), violations };
};

const worldOf = (name: string): SmallWorld => worlds.find((one) => one.name === name)!;

const hashOf = (text: string): string => createHash('sha1').update(text).digest('hex');

export interface Task {
  /** The text of courses.golden.txt, and the numbers of those in which the broken code runs. */
  readonly courses: string;
  readonly coursesToTake: readonly number[];
  /** Of the unbroken product, with a fault or more: those in which the broken code runs, with their courses. */
  readonly schedules: readonly (Played & { readonly course: string })[];
  /** Of processor time. */
  readonly seconds: number;
}

/** `course`: it breaks no law, and takes another course than the product. */
type Found = Played & { readonly by: 'law' | 'course'; readonly what: string };

/** A schedule in which a broken product shows itself, at best by a law; `others`: some that would be courses that differ. */
export const look = async (
  task: Task,
): Promise<{ found: Found | null; others: readonly Played[]; seconds: number; isWhole: boolean }> => {
  const course = (await inCourses(task, true)) ?? (await inCourses(task, false));
  if (course?.by === 'law') return { found: course, others: [], seconds: spent(), isWhole: true };
  // What a course shows is found: it is only looked for a law for a while.
  const until = spent() + (course ? task.seconds / 4 : task.seconds);
  const sampled = await inSchedules(task, until, course ? 5 : 40);
  const law =
    sampled.found ?? (await nearby([...(course ? [course] : []), ...sampled.others], task.seconds / 4));
  return { ...sampled, found: law ?? course, seconds: spent() };
};

/** The law that one of them breaks; else the first that differs. `isCalm`: of those where all goes well, or of the others. */
const inCourses = async (task: Task, isCalm: boolean): Promise<Found | null> => {
  let course: Found | null = null;
  const courses = readCourses(task.courses).filter(
    ({ schedule }, index) => task.coursesToTake.includes(index) && (schedule.length === 0) === isCalm,
  );
  const end = isCalm ? Infinity : spent() + task.seconds;
  for (const { world, schedule, told } of courses) {
    if (spent() > end) break;
    const { told: now, violations, faults } = await take({ world, schedule });
    if (violations.length > 0) return { world, schedule, faults, by: 'law', what: violations[0]! };
    const other = [...now, ''].find((line, index) => line !== (told[index] ?? ''));
    if (other !== undefined) course ??= { world, schedule, faults, by: 'course', what: other.trim() };
    if (course) return course;
  }
  return course;
};

/** In the same order for every rule, so that one course may show many. */
const inSchedules = async (
  task: Task,
  until: number,
  enough: number,
): Promise<{ found: Found | null; others: readonly Played[]; isWhole: boolean }> => {
  const others: Played[] = [];
  const inOrder = task.schedules
    .map((played) => ({ ...played, place: hashOf(lineOf(played)) }))
    .toSorted((a, b) => a.faults - b.faults || (a.place < b.place ? -1 : 1));
  for (const { world, schedule, faults, course } of inOrder) {
    if (spent() > until) return { found: null, others, isWhole: false };
    const { digest, violations } = await courseOf({ world, schedule, faults });
    const [what] = violations;
    if (what !== undefined)
      return { found: { world, schedule, faults, by: 'law', what }, others, isWhole: true };
    if (digest !== course && others.push({ world, schedule, faults }) >= enough)
      return { found: null, others, isWhole: false };
  }
  return { found: null, others, isWhole: true };
};

const lineOf = ({ world, schedule }: Played): string =>
  [world, schedule.map((choice) => choice.join(' = ')).join('; ')].filter(Boolean).join(': ');

/** A law that is broken with one fault more than where the course differs. */
const nearby = async (others: readonly Played[], seconds: number): Promise<Found | null> => {
  const until = spent() + seconds;
  const start = others.slice(0, 5);
  for (const [index, { world, schedule, faults }] of start.entries()) {
    const small = worldOf(world);
    const share = spent() + Math.max(0, until - spent()) / (start.length - index);
    const most = Math.min(2, mostIn(small, faults + 1));
    const { breaches } = await explore((director) => play(small, director), most, {
      start: [{ schedule, faults }],
      isEnough: (count) => count > 0 || spent() > share,
    });
    const [breach] = breaches;
    if (breach) return { world, ...breach, by: 'law', what: breach.what[0]! };
  }
  return null;
};

const begun = process.cpuUsage();

/** Seconds of processor time. */
const spent = (): number => {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
};
