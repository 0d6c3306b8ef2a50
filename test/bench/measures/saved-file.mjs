import { median } from '../statistics.mjs';
import { withDaemon } from '../daemon.mjs';
import { withWorld } from '../world.mjs';

export const about = 'from a saved file to the first write at the service';
export const target = 400;
export const unit = 'ms';

export const measure = () =>
  withWorld({ templates: 10, records: 20 }, ({ cwd, env, service, wanted, write }) =>
    withDaemon([], { cwd, env }, async ({ passed }) => {
      await passed('startup');
      const all = [];
      for (let round = 0; round < 11; round += 1) {
        const [ended, written] = [passed('file-change'), service.written()];
        const content = `198.51.100.${round}`;
        const savedAt = await write(5, [{ ...wanted[0], content }, ...wanted.slice(1)]);
        all.push((await written) - savedAt);
        await ended;
      }
      return { value: median(all), all };
    }),
  );
