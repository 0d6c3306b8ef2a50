import { expect, it } from 'vitest';
import { playRounds } from './round.ts';

const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 2);
const first = process.env['CHAOS_SEED'] ?? '1';
const lanes = Number(process.env['CHAOS_LANES'] ?? 2);

it(
  'adds nothing twice and loses nothing with any service, processes and clock',
  async () => {
    const seeds = Array.from({ length: rounds }, (_, index) => String(Number(first) + index));
    const { summary, failures } = await playRounds(
      seeds,
      lanes,
      (seed) => `CHAOS_ROUNDS=1 CHAOS_SEED=${seed}`,
    );
    process.stdout.write(summary);
    expect(failures).toEqual([]);
  },
  rounds * 60_000,
);
