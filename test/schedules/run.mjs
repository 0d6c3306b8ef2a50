// npm run test:model [-- --faults N --world NAME --core --replay FILE]: every schedule of each small world with at most
// N faults (2), on all processors. Finished worlds are kept in node_modules/.schedules until a source changes, so that
// a run that was ended goes on. A breach is printed in words, and saved as a file that --replay plays with its trace.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '2' },
    world: { type: 'string', multiple: true },
    core: { type: 'boolean', default: false },
    replay: { type: 'string' },
    // Ends at the first breach that the unbroken product does not have: the results of a run of it.
    known: { type: 'string' },
  },
});
const root = path.resolve(import.meta.dirname, '../..');
const place = path.join(root, 'node_modules/.schedules');
const bundle = path.join(place, `worker-${process.pid}.mjs`);
const faults = Number(values.faults);
const known = values.known === undefined ? null : JSON.parse(readFileSync(values.known, 'utf8'));
const kindsOf = (world) => known && (known[world]?.breaches ?? []).map(({ kind }) => kind);

const main = async () => {
  await build();
  if (values.replay !== undefined) {
    const child = fork(bundle, [values.replay], { stdio: 'inherit' });
    process.exitCode = await new Promise((resolve) => child.on('close', resolve));
    return;
  }
  const results = known ? {} : readKept();
  const children = Array.from({ length: availableParallelism() }, () => fork(bundle, { stdio: 'inherit' }));
  const offers = await Promise.all(
    children.map((child) => new Promise((resolve) => child.once('message', resolve))),
  );
  const names = offers[0].worlds
    .filter(({ name, isCore }) => values.world?.includes(name) ?? (!values.core || isCore))
    .map(({ name }) => name);
  if (names.length === 0)
    throw new Error(`no such world; there are ${offers[0].worlds.map(({ name }) => name).join('; ')}`);
  const open = names.filter((name) => !(name in results));
  const queue = open.values();
  const begun = performance.now();
  let finished = 0;
  const work = async (child) => {
    for (const world of queue) {
      const result = await new Promise((resolve, reject) => {
        child.once('exit', (code) => reject(new Error(`a worker ended with ${code} in "${world}"`)));
        child.removeAllListeners('message');
        child.on('message', (message) => {
          if (message.isDone) resolve(message);
          else showProgress({ ...message, finished, all: open.length, begun });
        });
        child.send({ world, faults, known: kindsOf(world) });
      });
      child.removeAllListeners('exit');
      finished += 1;
      results[world] = result;
      if (!known) writeFileSync(keptIn, JSON.stringify(results));
      tell(result);
      if (isNew(result)) endEarly(children, result);
    }
    child.kill();
  };
  await Promise.all(children.map(work));
  sum(names.map((name) => results[name]));
};

/** Whether the unbroken product does not have it. */
const isNew = ({ world, breaches }) => known && breaches.some(({ kind }) => !kindsOf(world).includes(kind));

const endEarly = (children, { world, breaches }) => {
  const { kind, faults: count } = breaches.find((one) => !kindsOf(world).includes(one.kind));
  process.stdout.write(`FOUND with ${count} faults in "${world}": ${kind}\n`);
  for (const child of children) child.kill();
  process.exit(1);
};

const build = async () => {
  mkdirSync(place, { recursive: true });
  const made = await rolldown({
    input: path.join(import.meta.dirname, 'worker.ts'),
    platform: 'node',
    external: [/^node:/, 'libsql', /^undici/],
    logLevel: 'silent',
  });
  await made.write({ file: bundle, format: 'esm' });
  const digest = createHash('sha1').update(readFileSync(bundle)).digest('hex').slice(0, 12);
  keptIn = path.join(place, `${digest}-${faults}.json`);
};

let keptIn = '';

const readKept = () => {
  try {
    return JSON.parse(readFileSync(keptIn, 'utf8'));
  } catch {
    return {};
  }
};

const showProgress = ({ world, schedules, left, finished, all, begun }) => {
  if (!process.stderr.isTTY) return;
  const minutes = (performance.now() - begun) / 60_000;
  const rest = finished > 0 ? `, some ${Math.ceil((minutes / finished) * (all - finished))} min left` : '';
  process.stderr.write(
    `\r\x1b[K${finished} of ${all} worlds${rest}; ${world}: ${schedules} schedules, ${left} open`,
  );
};

const tell = ({ world, schedules, states, seconds, breaches }) => {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(
    `${breaches.length > 0 ? 'BREACH' : 'ok    '} ${world}: ${schedules} schedules, ${states} states, ${seconds.toFixed(1)} s\n`,
  );
  for (const [index, { what, schedule }] of breaches.entries()) {
    const file = path.join(place, `${world.replaceAll(/[^a-z]+/gi, '-')}-${index + 1}.json`);
    writeFileSync(file, JSON.stringify({ world, schedule }));
    process.stdout.write(
      [
        ...what.map((line) => `       ${line}\n`),
        `       npm run test:model -- --replay ${path.relative(root, file)}, or as a test:\n`,
        `  [${JSON.stringify(world)}, ${JSON.stringify(schedule)}],\n`,
      ].join(''),
    );
  }
};

const sum = (results) => {
  const total = (key) => results.reduce((all, one) => all + one[key], 0);
  const breached = results.filter(({ breaches }) => breaches.length > 0);
  process.stdout.write(
    `${results.length} worlds with at most ${faults} faults: ${total('schedules')} schedules, ${total('states')} states, ` +
      `${total('seconds').toFixed(0)} s of processors, ${breached.length} with breaches\n`,
  );
  process.stdout.write(`results: ${keptIn}\n`);
  process.exitCode = !known && breached.length > 0 ? 1 : 0;
};

await main();
