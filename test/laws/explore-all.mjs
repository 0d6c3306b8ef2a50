// npm run test:model [-- --faults N --core-faults N --world NAME --core --generated N --replay FILE]: every schedule of
// each small world with at most N faults (2), of core worlds also with more, on all processors; --core: only those;
// --generated: instead of them so many that chance makes. Finished worlds are kept in node_modules/.schedules until a
// source changes, so that a run that was ended goes on. A breach is printed in words, and saved as a file that --replay plays with its trace.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { answerOf, bundleTo } from './bundle.mjs';

const usage =
  'npm run test:model [-- --faults N --core-faults N --world NAME --core --generated N --replay FILE]';

/** Ends the process where nobody can mean these options. */
const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        faults: { type: 'string', default: '2' },
        'core-faults': { type: 'string' },
        world: { type: 'string', multiple: true },
        core: { type: 'boolean', default: false },
        generated: { type: 'string', default: '0' },
        replay: { type: 'string' },
      },
    });
    const counts = [values.faults, values['core-faults'] ?? values.faults, values.generated];
    if (counts.every((count) => /^\d+$/.test(count))) return values;
    throw new Error('--faults, --core-faults and --generated take a number');
  } catch (error) {
    process.stderr.write(`${error.message}\n${usage}\n`);
    return process.exit(1);
  }
};

const values = readOptions();
const root = path.resolve(import.meta.dirname, '../..');
const place = path.join(root, 'node_modules/.schedules');
const bundle = path.join(place, `worker-${process.pid}.mjs`);
/** At most: in a world, and in one of the core. */
const faults = Number(values.faults);
const coreFaults = Number(values['core-faults'] ?? faults);

const main = async () => {
  await build();
  if (values.replay !== undefined) {
    const { isBreach, text } = JSON.parse(await answerOf(bundle, ['show', values.replay]));
    process.stdout.write(text);
    if (isBreach) process.exitCode = 1;
    return;
  }
  const results = readKept();
  const drawn = Array.from({ length: Number(values.generated) }, (_, index) => `generated ${index + 1}`);
  const worlds =
    drawn.length > 0
      ? drawn.map((name) => ({ name, isCore: false }))
      : JSON.parse(await answerOf(bundle, ['worlds', '']));
  const tasks = worlds
    .filter(({ name, isCore }) => values.world?.includes(name) ?? (!values.core || isCore))
    .map(({ name, isCore }) => ({ world: name, faults: isCore ? coreFaults : faults }));
  if (tasks.length === 0)
    throw new Error(`no such world; there are ${worlds.map(({ name }) => name).join('; ')}`);
  // Those that take longest first, so that no processor is left without work at the end.
  const open = tasks.filter((task) => !(keyOf(task) in results)).sort((a, b) => b.faults - a.faults);
  const queue = batchesOf(open).values();
  const work = async () => {
    for (const batch of queue) {
      const found = JSON.parse(await answerOf(bundle, ['explore', JSON.stringify(batch)]));
      for (const one of found) results[keyOf(one)] = one;
      writeFileSync(keptIn, JSON.stringify(results));
      found.forEach(tell);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  sum(tasks.map((task) => results[keyOf(task)]));
};

/** A process that has just begun is slow: of worlds that take seconds, it plays some. */
const batchesOf = (tasks) => {
  const short = tasks.filter(({ faults: most }) => most < 2);
  const batches = tasks.filter(({ faults: most }) => most > 1).map((task) => [task]);
  for (let at = 0; at < short.length; at += 6) batches.push(short.slice(at, at + 6));
  return batches;
};

const keyOf = ({ world, faults: most }) => `${world}, ${most}`;

const build = async () => {
  mkdirSync(place, { recursive: true });
  await bundleTo(bundle);
  const digest = createHash('sha1').update(readFileSync(bundle)).digest('hex').slice(0, 12);
  keptIn = path.join(place, `${digest}.json`);
};

let keptIn = '';

const readKept = () => {
  try {
    return JSON.parse(readFileSync(keptIn, 'utf8'));
  } catch {
    return {};
  }
};

const tell = ({ world, schedules, states, seconds, breaches }) => {
  process.stdout.write(
    `${breaches.length > 0 ? 'BREACH' : 'ok    '} ${world}: ${schedules} schedules, ${states} states, ${seconds.toFixed(1)} s\n`,
  );
  for (const [index, { what, schedule }] of breaches.entries()) {
    const file = path.join(place, `${world.replaceAll(/[^a-z]+/gi, '-')}-${index + 1}.json`);
    writeFileSync(file, JSON.stringify({ world, schedule }));
    process.stdout.write(
      [
        ...what.map((line) => `       ${line}\n`),
        `       npm run test:model -- --replay ${path.relative(root, file)}:\n`,
        `${world}: ${schedule.map(([of, chosen]) => `${of} = ${chosen}`).join('; ')}\n`,
      ].join(''),
    );
  }
};

const sum = (results) => {
  for (const most of new Set(results.map((one) => one.faults).sort())) {
    const some = results.filter((one) => one.faults === most);
    const total = (key) => some.reduce((all, one) => all + one[key], 0);
    const breached = some.filter(({ breaches }) => breaches.length > 0);
    process.stdout.write(
      `${some.length} worlds with at most ${most} faults: ${total('schedules')} schedules, ${total('states')} states, ` +
        `${total('seconds').toFixed(0)} s of processors, ${breached.length} with breaches\n`,
    );
    if (breached.length > 0) process.exitCode = 1;
  }
};

await main();
