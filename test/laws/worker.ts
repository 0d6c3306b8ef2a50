import { readFileSync } from 'node:fs';
import { explore, type Schedule } from './explore.ts';
import { play, replay } from './play.ts';
import { playRound } from './round.ts';
import { generatedWorld } from './generated.ts';
import type { SmallWorld } from './small-world.ts';
import { worlds } from './worlds.ts';

/*
 * What explore-all.mjs and mutate.mjs bundle, the latter with a broken rule, and run: a task and its argument.
 */

const worldOf = (name: string): SmallWorld => {
  const seed = /^generated (\d+)$/.exec(name)?.[1];
  if (seed !== undefined) return generatedWorld(Number(seed));
  const world = worlds.find((one) => one.name === name);
  if (!world) throw new Error(`there is no world "${name}": ${worlds.map((one) => one.name).join('; ')}`);
  return world;
};

/** Worlds to their end. */
const inWhole = async (batch: string): Promise<string> => {
  const tasks: readonly { world: string; faults: number }[] = JSON.parse(batch);
  const all = [];
  for (const { world, faults } of tasks) {
    const begun = spent();
    const small = worldOf(world);
    const found = await explore((director) => play(small, director), small.isCalm ? 0 : faults);
    all.push({ world, faults, seconds: spent() - begun, ...found });
  }
  return JSON.stringify(all);
};

/** Seconds of processor time. */
const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** A schedule, with its trace. */
const show = async (file: string): Promise<string> => {
  const { world, schedule }: { world: string; schedule: Schedule } = JSON.parse(readFileSync(file, 'utf8'));
  const { violations, trace } = await replay(worldOf(world), schedule);
  const text = `${trace.join('\n')}\n${violations.join('\n') || 'breaks no law'}\n`;
  return JSON.stringify({ isBreach: violations.length > 0, text });
};

/** What breaks a law first in so many seconds, if anything; and in a world, as in `a record, 2`. */
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
  const { breaches } = await explore(
    (director) => play(world, director),
    world.isCalm ? 0 : Number(faults),
    1,
  );
  const [breach] = breaches;
  const schedule = breach?.schedule.map((choice) => choice.join(' = ')).join('; ') ?? '';
  return breach ? `${breach.what[0]} (${name}${schedule && ': '}${schedule})` : '';
};

const tasks: Readonly<Record<string, (argument: string) => Promise<string> | string>> = {
  worlds: () => JSON.stringify(worlds.map(({ name, isCore }) => ({ name, isCore }))),
  explore: inWhole,
  show,
  rounds: (seconds) => inRounds(Number(seconds)),
  world: inWorld,
};

const [task = '', argument = ''] = process.argv.slice(2);
process.stdout.write(await tasks[task]!(argument));
