import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig, type Plugin } from 'vitest/config';
import { Order } from './order.ts';
import { slowest } from './slowest.ts';

/** A folder in memory where there is one with room, in which programs may run: most of what tests wait for is a disk. */
const memory = (folder = '/dev/shm'): Record<string, string> => {
  if (!existsSync(folder) || !existsSync('/proc/mounts')) return {};
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.includes(` ${folder} `));
  const { bavail, bsize } = statfsSync(folder);
  const isFit = mount !== undefined && !mount.includes('noexec') && bavail * bsize > 2 ** 30;
  return isFit ? { TMPDIR: folder } : {};
};

/**
 * A text of scenarios is a file of tests. Those of `test/world` are what other people stumbled over, each named after its public
 * report; the inputs are our own.
 */
const scenarios: Plugin = {
  name: 'scenarios',
  enforce: 'pre',
  load: (file) =>
    file.endsWith('.txt')
      ? `import { playTheme } from '${path.resolve('test/scenarios/theme.ts')}'; playTheme('${file}');`
      : null,
};

/**
 * What `npm test` runs: with room for a slow machine, and the same properties each time. Many tests wait, for
 * timers and for processes, so there is one worker more than processors; and no file needs modules of its own, so each
 * worker loads the built program once. The collector has no threads of its own: on two processors they cost a sixth of all and gain nothing.
 */
export default defineConfig({
  plugins: [scenarios],
  test: {
    include: ['test/**/*.test.ts', 'test/{scenarios,world}/*.txt'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ['test/seed.ts'],
    env: memory(),
    isolate: false,
    sequence: { sequencer: Order },
    reporters: ['default', slowest],
    execArgv: ['--single-threaded-gc'],
    maxWorkers: availableParallelism() + 1,
  },
});
