// npm run test:both-cores [-- REVISION] [--faults N] [--one-of N]: plays the small worlds with the core of this tree and with
// that of a revision (HEAD), by the same schedules of named choices (with one fault; every 10th), and compares what they wrote
// and what became of it. A difference for which both-cores.txt has no reason ends it with 1. A schedule in which the other core
// never came to one of the choices is left out, and counted.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const { values, positionals } = parseArgs({
  options: { faults: { type: 'string', default: '1' }, 'one-of': { type: 'string', default: '10' } },
  allowPositionals: true,
});
const root = path.resolve(import.meta.dirname, '../..');
const place = path.join(root, 'node_modules/.both-cores');

const main = async () => {
  const revision = execFileSync('git', ['rev-parse', '--short=12', positionals[0] ?? 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const before = await bundle(checkOut(revision), 'before');
  const now = await bundle(root, 'now');
  const file = path.join(place, 'schedules.jsonl');
  run(before, ['explore', values.faults, values['one-of'], file]);
  const old = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => JSON.parse(line));
  const courses = run(now, ['play', file])
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  tell(revision, old, courses);
};

const checkOut = (revision) => {
  const tree = path.join(place, revision);
  mkdirSync(tree);
  const archive = execFileSync('git', ['archive', revision, 'src', 'test', 'package.json'], {
    cwd: root,
    maxBuffer: 2 ** 30,
  });
  execFileSync('tar', ['-x', '-C', tree], { input: archive });
  symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
  return tree;
};

const bundle = async (tree, name) => {
  const input = path.join(tree, 'test/laws/course-worker.ts');
  if (!existsSync(input))
    throw new Error(`the revision cannot play courses: it has no ${path.relative(tree, input)}`);
  const made = await rolldown({
    input,
    platform: 'node',
    external: [/^node:/, 'libsql'],
    logLevel: 'silent',
  });
  const file = path.join(place, `${name}.mjs`);
  await made.write({ file, format: 'esm' });
  return file;
};

const run = (file, args) =>
  execFileSync(process.execPath, [file, ...args], { encoding: 'utf8', maxBuffer: 2 ** 30 });

/** Lines of `text in the difference | why`. */
const reasons = readFileSync(path.join(import.meta.dirname, 'both-cores.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' | '));

const tell = (revision, old, courses) => {
  const counts = new Map();
  let missed = 0;
  for (const [index, course] of courses.entries()) {
    const before = old[index];
    const kind = differenceOf(before, course);
    const [, why] =
      reasons.find(([text]) => kind !== null && `${before.world}: ${kind}`.includes(text)) ?? [];
    if (kind !== null && why === undefined && (missed += 1) <= 20) show(before, course, kind);
    const told = kind === null ? 'the same' : (why ?? 'no reason is known');
    counts.set(told, (counts.get(told) ?? 0) + 1);
  }
  process.stdout.write(`${old.length} schedules, played by ${revision} and by this tree:\n`);
  for (const [told, count] of [...counts].sort(([, a], [, b]) => b - a))
    process.stdout.write(`  ${count}: ${told}\n`);
  if (missed > 0) process.exitCode = 1;
};

/** Null where both wrote the same, in the same order, and left the same. */
const differenceOf = (before, now) => {
  if (now.left.length > 0) return 'a choice never came up';
  const at = now.writes.findIndex((write, index) => write !== before.writes[index]);
  if (at >= 0 || now.writes.length < before.writes.length)
    return `wrote ${before.writes.at(at < 0 ? now.writes.length : at) ?? 'nothing'}, now ${at < 0 ? 'nothing' : now.writes[at]}`;
  return JSON.stringify(now.truth) === JSON.stringify(before.truth) ? null : 'leaves other records';
};

const show = ({ world, schedule, writes }, now, kind) =>
  process.stdout.write(
    [
      `${world}: ${schedule.map((choice) => choice.join(' = ')).join('; ')}`,
      `  ${kind}`,
      `  before: ${writes.join(' · ')}`,
      `  now:    ${now.writes.join(' · ')}\n`,
    ].join('\n'),
  );

await main();
