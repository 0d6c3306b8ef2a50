import { readFileSync } from 'node:fs';
import { explore, type Schedule } from './explore.ts';
import { play, replay } from './play.ts';
import { generated } from './generated.ts';
import { worlds, type SmallWorld } from './worlds.ts';

/** Plays the worlds that it is told to, each to its end. Started by run.mjs. */
interface Task {
  readonly world: string;
  readonly faults: number;
}

const worldOf = (name: string): SmallWorld => {
  const world = [...worlds, ...generated].find((one) => one.name === name);
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

const show = async (file: string): Promise<void> => {
  const { world, schedule }: { world: string; schedule: Schedule } = JSON.parse(readFileSync(file, 'utf8'));
  const { violations, trace } = await replay(worldOf(world), schedule);
  process.stdout.write(`${trace.join('\n')}\n${violations.join('\n') || 'breaks no law'}\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
};

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.on('message', (task: Task) => void work(task));
  process.send?.({
    worlds: worlds.map(({ name, isCore = false }) => ({ name, isCore })),
    generated: generated.map(({ name }) => ({ name, isCore: false })),
  });
} else await show(file);
