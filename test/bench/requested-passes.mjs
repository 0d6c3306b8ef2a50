import { httpLoop } from './http-loop.mjs';
import { median } from './statistics.mjs';
import { withDaemon } from './daemon.mjs';

/** What a pass takes that is asked for while nothing changes, beyond the same HTTP calls. */
export const requestedPasses = ({ cwd, env, service }, expected) =>
  withDaemon([], { cwd, env }, async ({ listen, passed, request }) => {
    await passed('startup');
    const http = httpLoop(listen, service.url);
    const [passes, calls] = [[], []];
    for (let round = -warmUp; round < rounds; round += 1) {
      const ended = passed('request');
      const started = performance.timeOrigin + performance.now();
      await request();
      const { at, status } = await ended;
      if (status !== expected) throw new Error(`the pass found ${status}`);
      const call = await http.read();
      if (round < 0) continue;
      passes.push(at - started);
      calls.push(call);
    }
    http.close();
    const [passMs, callsMs] = [median(passes), median(calls)];
    return { value: passMs - callsMs, passMs, callsMs };
  });

const warmUp = 5;
const rounds = 21;
