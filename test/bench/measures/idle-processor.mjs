import { setTimeout } from 'node:timers/promises';
import { withDaemon } from '../daemon.mjs';
import { withWorld } from '../world.mjs';

export const about = 'processor time of the idle daemon on 1,000 files';
export const target = 0.5;
export const unit = '%';

const seconds = 30;

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, ({ cwd, env }) =>
    withDaemon([], { cwd, env }, async ({ listen, passed }) => {
      const spent = async () => {
        const metrics = await (await fetch(`${listen}/metrics`)).text();
        return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)[1]);
      };
      await passed('startup');
      // V8 collects what the first pass has left once, up to two minutes after it.
      await setTimeout(120_000);
      const before = await spent();
      await setTimeout(seconds * 1_000);
      return { value: (((await spent()) - before) / seconds) * 100 };
    }),
  );
