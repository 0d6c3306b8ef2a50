import { explore } from './explore.ts';
import { play } from './play.ts';
import { playRound } from './round.ts';
import { worlds } from './worlds.ts';

/** What mutate.mjs bundles with a broken rule, and runs: `rounds SECONDS`, `world NAME`, or `world seed N`. Prints what breaks a law, if anything. */
const [how, text = ''] = process.argv.slice(2);

const inRounds = async (seconds: number): Promise<string | null> => {
  for (let seed = 1; process.cpuUsage().user < seconds * 1e6; seed += 1) {
    const { violations } = await playRound(seed);
    if (violations.length > 0) return `${violations[0]} (seed ${seed})`;
  }
  return null;
};

const inWorld = async (place: string): Promise<string | null> => {
  const [, name = place, faults = '1'] = /^(.*), (\d)$/.exec(place) ?? [];
  const world = worlds.find((one) => one.name === name);
  if (!world) throw new Error(`there is no world "${name}"`);
  const { breaches } = await explore((director) => play(world, director), world.isCalm ? 0 : Number(faults), {
    isEnough: (count) => count > 0,
  });
  const [breach] = breaches;
  const schedule = breach?.schedule.map((choice) => choice.join(' = ')).join('; ') ?? '';
  return breach ? `${breach.what[0]} (${name}${schedule && ': '}${schedule})` : null;
};

const inRound = async (seed: number): Promise<string | null> => {
  const { violations } = await playRound(seed);
  return violations.length > 0 ? `${violations[0]} (seed ${seed})` : null;
};

const [, seed] = /^seed (\d+)$/.exec(text) ?? [];
const found =
  seed !== undefined ? inRound(Number(seed)) : how === 'world' ? inWorld(text) : inRounds(Number(text));
process.stdout.write((await found) ?? '');
