import { expect, it } from 'vitest';
import { runRound, type RoundResult } from './round.ts';

const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 2);
const firstSeed = process.env['CHAOS_SEED'] ?? '1';
/** In parallel: each round mostly waits. */
const lanes = Number(process.env['CHAOS_LANES'] ?? 2);

it(
  'adds nothing twice and loses nothing with any service, processes and clock',
  async () => {
    const open = Array.from({ length: rounds }, (_, index) => seedAt(index));
    const results: RoundResult[] = [];
    const lane = async (): Promise<void> => {
      for (let seed = open.shift(); seed !== undefined; seed = open.shift())
        results.push(await runRound(seed));
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    process.stdout.write(summaryOf(results));
    const failures = results.filter(({ problems }) => problems.length > 0);
    expect(
      failures.map(({ seed, problems }) => `CHAOS_ROUNDS=1 CHAOS_SEED=${seed}: ${problems.join('\n  ')}`),
    ).toEqual([]);
  },
  rounds * 60_000,
);

/** A number counts on from itself; anything else is a single seed and its followers. */
const seedAt = (index: number): string =>
  /^\d+$/.test(firstSeed)
    ? String(Number(firstSeed) + index)
    : index === 0
      ? firstSeed
      : `${firstSeed}-${index}`;

const summaryOf = (results: readonly RoundResult[]): string => {
  const sums = new Map<string, number>();
  for (const { counts } of results)
    for (const [what, times] of counts) sums.set(what, (sums.get(what) ?? 0) + times);
  const lines = [...sums]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([what, times]) => `  ${what}: ${times}\n`);
  return [`${results.length} rounds\n`, ...lines].join('');
};
