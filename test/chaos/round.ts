import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Report } from '../../src/result.ts';
import { checkedReport, checkExplained, checkHistory, isDone, reasonsIn } from './checks.ts';
import { editFile } from './template-files.ts';
import { dataKey } from './wire.ts';
import { count, endOf, kill, openWorld, putFiles, startRun, type World } from './world.ts';
import { fileWorldStore, type WorldStore } from './world-store.ts';

interface RoundResult {
  /** Violations, in words; empty for a good round. */
  readonly problems: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

/** Rounds side by side, as each mostly waits: what they counted, and the problems of each bad one with how to repeat it. */
export const playRounds = async (
  seeds: readonly string[],
  lanes: number,
  again: (seed: string) => string,
  openStore?: (folder: string) => Promise<WorldStore>,
): Promise<{ readonly summary: string; readonly failures: readonly string[] }> => {
  const open = [...seeds];
  const sums = new Map<string, number>();
  const failures: string[] = [];
  const lane = async (): Promise<void> => {
    for (let seed = open.shift(); seed !== undefined; seed = open.shift()) {
      const { problems, counts } = await runRound(seed, openStore);
      for (const [what, times] of counts) sums.set(what, (sums.get(what) ?? 0) + times);
      if (problems.length > 0) failures.push(`${again(seed)}: ${problems.join('\n  ')}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const lines = [...sums]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([what, times]) => `  ${what}: ${times}\n`);
  return { summary: `${seeds.length} rounds\n${lines.join('')}`, failures };
};

/**
 * One round: files and a service that differ, then passes of the real program under faults, killed at any step, two
 * at once, with files edited and records changed by others in between; then without faults until it has converged.
 */
const runRound = async (
  seed: string,
  openStore: (folder: string) => Promise<WorldStore> = fileWorldStore,
): Promise<RoundResult> => {
  const world = await openWorld(seed, openStore);
  try {
    await disturb(world);
    await converge(world);
    world.problems.push(...world.service.judge.violations);
    return { problems: world.problems, counts: countsOf(world) };
  } finally {
    await world.close();
  }
};

const disturb = async (world: World): Promise<void> => {
  const { random } = world;
  const steps = 2 + random.below(4);
  for (let step = 0; step < steps; step += 1) {
    if (step > 0 && random.chance(0.4)) await editFiles(world);
    if (step > 0 && random.chance(0.3)) drift(world);
    if (step > 0 && random.chance(0.08)) await damageMemory(world);
    await world.store.keep();
    world.clockAhead += random.pick([0, 0, 2, 10, 90, 7 * 60, 25 * 60, -90]) * minute;
    await random.pick(world.store.takesOver ? [...passes, aLoss, aLoss] : [...passes, aDaemon])(world);
  }
};

const minute = 60_000;
const applyArgs = ['apply', '--yes', '--format', 'json', '--lock-timeout', '60s'] as const;

/** Whether anything says something else now. */
const editFiles = async (world: World): Promise<boolean> => {
  const before = world.files;
  const after = before.map((file) => editFile(file, world.random));
  await putFiles(world, after);
  return !isDeepStrictEqual(before, after);
};

const onePass = async (world: World): Promise<void> => {
  await checkedReport(world, startRun(world, applyArgs, true));
};

const twoPasses = async (world: World): Promise<void> => {
  const one = startRun(world, applyArgs, true);
  await sleep(world.random.below(150));
  if (world.random.chance(0.3)) await editFiles(world);
  const other = startRun(world, applyArgs, true);
  await Promise.all([checkedReport(world, one), checkedReport(world, other)]);
};

/** The last commits are lost under two passes, as with a standby that takes over, or a dump that is restored. */
const aLoss = async (world: World): Promise<void> => {
  const one = startRun(world, applyArgs, true);
  await sleep(world.random.below(1_000));
  const other = startRun(world, applyArgs, true);
  await sleep(world.random.below(1_000));
  await damageMemory(world);
  // Whoever finds no database has no report either.
  await Promise.all([endOf(world, one), endOf(world, other)]);
};

const aPlan = async (world: World): Promise<void> => {
  await endOf(world, startRun(world, ['plan', '--format', 'json'], false));
};

/** Where processes share the passes, a daemon makes only those whose turn it is. */
const passes = [onePass, onePass, onePass, onePass, twoPasses, twoPasses, twoPasses, aPlan] as const;

/** A pass at its start, another that takes an edit in; then a signal or a kill. */
const aDaemon = async (world: World): Promise<void> => {
  const run = startRun(world, ['run', '--listen', 'off'], true);
  const finished = (): Promise<unknown> => run.program.line((line) => line['event'] === 'pass.finished');
  await finished();
  // Not of the file alone: one that begins because a write has come to rest takes it in as well.
  const edited = finished();
  if (await editFiles(world)) await edited;
  if (world.random.chance(0.5)) kill(world, run, 'in a daemon at rest');
  run.program.signal('SIGTERM');
  const { code, stderr } = await endOf(world, run);
  if (!run.isKilled && code !== 0) world.problems.push(`the daemon ended with ${code}: ${stderr}`);
};

/** Somebody else changes or removes a record, or adds one beside ours. */
const drift = ({ service, templateIds, random, files }: World): void => {
  const file = files[random.below(files.length)]!;
  const id = templateIds.get(file.template)!;
  const desired = new Set(file.records.map(dataKey));
  const template = service.templates().find((one) => one.id === id);
  const ours = template?.dns_template_records.filter((record) => desired.has(dataKey(record))) ?? [];
  const [first, ...rest] = ours;
  if (!first || random.chance(0.2)) {
    const record = { type: 'A', name: 'foreign-too', content: `192.0.2.${random.below(250)}` };
    service.change('add-record', { dns_template_id: id, ...record });
    return;
  }
  const target = random.pick([first, ...rest]);
  const content = target.content.replace(/\d/, '9');
  if (random.chance(0.4)) service.change('remove-record', { record_id: target.id });
  else if (random.chance(0.5)) service.change('edit-record', { record_id: target.id, ttl: 42 });
  else service.change('edit-record', { record_id: target.id, content });
};

const damageMemory = async (world: World): Promise<void> => {
  world.hasLostMemory = true;
  world.service.judge.memoryLost([...world.templateIds.values()], world.store.takesOver);
  count(world, await world.store.damage(world.random));
};

/** Without faults: everything must become equal to the files, or be explained; then nothing more is written. */
const converge = async (world: World): Promise<void> => {
  world.isCalm = true;
  // Adds wait for a lease that may have been held when commits were lost.
  if (world.store.takesOver && world.hasLostMemory) await sleep(2_500);
  let report = await calmPasses(world);
  if (report && !isDone(report)) {
    checkExplained(world, report);
    count(world, 'rounds that a person ended');
    const word = ['--retry', '--force', '--accept-loss', ...world.templateIds.keys()];
    await calmPass(world, [...applyArgs, ...word]);
    report = await calmPasses(world);
  }
  if (!report) return;
  checkExplained(world, report);
  await checkHistory(world);
  const reasons = reasonsIn(report);
  if (reasons.length === 0) count(world, 'rounds converged');
  for (const reason of reasons) count(world, `rounds not converged: ${reason}`);
};

/** Until a pass writes nothing, and no late write was open at its start. */
const calmPasses = async (world: World): Promise<Report | null> => {
  const { service, problems } = world;
  for (let pass = 0; pass < 12; pass += 1) {
    const before = service.writes.length;
    const awaited = service.awaited();
    const report = await calmPass(world, applyArgs);
    if (report === null) return null;
    if (service.writes.length === before && awaited === 0) return report;
  }
  problems.push('it wrote in each of 12 passes without faults');
  return null;
};

/** Hours later, so that every backoff is over. */
const calmPass = (world: World, args: readonly string[]): Promise<Report | null> => {
  world.later += 7 * 60 * minute;
  return checkedReport(world, startRun(world, args, false));
};

const countsOf = ({ service, counts }: World): ReadonlyMap<string, number> => {
  const { writes, judge } = service;
  return new Map([
    ...counts,
    ['adds that left', writes.filter(({ request }) => request.operation === 'add').length],
    ['writes that left', writes.length],
    ['writes stored', writes.filter(({ result }) => result !== null).length],
    ...[...service.faults].map(([kind, times]) => [`fault, ${kind}`, times] as const),
    ...judge.counts,
  ]);
};
