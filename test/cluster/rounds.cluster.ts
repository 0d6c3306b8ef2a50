import { expect, it } from 'vitest';
import { playRounds } from '../chaos/round.ts';
import { postgresWorldStore } from './world-store.ts';

const rounds = Number(process.env['CLUSTER_ROUNDS'] ?? 4);
const first = Number(process.env['CLUSTER_SEED'] ?? 1);

it(
  'adds nothing twice and loses nothing, whatever service, processes and clocks do, and if last commits are lost',
  async () => {
    const seeds = Array.from({ length: rounds }, (_, index) => String(first + index));
    const again = (seed: string): string => `CLUSTER_ROUNDS=1 CLUSTER_SEED=${seed}`;
    const { summary, failures } = await playRounds(seeds, 2, again, postgresWorldStore);
    process.stdout.write(summary);
    expect(failures).toEqual([]);
  },
  rounds * 120_000,
);
