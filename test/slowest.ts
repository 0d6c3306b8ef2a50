import type { Reporter, TestModule } from 'vitest/node';

/** Says at the end which tests took longest. */
export const slowest: Reporter = {
  onTestRunEnd: (modules) => {
    const longest = modules.flatMap(timesIn).toSorted(([a], [b]) => b - a);
    if (longest.length <= shown) return;
    process.stdout.write(`\nThe ${shown} slowest:\n`);
    for (const [milliseconds, name] of longest.slice(0, shown))
      process.stdout.write(`${(milliseconds / 1_000).toFixed(1).padStart(6)} s  ${name}\n`);
  },
};

const shown = 10;

const timesIn = (module: TestModule): [number, string][] =>
  [...module.children.allTests()].map((test) => [
    test.diagnostic()?.duration ?? 0,
    `${module.relativeModuleId} > ${test.fullName}`,
  ]);
