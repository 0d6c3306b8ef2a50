import { setTimeout } from 'node:timers/promises';
import { besideBareNode, peakOfPlan, planBesideParsing } from './commands.mjs';
import { withDaemon } from './daemon.mjs';
import { growth } from './growth.mjs';
import { httpLoop } from './http-loop.mjs';
import { median, mediansOf, repeated } from './statistics.mjs';
import { usageOf } from './usage.mjs';
import { withClients, withExamples, withWorld } from './world.mjs';

/*
 * What is measured, by its name: what it is about, its target, what a profile shows where that is missed (`why`), and
 * `measure()`, which resolves to its value and details. One that finds several values in one world has `rows` instead, which
 * say that of each, and resolves to the values by their names.
 */

const large = { templates: 1_000, records: 100 };

const coldPlan = (size, about, rounds, target, targetOfOctodns) => ({
  about: `cold plan of ${about} against bare node, yaml and JSON.parse`,
  target,
  targetOfOctodns,
  unit: '×',
  measure: () => planBesideParsing(size, rounds),
});

const peak = (size, about, rounds, target) => ({
  about: `most resident memory of a cold plan of ${about}`,
  target,
  unit: 'MiB',
  measure: () => peakOfPlan(size, rounds),
});

/** A daemon on a world of its own, after its first pass. */
const settled = (size, task) =>
  withWorld(size, (world) =>
    withDaemon([], world, async (daemon) => task(daemon, world, await daemon.passed('startup'))),
  );

/** What a pass takes beyond the same HTTP calls. */
const beyondCalls = async (daemon, service, task) => {
  const http = httpLoop(daemon.listen, service.url);
  const { passMs, callsMs } = mediansOf(await repeated(21, (round) => task(http, round), 5));
  http.close();
  return { value: passMs - callsMs, passMs, callsMs };
};

/** One that is asked for while nothing changes. */
const requestedPasses = ({ cwd, env, service }, expected) =>
  withDaemon([], { cwd, env }, async (daemon) => {
    await daemon.passed('startup');
    return beyondCalls(daemon, service, async (http) => {
      const ended = daemon.passed('request');
      const started = performance.timeOrigin + performance.now();
      await daemon.request();
      const { at, status } = await ended;
      if (status !== expected) throw new Error(`the pass found ${status}`);
      return { passMs: at - started, callsMs: await http.read() };
    });
  });

