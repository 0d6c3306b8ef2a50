import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../../src/result.ts';
import { editRecords } from '../laws/files.ts';
import { checkedReport, checkExplained, checkHistory, isDone, reasonsIn } from './checks.ts';
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
    const { violations, counts } = world.service.judge;
    return { problems: [...world.problems, ...violations], counts: new Map([...world.counts, ...counts]) };
  } finally {
    await world.close();
  }
};

const disturb = async (world: World): Promise<void> => {
  const { random } = world;
  const steps = 2 + random.below(4);
  for (let step = 0; step < steps; step += 1) {
    if (step > 0 && random.chance(0.4)) await editFiles(world);
    if (step > 0 && random.chance(0.3)) world.service.meddle(random.pick(world.files).templateId);
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
  const { files, random } = world;
  const before = JSON.stringify(files.map(({ desired }) => desired));
  for (const file of files) for (let left = random.below(6); left > 0; left -= 1) editRecords(random, file);
  await putFiles(world);
  return before !== JSON.stringify(files.map(({ desired }) => desired));
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

const damageMemory = async (world: World): Promise<void> => {
  world.hasLostMemory = true;
  const ids = world.files.map(({ templateId }) => templateId);
  world.service.judge.memoryLost(ids, world.store.takesOver);
  count(world, await world.store.damage(world.random));
};

/** Without faults: everything must become equal to the files, or be explained; then nothing more is written. */
const converge = async (world: World): Promise<void> => {
  world.calm();
  // Adds wait for a lease that may have been held when commits were lost.
  if (world.store.takesOver && world.hasLostMemory) await sleep(2_500);
  let report = await calmPasses(world);
  if (report && !isDone(report)) {
    checkExplained(world, report);
    count(world, 'rounds that a person ended');
    const names = world.files.map(({ desired }) => desired.template);
    const word = ['--retry', '--force', '--accept-loss', ...names];
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
    const before = service.sent.length;
    const awaited = service.awaited();
    const report = await calmPass(world, applyArgs);
    if (report === null) return null;
    if (service.sent.length === before && awaited === 0) return report;
  }
  problems.push('it wrote in each of 12 passes without faults');
  return null;
};

/** Hours later, so that every backoff is over. */
const calmPass = (world: World, args: readonly string[]): Promise<Report | null> => {
  world.later += 7 * 60 * minute;
  return checkedReport(world, startRun(world, args, false));
};
