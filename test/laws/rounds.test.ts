import { expect, it } from 'vitest';
import { playRound } from './round.ts';

/**
 * `SIM_ROUNDS` rounds from seed `SIM_FIRST` (1); with `SIM_SEED` that one round with its trace. A round that breaks a
 * law names its seed, and the same seed plays the same round again. `SIM_ENOUGH` (10) of them end it.
 */
const { SIM_SEED, SIM_ROUNDS, SIM_FIRST, SIM_ENOUGH } = process.env;
const rounds = Number(SIM_ROUNDS ?? 100);
const first = Number(SIM_FIRST ?? 1);
const enough = Number(SIM_ENOUGH ?? 10);

it(
  'breaks no law of writing with any service, disk, clock, people and process death',
  { timeout: 7_200_000 },
  async () => {
    const failures = SIM_SEED === undefined ? await playAll() : await replay(Number(SIM_SEED));
    expect(failures).toEqual([]);
  },
);

const replay = async (seed: number): Promise<readonly string[]> => {
  const { violations, trace } = await playRound(seed, { isTraced: true });
  process.stdout.write(`${trace.join('\n')}\n`);
  return violations;
};

/** Tells a failure at once and goes on, for the sum of what is wrong; ends early where nearly everything is. */
const playAll = async (): Promise<readonly string[]> => {
  const totals = new Map<string, number>();
  const failures: string[] = [];
  let played = 0;
  while (played < rounds && failures.length < enough) {
    const seed = first + played;
    const { violations, counts } = await playRound(seed);
    played += 1;
    for (const [what, count] of counts) totals.set(what, (totals.get(what) ?? 0) + count);
    if (violations.length === 0) continue;
    const failure = `${violations.join('; ')}; replay with SIM_SEED=${seed} npx vitest run test/laws`;
    process.stdout.write(`${failure}\n`);
    failures.push(failure);
  }
  const lines = [...totals]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([what, count]) => `  ${what}: ${count}\n`);
  process.stdout.write([`${played} rounds, ${failures.length} against the law\n`, ...lines].join(''));
  return failures;
};
