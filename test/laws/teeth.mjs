// npm run test:teeth [-- --faults N --seconds N TEXT...]: breaks one rule of the core after the other, and looks which schedule
// of which small world shows it by a law, or by another course than the product takes, for some seconds of processor time (N,
// 20); with TEXT only the rules whose text or file holds one.
//
// First it plays what test:model plays with at most one fault, up to N (1) in core worlds, and writes down of a third of that
// which rules each schedule runs, and which course it takes: a rule that is broken changes nothing where it is not run. Then
// each broken rule is played: the courses of courses.golden.txt, those schedules, and what is near to one that differs. A rule
// that no course of the file shows, and another schedule does, is told with that schedule: a line for the file.
//
// What was found is kept in node_modules/.schedules until the product or the worlds change, so that a run that was ended
// goes on. MUTANT_JOBS at a time (1).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { mutations } from './mutants/table.mjs';

const { values, positionals } = parseArgs({
  options: { faults: { type: 'string', default: '1' }, seconds: { type: 'string', default: '20' } },
  allowPositionals: true,
});
const root = path.resolve(import.meta.dirname, '../..');
/** In a world, and in one of the core. */
const faults = 1;
const coreFaults = Number(values.faults);
const place = path.join(root, 'node_modules/.schedules');
const keptIn = path.join(place, 'teeth.jsonl');
const courses = readFileSync(path.join(import.meta.dirname, 'courses.golden.txt'), 'utf8');

/** What a pass decides and does; not how requests are sent, and not where state is kept. */
const isOfCore = ({ file }) => /^src\/(?:reconcile|memory|plan)\//.test(file);

const results = [];

let reached = [];

const main = async () => {
  mkdirSync(place, { recursive: true });
  const core = mutations.filter(isOfCore);
  const chosen = core.filter(
    ({ rule, file }) =>
      positionals.length === 0 || positionals.some((text) => `${rule} ${file}`.includes(text)),
  );
  const stale = chosen.filter(({ file, from }) => textOf(file).split(from).length !== 2);
  if (stale.length > 0) throw new Error(`not once in its file: ${stale.map(({ rule }) => rule).join('; ')}`);
  const kept = readKept();
  reached = await readReached(core);
  const queue = chosen.values();
  const work = async () => {
    for (const mutation of queue) {
      const digest = digestOf(mutation);
      const result = kept.get(digest) ?? (await look(mutation, core.indexOf(mutation)));
      if (!kept.has(digest)) appendFileSync(keptIn, `${JSON.stringify({ digest, played, ...result })}\n`);
      results.push({ mutation, ...result });
      tell(mutation, result);
    }
  };
  await Promise.all(Array.from({ length: Number(process.env.MUTANT_JOBS ?? 1) }, work));
  sum(core.length);
};

const textOf = (file) => readFileSync(path.join(root, file), 'utf8');

const readKept = () =>
  new Map(
    existsSync(keptIn)
      ? readFileSync(keptIn, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
          .filter((one) => one.found || (one.played === played && one.budget >= Number(values.seconds)))
          .map(({ digest, ...result }) => [digest, result])
      : [],
  );

const textsOf = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));

const sha1 = (texts) => createHash('sha1').update(JSON.stringify(texts)).digest('hex');

const product = sha1(['src/reconcile', 'src/memory', 'src/plan', 'src/model'].flatMap(textsOf));
/** What is played: more of it may find what was not found. */
const played = sha1([['test/schedules', 'test/sim'].flatMap(textsOf)]);

const digestOf = ({ file, from, to }) => sha1([product, file, from, to]);

const build = async ({ file, from, to }, bundle) => {
  const broken = path.join(root, file);
  const made = await rolldown({
    input: path.join(import.meta.dirname, 'tooth.ts'),
    platform: 'node',
    external: [/^node:/, 'libsql', /^undici/],
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutation',
        load(id) {
          if (id !== broken) return null;
          return { code: textOf(file).replace(from, () => to), moduleType: 'ts' };
        },
      },
    ],
  });
  const { output } = await made.write({ file: bundle, format: 'esm', sourcemap: true });
  rmSync(`${bundle}.map`, { force: true });
  return output[0];
};

/** What test:model plays, and the courses, each with the numbers of the rules that it runs. */
const readReached = async (core) => {
  const digest = sha1([product, played, courses, faults, coreFaults, core]).slice(0, 12);
  const file = path.join(place, `reached-${digest}.jsonl`);
  if (!existsSync(file)) {
    process.stdout.write('playing all schedules of the unbroken product\n');
    const bundle = path.join(place, `tooth-${digest}.mjs`);
    const chunk = await build({ file: '', from: '', to: '' }, bundle);
    rmSync(`${file}.new`, { force: true });
    const task = { courses, faults, coreFaults, places: placesOf(core, chunk), file: `${file}.new` };
    const { code, errors } = await call('reach', bundle, task);
    rmSync(bundle, { force: true });
    if (code !== 0) throw new Error(errors);
    renameSync(`${file}.new`, file);
  }
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((line) => ({ ...line, rules: new Set(line.rules) }));
};

