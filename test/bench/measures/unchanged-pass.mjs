import { httpLoop } from '../http-loop.mjs';
import { median } from '../statistics.mjs';
import { withDaemon } from '../daemon.mjs';
import { withWorld } from '../world.mjs';

export const about = 'unchanged pass, 1,000 templates × 100 records, beyond the same HTTP calls';
export const target = 15;
export const unit = 'ms';
/** What a profile shows where the target is missed. */
export const why =
  'of some 16 ms, 4 write a thousand drift reports to the log, 4 look whether a thousand files have changed, 3 take in ' +
  'and compare the listing, 2 are garbage; the rest is a request that asks for the pass, and the lock and memory';

export const measure = () =>
  withWorld({ templates: 1_000, records: 100 }, ({ cwd, env, service }) =>
    withDaemon([], { cwd, env }, async ({ listen, passed, request }) => {
      await passed('startup');
      const http = httpLoop(listen, service.url);
      const [passes, calls] = [[], []];
      for (let round = -warmUp; round < rounds; round += 1) {
        const ended = passed('request');
        const started = performance.timeOrigin + performance.now();
        await request();
        const { at, status } = await ended;
        if (status !== 'in-sync') throw new Error(`the pass found ${status}`);
        const call = await http.read();
        if (round < 0) continue;
        passes.push(at - started);
        calls.push(call);
      }
      http.close();
      const [passMs, callsMs] = [median(passes), median(calls)];
      return { value: passMs - callsMs, passMs, callsMs };
    }),
  );

const warmUp = 5;
const rounds = 21;
