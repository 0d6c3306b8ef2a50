import { withDaemon } from '../daemon.mjs';
import { median } from '../statistics.mjs';
import { usageOf } from '../usage.mjs';
import { withClients } from '../world.mjs';

export const about = 'passes of many clients in one state directory, each of 3 templates × 10 records';

export const rows = {
  300: { about: 'processor time of an unchanged pass, 300 clients', target: 4, unit: 'ms' },
  1000: { about: 'the same, 1,000 clients', target: 5, unit: 'ms' },
  pass: { about: 'time of a pass where 1,000 clients are asked for one at once', target: 10, unit: 'ms' },
  memory: { about: 'resident memory with 1,000 clients', target: 300, unit: 'MiB' },
  'first round': { about: 'from the start until 1,000 new clients have had a pass', target: 15, unit: 's' },
};

export const measure = async () => {
  const few = await passesOf(300);
  const many = await passesOf(1_000);
  return { 300: few.processorMs, 1000: many.processorMs, pass: many.passMs, ...many };
};

const rounds = 5;

const passesOf = (clients) =>
  withClients(clients, { templates: 3, records: 10 }, ({ cwd, env }) => {
    const started = performance.now();
    return withDaemon([], { cwd, env }, async ({ child, passed, request }) => {
      const all = async (trigger) => {
        for (let count = 0; count < clients; count += 1) await passed(trigger);
      };
      await all('startup');
      const firstRound = (performance.now() - started) / 1_000;
      const found = [];
      // In the first one each finds that there is nothing new.
      for (let round = -1; round < rounds; round += 1) {
        const before = { at: performance.now(), cpu: usageOf(child.pid).cpu };
        const ended = all('request');
        await request();
        await ended;
        const processorMs = ((usageOf(child.pid).cpu - before.cpu) * 1_000) / clients;
        if (round >= 0) found.push({ processorMs, passMs: (performance.now() - before.at) / clients });
      }
      return {
        processorMs: median(found.map((one) => one.processorMs)),
        passMs: median(found.map((one) => one.passMs)),
        memory: usageOf(child.pid).memory,
        'first round': firstRound,
      };
    });
  });
