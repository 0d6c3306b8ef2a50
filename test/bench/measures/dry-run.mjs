import { setTimeout } from 'node:timers/promises';
import { withDaemon } from '../daemon.mjs';
import { median } from '../statistics.mjs';
import { usageOf } from '../usage.mjs';
import { withWorld } from '../world.mjs';

export const about = 'passes of a daemon that only reports, 1,000 templates × 100 records';

export const rows = {
  unchanged: { about: 'its processor time a pass while nothing changes', target: 100, unit: 'ms' },
  differing: { about: 'the same where each template has a difference', target: 200, unit: 'ms' },
  changed: { about: 'from a changed file to the end of its pass', target: 300, unit: 'ms' },
  untold: {
    about: 'from the start of a pass to its end, beyond what it says it took',
    target: 20,
    unit: 'ms',
  },
  memory: {
    about: 'its resident memory right after its passes',
    target: 200,
    unit: 'MiB',
    why: '80 MiB are live objects and 60 the program; the rest is what the first pass left, which V8 collects within a minute',
  },
  'memory at rest': { about: 'its resident memory 75 seconds later', target: 200, unit: 'MiB' },
};

export const measure = async () => {
  const same = await passesOf(0);
  const { processorMs: differing } = await passesOf(1_000);
  return { ...same, unchanged: same.processorMs, differing };
};

const rounds = 11;

const passesOf = (differing) =>
  withWorld({ templates: 1_000, records: 100 }, async ({ cwd, env, wanted, write }) => {
    const edited = (content) => wanted.with(50, { ...wanted[50], type: 'A', content });
    for (let index = 0; index < differing; index += 1) await write(index, edited('198.51.100.1'));
    return withDaemon(['--dry-run'], { cwd, env }, async ({ child, begun, passed, request }) => {
      const ask = async () => void (await request());
      const pass = async (trigger, start) => {
        const before = usageOf(child.pid).cpu;
        const started = (await start()) ?? performance.timeOrigin + performance.now();
        const { at: began } = await begun(trigger);
        const { at, durationMs } = await passed(trigger);
        // What is cleared away after it is of the pass, too.
        await setTimeout(100);
        const processorMs = (usageOf(child.pid).cpu - before) * 1_000;
        return { processorMs, wallMs: at - started, untoldMs: at - began - durationMs };
      };
      await passed('startup');
      // The first one notes what it sees, the second finds nothing new.
      await pass('request', ask);
      const [still, changed] = [[], []];
      for (let round = 0; round < rounds; round += 1) still.push(await pass('request', ask));
      for (let round = 0; round < rounds; round += 1)
        changed.push(await pass('file-change', () => write(500, edited(`203.0.113.${round}`))));
      const { memory } = usageOf(child.pid);
      if (differing === 0) await setTimeout(75_000);
      return {
        processorMs: median(still.map((one) => one.processorMs)),
        changed: median(changed.map((one) => one.wallMs)),
        untold: median(still.map((one) => one.untoldMs)),
        memory,
        'memory at rest': usageOf(child.pid).memory,
      };
    });
  });
