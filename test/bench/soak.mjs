import { setTimeout } from 'node:timers/promises';
import { withDaemon } from './daemon.mjs';
import { median } from './statistics.mjs';
import { withWorld } from './world.mjs';

/**
 * Many passes of the daemon over 10,000 records, with edits between them and a service that fails now and then. What it
 * holds on to must not grow: its memory, its files, its connections. The first quarter is the warm-up.
 */
export const measure = ([passes = '2000']) =>
  withWorld({ templates: 10, records: 1_000, faults: 0.1 }, ({ cwd, env, wanted, write }) =>
    withDaemon([], { cwd, env: { ...env, ...hasty } }, async ({ listen, passed, request }) => {
      const quarters = [];
      for (let quarter = 0; quarter < 4; quarter += 1) {
        const samples = [];
        for (let pass = 0; pass < Number(passes) / 4; pass += 1) {
          const content = `198.51.100.${pass % 256}`;
          if (pass % 4 === 0) await write(pass % 10, wanted.with(pass % 8, { ...wanted[pass % 8], content }));
          const ended = passed('request');
          await request();
          await ended;
          samples.push(await sampleOf(listen));
        }
        await setTimeout(5_000);
        const { handles, files } = await sampleOf(listen);
        const memoryMiB = Math.round(median(samples.map(({ memory }) => memory)) / 2 ** 20);
        quarters.push({ memoryMiB, mostFiles: Math.max(...samples.map((one) => one.files)), handles, files });
        process.stderr.write(`${JSON.stringify(quarters.at(-1))}\n`);
      }
      const problems = problemsIn(quarters);
      process.stdout.write(`${JSON.stringify({ passes: Number(passes), quarters, problems })}\n`);
      return problems.length === 0 ? 0 : 1;
    }),
  );

const hasty = {
  DNS_SYNC_REQUEST_TIMEOUT: '3s',
  DNS_SYNC_WRITE_TIMEOUT: '1s',
  DNS_SYNC_UNKNOWN_PAUSE: '1s',
};

const sampleOf = async (listen) => {
  const text = await (await fetch(`${listen}/metrics`)).text();
  const sum = (name) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return {
    memory: sum('process_resident_memory_bytes'),
    files: sum('process_open_fds'),
    handles: sum('nodejs_active_resources'),
  };
};

/** What every pass left open would count some hundreds by the last; a few more are chance. */
const problemsIn = ([, second, , last]) => [
  ...(last.memoryMiB > second.memoryMiB * 1.05 ? ['resident memory grows'] : []),
  ...(last.mostFiles > second.mostFiles + 5 ? ['open files grow'] : []),
  ...(last.handles > second.handles + 2 ? ['handles are left open'] : []),
];
