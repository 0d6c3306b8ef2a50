import { readFileSync } from 'node:fs';
import { explore, type Schedule } from './explore.ts';
import { play, replay } from './play.ts';
import { playRound } from './round.ts';
import { generatedWorld } from './generated.ts';
import type { SmallWorld } from './small-world.ts';
import { worlds } from './worlds.ts';

/**
 * What explore-all.mjs and mutate.mjs bundle, the latter with a broken rule, and run: without arguments worlds that a message
 * names, each to its end; `show FILE` a schedule with its trace; `rounds SECONDS` and `world NAME[, FAULTS]` what breaks a
 * law first, if anything.
 */
interface Task {
  readonly world: string;
  readonly faults: number;
}

const worldOf = (name: string): SmallWorld => {
  const seed = /^generated (\d+)$/.exec(name)?.[1];
  if (seed !== undefined) return generatedWorld(Number(seed));
  const world = worlds.find((one) => one.name === name);
  if (!world) throw new Error(`there is no world "${name}": ${worlds.map((one) => one.name).join('; ')}`);
  return world;
};

const work = async ({ world, faults }: Task): Promise<void> => {
  const begun = spent();
  let told = performance.now();
  const small = worldOf(world);
  const found = await explore((director) => play(small, director), small.isCalm ? 0 : faults, {
    onPlayed: (_played, schedules, left) => {
      if (performance.now() - told < 1_000) return;
      told = performance.now();
      process.send?.({ world, schedules, left });
    },
  });
  process.send?.({ world, isDone: true, faults, seconds: spent() - begun, ...found });
};

/** Seconds of processor time. */
const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const show = async (file: string): Promise<string> => {
  const { world, schedule }: { world: string; schedule: Schedule } = JSON.parse(readFileSync(file, 'utf8'));
  const { violations, trace } = await replay(worldOf(world), schedule);
  if (violations.length > 0) process.exitCode = 1;
  return `${trace.join('\n')}\n${violations.join('\n') || 'breaks no law'}\n`;
};

const inRounds = async (seconds: number): Promise<string> => {
  for (let seed = 1; spent() < seconds; seed += 1) {
    const { violations } = await playRound(seed);
    if (violations.length > 0) return `${violations[0]} (seed ${seed})`;
  }
  return '';
};

const inWorld = async (place: string): Promise<string> => {
  const [, name = place, faults = '1'] = /^(.*), (\d)$/.exec(place) ?? [];
  const world = worldOf(name);
  const isEnough = (count: number): boolean => count > 0;
  const { breaches } = await explore((director) => play(world, director), world.isCalm ? 0 : Number(faults), {
    isEnough,
  });
  const [breach] = breaches;
  const schedule = breach?.schedule.map((choice) => choice.join(' = ')).join('; ') ?? '';
  return breach ? `${breach.what[0]} (${name}${schedule && ': '}${schedule})` : '';
};

const tasks: Readonly<Record<string, (argument: string) => Promise<string>>> = {
  show,
  rounds: (seconds) => inRounds(Number(seconds)),
  world: inWorld,
};

const [how = '', argument = ''] = process.argv.slice(2);
if (tasks[how]) process.stdout.write(await tasks[how](argument));
else {
  process.on('message', (task: Task) => void work(task));
  process.send?.({ worlds: worlds.map(({ name, isCore }) => ({ name, isCore })) });
}
