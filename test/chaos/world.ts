import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DesiredTemplate } from '../../src/model/template.ts';
import { drawFile, isIgnored, type TemplateFile } from '../laws/files.ts';
import { drawTemplates } from '../laws/round.ts';
import type { FileFacts, Pass } from '../laws/seen.ts';
import type { Weather } from '../laws/service.ts';
import type { Ended, Program } from '../program.ts';
import { startFront, type Caller, type Front, type Stage } from './front.ts';
import { startProgram } from './program.ts';
import { randomOf, type Random } from './random.ts';
import type { WorldStore } from './world-store.ts';

/** Everything in a round. */
export interface World {
  readonly random: Random;
  readonly folder: string;
  readonly service: Front;
  readonly store: WorldStore;
  /** Violations, in words. */
  readonly problems: string[];
  readonly counts: Map<string, number>;
  readonly runs: Run[];
  readonly files: readonly TemplateFile[];
  isCalm: boolean;
  /** Ends all faults. */
  calm(): void;
  /** Milliseconds that the clocks of processes are ahead of ours. */
  clockAhead: number;
  /** Milliseconds that have passed on both clocks. */
  later: number;
  hasLostMemory: boolean;
  close(): Promise<void>;
}

/** One process of the program. */
export interface Run extends Caller {
  readonly program: Program;
  /** It is killed, or stopped for a while, when this many of its requests, or of its writes, were at this stage before. */
  readonly killAt: { readonly stage: Stage; readonly after: number; readonly writesOnly: boolean } | null;
  seen: number;
  /** What it may do now, in the eyes of the judge. */
  judged: Pass;
  readonly args: readonly string[];
  /** The files changed while it was running: which ones it goes by is not known. */
  hasOtherFiles: boolean;
  isOver: boolean;
}

