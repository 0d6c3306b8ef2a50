import { expect, it } from 'vitest';
import { playRound } from './round.ts';

/**
 * `SIM_ROUNDS` rounds from seed 1; with `SIM_SEED` that one round with its trace. A round that breaks a law names
 * its seed, and the same seed plays the same round again.
 */
const { SIM_SEED, SIM_ROUNDS } = process.env;
const rounds = Number(SIM_ROUNDS ?? 2_000);

it(
  'breaks no law of writing, whatever service, disk, clock, people and process death do',
  { timeout: 7_200_000 },
  async () => {
    const failure = SIM_SEED === undefined ? await firstFailure() : await replay(Number(SIM_SEED));
    expect(failure).toBeNull();
  },
);

const replay = async (seed: number): Promise<string | null> => {
  const { violations, trace } = await playRound(seed, { isTraced: true });
  process.stdout.write(`${trace.join('\n')}\n`);
  return violations.length === 0 ? null : violations.join('\n');
};

const firstFailure = async (): Promise<string | null> => {
  const totals = new Map<string, number>();
  for (let seed = 1; seed <= rounds; seed += 1) {
    const { violations, counts } = await playRound(seed);
    for (const [what, count] of Object.entries(counts)) totals.set(what, (totals.get(what) ?? 0) + count);
    if (violations.length === 0) continue;
    const { trace } = await playRound(seed, { isTraced: true });
    return [...trace, ...violations, `replay with SIM_SEED=${seed} npx vitest run test/sim`].join('\n');
  }
  const summary = [...totals].map(([what, count]) => `${what} ${count}`).join(', ');
  process.stdout.write(`${rounds} rounds: ${summary}\n`);
  return null;
};
