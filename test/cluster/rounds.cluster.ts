import { expect, it } from 'vitest';
import { runRound, type RoundResult } from '../chaos/round.ts';
import { postgresWorldStore } from './world-store.ts';

const rounds = Number(process.env['CLUSTER_ROUNDS'] ?? 4);
const first = Number(process.env['CLUSTER_SEED'] ?? 1);

it(
  'adds nothing twice and loses nothing, whatever service, processes and clocks do, and if last commits are lost',
  async () => {
    const open = Array.from({ length: rounds }, (_, index) => String(first + index));
    const results: RoundResult[] = [];
    const lane = async (): Promise<void> => {
      for (let seed = open.shift(); seed !== undefined; seed = open.shift())
        results.push(await runRound(seed, postgresWorldStore));
    };
    await Promise.all([lane(), lane()]);
    const sums = new Map<string, number>();
    for (const { counts } of results)
      for (const [what, times] of counts) sums.set(what, (sums.get(what) ?? 0) + times);
    for (const [what, times] of [...sums].toSorted(([a], [b]) => a.localeCompare(b)))
      process.stdout.write(`  ${what}: ${times}\n`);
    const failures = results.filter(({ problems }) => problems.length > 0);
    expect(
      failures.map(({ seed, problems }) => `CLUSTER_ROUNDS=1 CLUSTER_SEED=${seed}: ${problems.join('\n  ')}`),
    ).toEqual([]);
  },
  rounds * 120_000,
);