export const cases = {
  version: {
    about: '--version against bare node',
    target: 1.5,
    unit: '×',
    measure: () => besideBareNode(['--version'], {}, 21),
  },
  help: {
    about: '--help against bare node',
    target: 1.5,
    unit: '×',
    why: 'of some 34 ms beyond bare node 14 read and unpack the program, 4 load modules of Node.js itself, and 4 print; the rest is code that runs once: the commands with their options, and the settings',
    measure: () => besideBareNode(['--help'], {}, 21),
  },
  'plan-examples': {
    about: 'plan of the examples against bare node',
    target: 4,
    unit: '×',
    why: 'flat: of some 120 ms beyond bare node, 25 compile functions of modules of Node.js itself (http, net, streams, crypto), 10 load those modules, 10 unpack the program, 12 collect garbage; the rest is code that runs once: settings, YAML, checks, the embedded service and a call to it',
    measure: () =>
      withExamples((cwd) => besideBareNode(['plan', '--sandbox', '--state-dir', '.state'], { cwd }, 21)),
  },
  'small-template': coldPlan({ templates: 1, records: 1_000 }, '1 template × 1,000 records', 9, 1, 0.35),
  'large-template': coldPlan({ templates: 1, records: 10_000 }, '1 template × 10,000 records', 9, 0.7, 0.1),
  'huge-template': coldPlan({ templates: 1, records: 100_000 }, '1 template × 100,000 records', 3, 0.4, 0.06),
  'many-templates': coldPlan(large, '1,000 templates × 100 records', 5, 0.5, 0.05),
  'large-memory': peak({ templates: 1, records: 10_000 }, '1 template × 10,000 records', 5, 110),
  'huge-memory': peak({ templates: 1, records: 100_000 }, '1 template × 100,000 records', 3, 500),
  'peak-memory': peak(large, '1,000 templates × 100 records', 5, 400),
  'first-pass': {
    about: 'first pass of a daemon, 1,000 templates × 100 records, without the wait between its readings',
    target: 2.5,
    unit: 's',
    why: 'of some 5 s of processor three tenths save what was seen of 100,000 records, a quarter is garbage, three tenths read and understand the files, and a tenth plans',
    measure: async () => {
      const all = await repeated(5, () => settled(large, (_, __, { durationMs }) => durationMs / 1_000));
      return { value: median(all), all };
    },
  },
  'unchanged-pass': {
    about: 'unchanged pass, 1,000 templates × 100 records, beyond the same HTTP calls',
    target: 10,
    unit: 'ms',
    why: 'of some 16 ms, 4 write a thousand drift reports to the log, 4 look whether a thousand files have changed, 3 take in and compare the listing, 2 are garbage; the rest is a request that asks for the pass, and the lock and memory',
    measure: () => withWorld(large, (world) => requestedPasses(world, 'in-sync')),
  },
  'unwritten-pass': {
    about: 'the same where 700 of the templates have a difference that nobody writes',
    target: 40,
    unit: 'ms',
    measure: () =>
      withWorld(large, async (world) => {
        for (let index = 0; index < 700; index += 1)
          await world.write(index, world.edited(50, '198.51.100.1'));
        return requestedPasses({ ...world, env: { ...world.env, DNS_SYNC_MODE: 'report' } }, 'drifted');
      }),
  },
  'changed-file': {
    about: 'pass after one record of one of 1,000 files changed, beyond the same HTTP calls',
    target: 40,
    unit: 'ms',
    why: 'of some 75 ms, the calls among them, 15 look at a thousand files once more after the one that changed was read, 15 understand that one, most of it in `yaml`, 8 put all templates together anew, 15 take in and keep the listing, which all of that delays, and 12 write and remember',
    measure: () =>
      settled(large, (daemon, { service, edited, write }) =>
        beyondCalls(daemon, service, async (http, round) => {
          const ended = daemon.passed('file-change');
          const content = `198.51.100.${round}`;
          await write(500, edited(50, content));
          const { durationMs, status } = await ended;
          if (status !== 'in-sync') throw new Error(`the pass left ${status}`);
          return { passMs: durationMs, callsMs: (await http.read()) + (await http.write(content)) };
        }),
      ),
  },
  'saved-file': {
    about: 'from a saved file to the first write at the service',
    target: 400,
    unit: 'ms',
    measure: () =>
      settled({ templates: 10, records: 20 }, async ({ passed }, { service, edited, write }) => {
        const all = await repeated(11, async (round) => {
          const [ended, written] = [passed('file-change'), service.written()];
          const savedAt = await write(5, edited(0, `198.51.100.${round}`));
          const time = (await written) - savedAt;
          await ended;
          return time;
        });
        return { value: median(all), all };
      }),
  },
  'dry-run': {
    about: 'passes of a daemon that only reports, 1,000 templates × 100 records',
    rows: {
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
    },
    measure: async () => {
      const same = await dryRuns(0);
      const { unchanged: differing } = await dryRuns(1_000);
      return { ...same, differing };
    },
  },
  clients: {
    about: 'passes of many clients in one state directory, each of 3 templates × 10 records',
    rows: {
      300: { about: 'processor time of an unchanged pass, 300 clients', target: 4, unit: 'ms' },
      1000: { about: 'the same, 1,000 clients', target: 5, unit: 'ms' },
      pass: { about: 'time of a pass where 1,000 clients are asked for one at once', target: 10, unit: 'ms' },
      memory: { about: 'resident memory with 1,000 clients', target: 300, unit: 'MiB' },
      'first round': {
        about: 'from the start until 1,000 new clients have had a pass',
        target: 15,
        unit: 's',
      },
    },
    measure: async () => {
      const few = await passesOfClients(300);
      const many = await passesOfClients(1_000);
      return { 300: few.processor, 1000: many.processor, ...many };
    },
  },
  'idle-memory': {
    about: 'resident memory of the idle daemon on the examples',
    target: 90,
    unit: 'MiB',
    why: 'bare node takes 40 MiB and SQLite 10; 14 are live objects, most of them code and schemas, and 16 a young generation that V8 keeps as large as the start needed it',
    measure: async () => {
      const all = await repeated(5, () =>
        withExamples((cwd) =>
          withDaemon(['--sandbox', '--state-dir', '.state'], { cwd }, async ({ passed, metric }) => {
            await passed('startup');
            // V8 gives back what the start needed when nothing has happened for some eight seconds.
            await setTimeout(12_000);
            return (await metric('process_resident_memory_bytes')) / 2 ** 20;
          }),
        ),
      );
      return { value: median(all), all };
    },
  },
  'idle-processor': {
    about: 'processor time of the idle daemon on 1,000 files',
    target: 0.5,
    unit: '%',
    measure: () =>
      settled(large, async ({ metric }) => {
        // V8 collects what the first pass has left once, up to two minutes after it.
        await setTimeout(120_000);
        const before = await metric('process_cpu_seconds_total');
        await setTimeout(30_000);
        return { value: (((await metric('process_cpu_seconds_total')) - before) / 30) * 100 };
      }),
  },
  growth,
};

