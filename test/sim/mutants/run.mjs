// npm run test:mutants [-- TEXT...]: breaks one rule after the other, and looks whether a test finds it; with TEXT
// only the mutations whose rule or file holds one of the texts. MUTANT_JOBS at a time (2).
//
// Each mutation is made in a fresh copy of the tree and has to pass the type check there, unused names aside: one that
// does not compile proves nothing. The tests run on the sources, so no older build can be tested in its place. Ends
// with 1 where a mutation survives, is stale, or proves nothing.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mutations } from './table.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const jobs = Number(process.env.MUTANT_JOBS ?? 2);
/** Milliseconds; a mutation that lets a test run for ever proves nothing. */
const patience = 180_000;

const main = async () => {
  const chosen = chooseFrom(mutations, process.argv.slice(2));
  const stale = chosen
    .filter(isStale)
    .map((one) => ({ ...one, state: 'stale', by: 'its text is not there once, or a test is not there' }));
  for (const one of stale) tell(one);
  const fresh = chosen.filter((one) => !isStale(one));
  const unbroken = await examine({
    tests: [...new Set(fresh.flatMap(({ tests }) => tests))],
    isOfBuild: fresh.some(({ isOfBuild }) => isOfBuild),
  });
  if (unbroken.state !== 'survived') return fail(`without a mutation: ${unbroken.state} by ${unbroken.by}`);
  const results = [...stale];
  const queue = fresh.values();
  const work = async () => {
    for (const one of queue) {
      const result = { ...one, ...(await examine(one)) };
      tell(result);
      results.push(result);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const sum = states.map((state) => `${results.filter((one) => one.state === state).length} ${state}`);
  process.stdout.write(`${results.length} mutations: ${sum.join(', ')}\n`);
  if (results.some(({ state }) => state !== 'found')) process.exitCode = 1;
};

const chooseFrom = (all, texts) =>
  texts.length === 0
    ? all
    : all.filter(({ rule, file }) => texts.some((text) => `${rule} ${file}`.includes(text)));

const isStale = ({ file, from, tests }) => {
  const source = path.join(root, file);
  const isThere = existsSync(source) && readFileSync(source, 'utf8').split(from).length === 2;
  return !isThere || tests.some((test) => !existsSync(path.join(root, fileOf(test))));
};

const fileOf = (test) => `test/${test}.test.ts`;

const states = ['found', 'survived', 'stale', 'invalid'];

const tell = ({ state, rule, file, by = '', seconds = 0 }) =>
  process.stdout.write(
    `${state.padEnd(9)}${seconds.toFixed(1).padStart(6)} s  ${rule} (${file})\n${by && `${' '.repeat(19)}${by}\n`}`,
  );

const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
};

/** What becomes of a copy of the tree, with a mutation or without one. */
const examine = async ({ file, from, to, tests, isOfBuild }) => {
  const place = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-mutant-'));
  try {
    for (const name of copied) cpSync(path.join(root, name), path.join(place, name), { recursive: true });
    symlinkSync(path.join(root, 'node_modules'), path.join(place, 'node_modules'));
    if (file) {
      const text = readFileSync(path.join(place, file), 'utf8');
      writeFileSync(
        path.join(place, file),
        text.replace(from, () => to),
      );
    }
    const fault = (await typeFault(place)) ?? (isOfBuild ? await buildFault(place) : null);
    if (fault) return fault;
    return await runTests(place, tests);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
};

const typeFault = async (place) => {
  const { code, output } = await run(
    place,
    tsc,
    '--project tsconfig.json --noEmit --noUnusedLocals false --noUnusedParameters false'.split(' '),
  );
  return code === 0 ? null : { state: 'invalid', by: output.split('\n')[0] };
};

const buildFault = async (place) => {
  const { code, output } = await run(place, path.join(place, '.scripts/build.mjs'), []);
  return code === 0 ? null : { state: 'invalid', by: output.split('\n')[0] };
};

const runTests = async (place, tests) => {
  const report = path.join(place, 'report.json');
  const begun = performance.now();
  const { code, isHung } = await run(place, vitest, [
    ...'run --config test/vitest.config.ts --bail 1 --reporter json --outputFile report.json'.split(' '),
    ...tests.map(fileOf),
  ]);
  const seconds = (performance.now() - begun) / 1_000;
  if (isHung) return { state: 'invalid', by: 'the tests did not come to an end', seconds };
  if (code === 0) return { state: 'survived', by: tests.join(', '), seconds };
  const failed = failuresIn(report, place);
  return failed.length > 0
    ? { state: 'found', by: failed[0], seconds }
    : { state: 'invalid', by: 'the tests did not run', seconds };
};

const failuresIn = (report, place) => {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => `${path.relative(place, name)}: ${fullName}`),
  );
};

const run = async (cwd, script, args) => {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { ...process.env, SIM_ENOUGH: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let isHung = false;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const timer = setTimeout(() => {
    isHung = true;
    if (child.pid) process.kill(-child.pid, 'SIGKILL');
  }, patience);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  return { code, output, isHung };
};

const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');

const copied =
  'src test templates package.json package-lock.json tsconfig.json .scripts LICENSE README.md'.split(' ');

await main();
