import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { startPostgres } from '../cluster/postgres.ts';
import { built } from './daemon.mjs';
import { recordOf, templateName, templateText } from './records.mjs';
import { median } from './statistics.mjs';
import { statOf, usageOf } from './usage.mjs';
import { withClients } from './world.mjs';

/**
 * Two processes share a PostgreSQL and thousands of clients of a service that
 * answers at once. Needs a Node.js that runs TypeScript, 22.18 or later. Options: --clients (a list), --seconds to observe, --schedule, --urgent changes to time.
 */
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '100,1000,10000' },
    seconds: { type: 'string', default: '120' },
    schedule: { type: 'string', default: '*/5 * * * *' },
    urgent: { type: 'string', default: '20' },
  },
});

const measure = (count) =>
  withClients(count, { templates: 1, records: 1 }, async ({ cwd, env: ofWorld, service }) => {
    const postgres = await startPostgres();
    const env = {
      ...ofWorld,
      DNS_SYNC_STORE: postgres.url,
      DNS_SYNC_SCHEDULE: values.schedule,
      LOG_LEVEL: 'warn',
    };
    const workers = [];
    try {
      for (let at = 0; at < 2; at += 1) workers.push(await startWorker(cwd, env));
      const firstRound = await firstPasses(postgres.url, count);
      process.stderr.write(`${JSON.stringify({ clients: count, ...firstRound })}\n`);
      // The second pass of a client still reads what the first one has saved.
      while (sum((await countsOf(workers)).passes) < 2 * count) await setTimeout(1_000);
      const before = { ...(await countsOf(workers)), ...usageNow(workers, postgres) };
      await setTimeout(Number(values.seconds) * 1_000);
      const after = { ...usageNow(workers, postgres), ...(await countsOf(workers)) };
      const urgent = await timeUrgent(cwd, count, service);
      const { writes } = service;
      const twice = writes.length - new Set(writes.map(({ id, content }) => `${id} ${content}`)).size;
      return {
        clients: count,
        ...firstRound,
        ...differenceOf(before, after),
        urgent,
        writes: writes.length,
        twice,
      };
    } finally {
      for (const { child } of workers) child.kill('SIGTERM');
      await Promise.all(workers.map(({ ended }) => ended));
      await postgres.remove();
    }
  });

const startWorker = async (cwd, env) => {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const address = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [built, 'run', '--listen', `127.0.0.1:${port}`], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    // What it warns of.
    stdio: ['ignore', process.stderr, 'ignore'],
  });
  while (!(await fetch(`${address}/livez`).catch(() => null))?.ok) await setTimeout(100);
  return { child, address, ended: once(child, 'exit') };
};

/** All passes at once, as at a start. Resolves when each client had one, and either process has its half of them. */
const firstPasses = async (url, count) => {
  const started = performance.now();
  const client = new Client(url);
  await client.connect();
  // Whoever starts first makes the tables.
  const none = { rows: [{ count: 0 }] };
  const isMissing = ({ code }) => code === '42P01' || code === '3F000';
  const numberOf = async (query) => {
    const { rows } = await client
      .query(query)
      .catch((error) => (isMissing(error) ? none : Promise.reject(error)));
    return Number(rows[0].count);
  };
  while ((await numberOf('SELECT count(*) FROM dns_sync.reports')) < count) await setTimeout(200);
  const seconds = (performance.now() - started) / 1_000;
  while ((await numberOf(shares)) > 1) await setTimeout(200);
  await client.end();
  return { firstRoundSeconds: round(seconds), firstRoundPerSecond: round(count / seconds) };
};

const shares = `SELECT max(clients) - min(clients) AS count FROM
  (SELECT (SELECT count(*) FROM dns_sync.clients WHERE owner = id) AS clients FROM dns_sync.processes) AS owned`;

