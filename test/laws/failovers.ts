import { noChanges, type Memory } from '../../src/state/memory.ts';
import { mostLost, type Disk } from './disk.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/**
 * The state in PostgreSQL, which several processes share: now and then a standby takes over that lacks the last
 * commits. What a pass learns of that is what `src/cluster/store.ts` says.
 */
export interface Failovers {
  /** Draws apart from the round, which stays the same without failovers. */
  readonly random: Random;
  /** Of each statement, from 0 to 1; 0 in rounds without failovers. */
  chance: number;
  /** Whether one has taken over, and no pass has noticed. */
  isNew: boolean;
  /** Processes that share the state. */
  readonly processes: number;
  /** Perhaps one takes over now. */
  readonly strike: () => boolean;
  /** The machine of a process that died may have been that of the database, too. */
  readonly strikeAfterDeath: () => void;
  /** At the start of a writing pass: why there may be adds that nobody remembers; null if there can be none. */
  readonly notice: (memory: Memory, pause: number) => Promise<string | null>;
}

export const failoversIn = (world: World, disk: Disk, random: Random, onLoss: () => void): Failovers => {
  const isShared = random.chance(0.3);
  let quietUntil = -Infinity;
  const takeOver = (): void => {
    const commits = random.below(mostLost);
    world.note(() => `  ! a standby takes over that lacks ${commits} commits`);
    disk.loseLast(commits);
    failovers.isNew = true;
    onLoss();
  };
  const failovers: Failovers = {
    random,
    chance: isShared ? 0.02 : 0,
    isNew: false,
    processes: isShared ? 1 + random.below(3) : 1,
    strike: () => {
      if (failovers.chance === 0 || !random.chance(failovers.chance)) return false;
      takeOver();
      return true;
    },
    strikeAfterDeath: () => {
      if (failovers.chance > 0 && random.chance(0.5)) takeOver();
    },
    notice: async (memory, pause) => {
      if (failovers.isNew) {
        failovers.isNew = false;
        quietUntil = world.time + pause;
        for (const row of await memory.templates())
          await memory.save({ ...noChanges, row: { ...row, lastReading: null } });
      }
      return world.time < quietUntil ? 'PostgreSQL failed over to another server' : null;
    },
  };
  return failovers;
};