export const openWorld = async (
  seed: string,
  openStore: (folder: string) => Promise<WorldStore>,
): Promise<World> => {
  const random = randomOf(seed);
  const folder = await mkdtemp(path.join(tmpdir(), 'dns-template-sync-chaos-'));
  const share = random.pick([0.1, 0.3, 0.6]);
  const isLate = random.chance(0.25);
  const files = ['one', 'two'].map((name, index) => {
    let file = drawFile(random, index + 1, name);
    while (file.desired.records.length < 5) file = drawFile(random, index + 1, name);
    const limits = { ...file.desired.limits, maxAdds: 100 };
    file.desired = { ...file.desired, mode: 'enforce', subdomains: [], limits };
    return file;
  });
  const weather: Weather = { writes: share, reads: share / 2, lies: 0, meddling: 0 };
  const runOf = (token: string | null): Run | undefined => world.runs.find(({ caller }) => caller === token);
  const onStage = (stage: Stage, run: Run, isWrite: boolean): void => {
    if (run.killAt?.stage !== stage || (run.killAt.writesOnly && !isWrite)) return;
    run.seen += 1;
    if (run.seen > run.killAt.after) kill(world, run, `at a ${isWrite ? 'write' : 'reading'} ${stage}`);
  };
  // Something agrees, or the first-contact guard would hold everything.
  const start = drawTemplates(random, [{ name: 'a', files }], random.pick([0.2, 0.5]));
  const service = await startFront({ random, start, weather, isLate, runOf, onStage });
  const world: World = {
    random,
    folder,
    service,
    store: await openStore(folder),
    problems: [],
    counts: service.counts,
    runs: [],
    files,
    isCalm: false,
    calm: () => {
      world.isCalm = true;
      [weather.writes, weather.reads] = [0, 0];
    },
    clockAhead: 0,
    later: 0,
    hasLostMemory: false,
    close: async () => {
      for (const { program } of world.runs) program.signal('SIGKILL');
      await Promise.all(world.runs.map(({ program }) => program.ended));
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  count(world, isLate ? 'rounds with writes stored too late' : 'rounds with writes stored in time');
  await putFiles(world);
  return world;
};

/** After they were edited. */
export const putFiles = async (world: World): Promise<void> => {
  for (const run of world.runs.filter(({ isOver }) => !isOver)) {
    // A command goes by either version, a daemon makes another pass.
    run.hasOtherFiles = true;
    run.judged = judgedPass(world, run.args, true);
  }
  const folder = path.join(world.folder, 'templates');
  await mkdir(folder, { recursive: true });
  for (const { desired } of world.files) {
    const { source: _, ...said } = desired;
    const place = path.join(folder, `${desired.template}.yaml`);
    // Every JSON text is YAML. Like editors: writes a new file, then renames it.
    const isSaid = (key: string, value: unknown): unknown =>
      key === 'source' || value === null ? undefined : value;
    await writeFile(`${place}.new`, JSON.stringify(said, isSaid, 1));
    // Else its times could be those of a copy that is on its way.
    await utimes(`${place}.new`, 0, 0);
    await rename(`${place}.new`, place);
  }
};

/** What a pass may do; over all versions of the files together, where it is not known which of them is in force. */
const judgedPass = ({ service, files, clockAhead }: World, args: readonly string[], isOfAny: boolean): Pass =>
  service.judge.started({
    isDryRun: args.includes('plan'),
    isCommand: args.includes('apply'),
    force: args.includes('--force'),
    retry: args.includes('--retry'),
    acceptLoss: args.includes('--accept-loss'),
    maxAddsPerPass: 300,
    skew: clockAhead,
    files: new Map(
      files.map(({ templateId, desired, earlier }) => [
        templateId,
        factsOf(desired, isOfAny ? [...earlier, desired] : [desired]),
      ]),
    ),
  });

const factsOf = (desired: DesiredTemplate, versions: readonly DesiredTemplate[]): FileFacts => ({
  ...desired,
  records: versions.flatMap(({ records }) => records),
  isIgnored: (record) => isIgnored(desired, record),
});

/** Starts the program; if it may be killed, whether and when is random. */
export const startRun = (world: World, args: readonly string[], mayBeKilled: boolean): Run => {
  const { random, folder, service, store, isCalm, clockAhead, later } = world;
  const caller = `process-${world.runs.length}`;
  const program = startProgram({
    args,
    cwd: folder,
    later,
    clockAhead: clockAhead + (store.takesOver ? random.fork(`clock of ${caller}`).pick(skews) : 0),
    isElsewhere: store.takesOver,
    env: {
      DNS_SYNC_BASE_URL: service.url,
      DNS_SYNC_USER_TOKEN: caller,
      DNS_SYNC_CLIENT_TOKEN: 'token-of-client',
      DNS_SYNC_TEMPLATES: path.join(folder, 'templates'),
      DNS_SYNC_STATE_DIR: path.join(folder, 'state'),
      DNS_SYNC_SETTLE: '30ms',
      DNS_SYNC_UNKNOWN_PAUSE: '50ms',
      DNS_SYNC_CONCURRENCY: random.pick(['1', '4']),
      // With the start of every pass.
      LOG_LEVEL: 'debug',
      // Without faults, a busy machine must not look like one.
      DNS_SYNC_WRITE_TIMEOUT: isCalm ? '20s' : '300ms',
      DNS_SYNC_REQUEST_TIMEOUT: isCalm ? '20s' : '500ms',
      ...store.env,
    },
  });
  const isDoomed = mayBeKilled && random.chance(0.45);
  const killAt =
    isDoomed && random.chance(0.85)
      ? {
          stage: random.pick<Stage>(['arrived', 'arrived', 'stored', 'answered']),
          after: random.below(4),
          writesOnly: random.chance(0.6),
        }
      : null;
  const run: Run = {
    caller,
    program,
    killAt,
    seen: 0,
    isKilled: false,
    judged: judgedPass(world, args, false),
    args,
    hasOtherFiles: false,
    isOver: false,
  };
  if (isDoomed && killAt === null) {
    const timer = setTimeout(() => kill(world, run, 'at any time'), random.below(500));
    void program.ended.then(() => clearTimeout(timer));
  }
  if (args[0] === 'run') void followPasses(world, run);
  world.runs.push(run);
  count(world, 'processes');
  return run;
};

/** A daemon makes one pass after the other; of several that are heard at once none is left out. */
const followPasses = async (world: World, run: Run): Promise<void> => {
  const next = (): Promise<unknown> => run.program.event('pass.started').catch(() => null);
  while ((await next()) !== null) run.judged = judgedPass(world, run.args, run.hasOtherFiles);
};

/** Milliseconds between the clocks of two machines. */
const skews = [0, 0, -600_000, -120_000, 120_000, 600_000] as const;

export const kill = (world: World, run: Run, when: string): void => {
  if (run.isKilled) return;
  run.isKilled = true;
  if (world.store.takesOver && world.random.fork(`stop ${run.caller}`).chance(0.5)) {
    count(world, `stops ${when}`);
    run.program.signal('SIGSTOP');
    setTimeout(() => run.program.signal('SIGCONT'), stopped);
    return;
  }
  count(world, `kills ${when}`);
  run.program.signal('SIGKILL');
};

/** Milliseconds that a process is stopped for: somebody else takes over meanwhile. */
const stopped = 4_500;

export const endOf = async ({ problems }: World, run: Run): Promise<Ended> => {
  const patience = setTimeout(() => {
    problems.push(`${run.caller} does not end`);
    run.program.signal('SIGKILL');
  }, 90_000);
  const ended = await run.program.ended;
  clearTimeout(patience);
  if (ended.stderr.includes('defect')) problems.push(`${run.caller}: ${ended.stderr}`);
  run.isOver = true;
  return ended;
};

export const count = ({ counts }: Pick<World, 'counts'>, what: string, more = 1): void =>
  void counts.set(what, (counts.get(what) ?? 0) + more);