const countsOf = async (workers) => {
  const texts = await Promise.all(
    workers.map(async ({ address }) => (await fetch(`${address}/metrics`)).text()),
  );
  const passes = /^dns_template_sync_passes_total\{.*\} (\d+)$/gm;
  const late = /^dns_template_sync_pass_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;
  return {
    passes: texts.map((text) => sum([...text.matchAll(passes)].map(([, count]) => Number(count)))),
    /** The edges of the histogram, with the count of each. */
    lateness: texts.map((text) =>
      [...text.matchAll(late)].map(([, edge, count]) => [
        Number(edge.replace('+Inf', 'Infinity')),
        Number(count),
      ]),
    ),
  };
};

const usageNow = (workers, { port }) => ({
  at: performance.now(),
  workers: workers.map(({ child }) => usageOf(child.pid)),
  postgres: usageOfPostgres(port),
});

/** Those of its processes that have ended are in what their parent has used for its children. */
const usageOfPostgres = (port) => {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const commandOf = (pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  const root = all.find((pid) => unlessEnded(() => commandOf(pid).includes(`port=${port}\0`)));
  const family = all.filter((pid) => pid === root || unlessEnded(() => statOf(pid).parent === root));
  const usages = family.flatMap((pid) => unlessEnded(() => usageOf(pid)) ?? []);
  const [cpu, memory] = ['cpu', 'memory'].map((key) => sum(usages.map((usage) => usage[key])));
  return { cpu: cpu + statOf(root).ofEnded, memory };
};

const unlessEnded = (read) => {
  try {
    return read();
  } catch {
    return null;
  }
};

const differenceOf = (before, after) => {
  const seconds = (after.at - before.at) / 1_000;
  const passes = after.passes.map((count, at) => count - before.passes[at]);
  const cpu = sum(after.workers.map((worker, at) => worker.cpu - before.workers[at].cpu));
  const late = (share) => quantile(share, before.lateness, after.lateness);
  const postgres = after.postgres.cpu - before.postgres.cpu;
  return {
    seconds: round(seconds),
    passes,
    passesPerSecond: round(sum(passes) / seconds),
    latenessSeconds: { p50: late(0.5), p99: late(0.99) },
    workerCores: round(cpu / seconds),
    postgresCores: round(postgres / seconds),
    workerMsPerPass: round((cpu * 1_000) / sum(passes)),
    postgresMsPerPass: round((postgres * 1_000) / sum(passes)),
    workerMemoryMiB: after.workers.map(({ memory }) => Math.round(memory)),
    postgresMemoryMiB: Math.round(after.postgres.memory),
  };
};

/** Between two edges of the histogram, as if its values were spread evenly. */
const quantile = (share, before, after) => {
  const counts = after[0].map(([edge], at) => [
    edge,
    sum(after.map((one) => one[at][1])) - sum(before.map((one) => one[at]?.[1] ?? 0)),
  ]);
  const wanted = share * counts.at(-1)[1];
  let [from, below] = [0, 0];
  for (const [edge, count] of counts) {
    if (count >= wanted) return round(from + ((edge - from) * (wanted - below)) / Math.max(1, count - below));
    [from, below] = [edge, count];
  }
  return from;
};

/** From the change of a file to the write at the service. */
const timeUrgent = async (cwd, count, service) => {
  const times = [];
  for (let at = 0; at < Number(values.urgent); at += 1) {
    const client = `client-${1 + Math.floor((at * count) / Number(values.urgent))}`;
    const written = service.written();
    const changed = performance.timeOrigin + performance.now();
    const records = [{ ...recordOf(0), content: '192.0.2.200' }];
    writeFileSync(path.join(cwd, 'files', client, 'template-0.yaml'), templateText(templateName(0), records));
    times.push((await written) - changed);
  }
  return { p50: round(median(times)), max: round(Math.max(...times)) };
};

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const round = (number) => Math.round(number * 100) / 100;

for (const count of values.clients.split(',').map(Number))
  process.stdout.write(`${JSON.stringify(await measure(count))}\n`);