/** Where the code of each rule is in the bundle: what stands there, and what is before and after it. */
const placesOf = (core, { code, map }) => {
  const source = new SourceMap(map);
  /** By file: offsets in it, and in the bundle. */
  const pairs = new Map(core.map(({ file }) => [file, []]));
  const starts = new Map([...pairs.keys()].map((file) => [file, startsOf(textOf(file))]));
  let begin = 0;
  for (const [line, text] of code.split('\n').entries()) {
    for (const { index } of text.matchAll(/\w+|[^\w\s]/g)) {
      const entry = source.findEntry(line, index);
      if (entry.generatedLine !== line || entry.generatedColumn !== index) continue;
      const file = entry.originalSource.replace(/^(?:\.\.\/)+/, '');
      const original = (starts.get(file)?.[entry.originalLine] ?? 0) + entry.originalColumn;
      pairs.get(file)?.push([original, begin + index]);
    }
    begin += text.length + 1;
  }
  for (const [file, some] of pairs)
    pairs.set(
      file,
      some.toSorted((a, b) => a[0] - b[0]),
    );
  return core.flatMap(({ file, from, to }, rule) => {
    const same = [...from].findIndex((letter, index) => letter !== to[index]);
    const at = textOf(file).indexOf(from) + (same < 0 ? from.length : same);
    const before = pairs.get(file).findLast(([original]) => original <= at);
    const after = pairs.get(file).find(([original]) => original > at);
    return [before, after].filter(Boolean).map(([, offset]) => ({ rule, offset }));
  });
};

const startsOf = (text) => {
  const starts = [0];
  for (const { index } of text.matchAll(/\n/g)) starts.push(index + 1);
  return starts;
};

const look = async (mutation, number) => {
  const { rule, file } = mutation;
  const bundle = path.join(place, `tooth-${process.pid}-${number}.mjs`);
  try {
    await build(mutation, bundle);
  } catch (error) {
    throw new Error(`does not compile: ${rule} (${file})`, { cause: error });
  }
  const seconds = Number(values.seconds);
  const { code, output, errors } = await call('look', bundle, { ...taskFor(number), seconds }, 30 * seconds);
  rmSync(bundle, { force: true });
  if (code !== 0) {
    const what = errors.split('\n').find((line) => line.includes('Error')) ?? 'does not come to an end';
    return { rule, file, found: { world: '-', faults: 0, schedule: [], by: 'crash', what }, seconds: 0 };
  }
  return { rule, file, ...JSON.parse(output), budget: seconds };
};

const taskFor = (rule) => ({
  courses,
  coursesToTake: reached
    .filter(({ isCourse }) => isCourse)
    .flatMap(({ rules }, index) => (rules.has(rule) ? [index] : [])),
  schedules: reached
    .filter(({ isCourse, faults: count, rules }) => !isCourse && count > 0 && rules.has(rule))
    .map(({ world, schedule, faults: count, course }) => ({ world, schedule, faults: count, course })),
});

/** At most so many seconds. */
const call = async (what, bundle, task, most = Infinity) => {
  const worker = path.join(import.meta.dirname, 'teeth-worker.mjs');
  const child = spawn(process.execPath, [worker, what, bundle], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (errors += data));
  child.stdin.end(JSON.stringify(task));
  const timer = Number.isFinite(most) ? setTimeout(() => child.kill('SIGKILL'), 1_000 * most) : undefined;
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  return { code, output, errors };
};

const tell = ({ rule, file, unseen }, { found, others = [], seconds, isWhole }) => {
  const [other] = others;
  const how = found
    ? `${found.faults} faults, ${found.by}: "${found.world}": ${found.what.slice(0, 120)}`
    : other
      ? `by no law; another course is that of ${lineOf(other)}`
      : (unseen ?? (isWhole ? 'in no schedule' : 'in no schedule until the time was up'));
  const state = found ? 'found' : unseen === undefined ? 'UNSEEN' : 'unseen';
  process.stdout.write(
    `${state} ${seconds.toFixed(1).padStart(6)} s  ${rule} (${file})\n                 ${how}\n`,
  );
};

const lineOf = ({ world, schedule }) =>
  [world, schedule.map((choice) => choice.join(' = ')).join('; ')].filter(Boolean).join(': ');

const sum = (all) => {
  const count = (is) => results.filter(is).length;
  const by = (how) => {
    const ways = [0, 1, 2].map((many) => count(({ found }) => found?.faults === many && found.by === how));
    return `${ways.join(', ')} with 0, 1, 2 faults by ${how}`;
  };
  const found = count((one) => one.found !== null);
  process.stdout.write(
    `${results.length} of ${all} rules of the core (of ${mutations.length}): ${found} found, ` +
      `${['law', 'course', 'crash'].map(by).join(', ')}; ${results.length - found} not found, ` +
      `${count((one) => !one.found && one.mutation.unseen === undefined)} of them without a reason\n`,
  );
  if (results.some((one) => !one.found && one.mutation.unseen === undefined)) process.exitCode = 1;
};

await main();
