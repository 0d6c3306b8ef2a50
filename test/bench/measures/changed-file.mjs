import { httpLoop } from '../http-loop.mjs';
import { median } from '../statistics.mjs';
import { withDaemon } from '../daemon.mjs';
import { withWorld } from '../world.mjs';

export const about = 'pass after one record of one of 1,000 files changed, beyond the same HTTP calls';
export const target = 40;
export const unit = 'ms';
/** What a profile shows where the target is missed. */
export const why =
  'of some 75 ms, the calls among them, 15 look at a thousand files once more after the one that changed was read, 15 ' +
  'understand that one, most of it in `yaml`, 8 put all templates together anew, 15 take in and keep the listing, which ' +
  'all of that delays, and 12 write and remember';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, ({ cwd, env, service, wanted, write }) =>
    withDaemon([], { cwd, env }, async ({ listen, passed }) => {
      await passed('startup');
      const http = httpLoop(listen, service.url);
      const [passes, calls] = [[], []];
      for (let round = -warmUp; round < rounds; round += 1) {
        const ended = passed('file-change');
        const content = `198.51.100.${round + warmUp}`;
        await write(
          500,
          wanted.map((record, index) => (index === 50 ? { ...record, type: 'A', content } : record)),
        );
        const { durationMs, status } = await ended;
        if (status !== 'in-sync') throw new Error(`the pass left ${status}`);
        const call = (await http.read()) + (await http.write(content));
        if (round < 0) continue;
        passes.push(durationMs);
        calls.push(call);
      }
      http.close();
      const [passMs, callsMs] = [median(passes), median(calls)];
      return { value: passMs - callsMs, passMs, callsMs };
    }),
  );

const warmUp = 5;
const rounds = 21;
