import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Publication } from '../../src/model/published.ts';
import type { OwnFiles } from '../../src/state/publisher.ts';
import type { SnapshotStore } from '../../src/state/snapshots.ts';
import { PublicationWorld, type WorldOptions } from './publication-world.ts';

// SIM_ROUNDS may be many.
vi.setConfig({ testTimeout: 1_200_000 });

const patience = 60_000;
const replicas = 3;

/** What may happen to processes while people change files. */
const happenings = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant({ kind: 'release' } as const) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('revert' as const), to: fc.nat() }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('update' as const), who: fc.nat(replicas - 1) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('restart' as const),
        who: fc.nat(replicas - 1),
        on: fc.nat(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('elect' as const), who: fc.nat(replicas - 1) }) },
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('look' as const), who: fc.nat(replicas - 1) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), time: fc.nat(2 * patience) }) },
  ),
  { minLength: 20, maxLength: 120 },
);
type Happening = (typeof happenings extends fc.Arbitrary<infer Value> ? Value : never)[number];

/** Whoever comes publishes what it has. */
const lastWriterWins = (snapshots: SnapshotStore, own: OwnFiles) => ({
  offer: async (client: string): Promise<Publication> => {
    const [head, files] = [await snapshots.head(client), await own.read()];
    if (files === null || head?.digest === files.digest) return 'same';
    if (!(await snapshots.isSource())) return 'not-source';
    await snapshots.publish(client, head?.number ?? 0, files, own.contentOf);
    return 'published';
  },
});

const play = async (events: readonly Happening[], options: WorldOptions): Promise<PublicationWorld> => {
  const world = new PublicationWorld(options, replicas);
  for (const event of events) {
    if (event.kind === 'release') world.release();
    else if (event.kind === 'revert') world.release(event.to % (world.latest.at + 1));
    else if (event.kind === 'elect') world.elect(event.who);
    else if (event.kind === 'look') await world.look(event.who);
    else if (event.kind === 'wait') await waitFor(world, event.time, options);
    else if (event.kind === 'update') {
      if (!options.hasGit) await world.look(event.who);
      world.update(event.who);
    } else if (options.hasGit || (await mayRestart(world, event.who))) {
      world.boot(event.who, event.on % (world.latest.at + 1));
    }
  }
  return world;
};

/*
 * Git knows the order of files by itself. Without it processes have to know it: each looks at its files between two
 * changes, and while one is started on old ones, there is another that has the published ones, and says so in time.
 */

const mayRestart = async (world: PublicationWorld, who: number): Promise<boolean> => {
  const published = world.published.at(-1)?.release;
  const others = [0, 1, 2].filter((other) => other !== who && world.has(other) === published);
  for (const other of others) await world.look(other);
  return others.length > 0;
};

const waitFor = async (world: PublicationWorld, time: number, { hasGit }: WorldOptions): Promise<void> => {
  for (let left = time; left > 0; left -= patience / 4) {
    world.now += Math.min(left, patience / 4);
    if (!hasGit) for (let who = 0; who < replicas; who += 1) await world.look(who);
  }
};

const rounds = Number(process.env['SIM_ROUNDS'] ?? 300);

describe.each([true, false])('files that are published, with git: %s', (hasGit) => {
  it('never go back, through rolling updates, reverts and restarts on old files', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (events) => {
        const world = await play(events, { hasGit, patience });
        expect(world.timesBack).toBe(0);
      }),
      { numRuns: rounds },
    );
  });

  it('are those of the latest release once all have them', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (events) => {
        const world = await play(events, { hasGit, patience });
        world.release();
        for (let who = 0; who < replicas; who += 1) world.update(who);
        for (let who = 0; who < replicas; who += 1) await world.look(who);
        world.elect(0);
        for (let count = 0; count < 3; count += 1) {
          await world.look(0);
          world.now += patience;
        }
        expect(world.published.at(-1)?.release).toBe(world.latest);
      }),
      { numRuns: rounds },
    );
  });

  it('would go back if the last writer won', async () => {
    const seed = 1;
    let back = 0;
    for (const events of fc.sample(happenings, { numRuns: rounds, seed })) {
      const world = await play(events, { hasGit, patience, open: lastWriterWins });
      if (world.timesBack > 0) back += 1;
    }
    process.stdout.write(`the last writer wins, git ${hasGit}: went back in ${back} of ${rounds} worlds\n`);
    expect(back).toBeGreaterThan(0);
  });
});