const dryRuns = (differing) =>
  withWorld(large, async ({ cwd, env, edited, write }) => {
    for (let index = 0; index < differing; index += 1) await write(index, edited(50, '198.51.100.1'));
    return withDaemon(['--dry-run'], { cwd, env }, async ({ child, begun, passed, request }) => {
      const pass = async (trigger, start) => {
        const before = usageOf(child.pid).cpu;
        const now = performance.timeOrigin + performance.now();
        const saved = await start();
        const { at: began } = await begun(trigger);
        const { at, durationMs } = await passed(trigger);
        // What is cleared away after it is of the pass, too.
        await setTimeout(100);
        const unchanged = (usageOf(child.pid).cpu - before) * 1_000;
        return {
          unchanged,
          changed: at - (trigger === 'request' ? now : saved),
          untold: at - began - durationMs,
        };
      };
      await passed('startup');
      // The first one notes what it sees.
      const still = mediansOf(await repeated(11, () => pass('request', request), 1));
      const save = (round) => write(500, edited(50, `203.0.113.${round}`));
      const { changed } = mediansOf(await repeated(11, (round) => pass('file-change', () => save(round))));
      const { memory } = usageOf(child.pid);
      if (differing === 0) await setTimeout(75_000);
      return { ...still, changed, memory, 'memory at rest': usageOf(child.pid).memory };
    });
  });

const passesOfClients = (clients) =>
  withClients(clients, { templates: 3, records: 10 }, ({ cwd, env }) => {
    const started = performance.now();
    return withDaemon([], { cwd, env }, async ({ child, passed, request }) => {
      const all = async (trigger) => {
        for (let count = 0; count < clients; count += 1) await passed(trigger);
      };
      await all('startup');
      const firstRound = (performance.now() - started) / 1_000;
      const task = async () => {
        const before = { at: performance.now(), cpu: usageOf(child.pid).cpu };
        const ended = all('request');
        await request();
        await ended;
        const processor = ((usageOf(child.pid).cpu - before.cpu) * 1_000) / clients;
        return { processor, pass: (performance.now() - before.at) / clients };
      };
      // In the first one each finds that there is nothing new.
      const medians = mediansOf(await repeated(5, task, 1));
      return { ...medians, memory: usageOf(child.pid).memory, 'first round': firstRound };
    });
  });
