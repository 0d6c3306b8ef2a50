import { readFileSync, writeFileSync } from 'node:fs';
import { explore, type Schedule } from './explore.ts';
import { courseOf, play } from './play.ts';
import { worlds } from './worlds.ts';

/*
 * What both-cores.mjs bundles from either tree. `explore FAULTS ONE_OF FILE` writes down the schedules of every world, and
 * the course of each; `play FILE` plays those of such a file, and prints their courses.
 */
const main = async (): Promise<void> => {
  const [how, ...args] = process.argv.slice(2);
  const [faults = '1', share = '1', file = ''] = args;
  if (how === 'explore')
    return writeFileSync(file, (await exploreAll(Number(faults), Number(share))).join('\n'));
  for (const line of readFileSync(args[0]!, 'utf8').split('\n')) {
    const { world, schedule }: { world: string; schedule: Schedule } = JSON.parse(line);
    process.stdout.write(`${await played(world, schedule)}\n`);
  }
};

const exploreAll = async (faults: number, share: number): Promise<string[]> => {
  const lines: string[] = [];
  let count = 0;
  for (const world of worlds)
    await explore((director) => play(world, director), world.isCalm ? 0 : faults, {
      onPlayed: async ({ schedule }) => {
        count += 1;
        if (schedule.length === 0 || count % share === 0) lines.push(await played(world.name, schedule));
      },
    });
  return lines;
};

const played = async (name: string, schedule: Schedule): Promise<string> => {
  const world = worlds.find((one) => one.name === name);
  return JSON.stringify({
    world: name,
    schedule,
    ...(world ? await courseOf(world, schedule) : { left: ['the world'] }),
  });
};

await main();
