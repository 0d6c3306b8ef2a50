import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { drawCommit, drawFault, noFault, type Fault } from './fault.ts';
import { startFaultyService, type FaultyService, type Stage } from './faulty-service.ts';
import type { Ended, LogLine, Program } from '../program.ts';
import { startProgram } from './program.ts';
import { randomOf, type Random } from './random.ts';
import { drawFile, type FileRecord, type TemplateFile, writeTemplateFile } from './template-files.ts';
import type { WorldStore } from './world-store.ts';
import type { FileFacts, Pass } from '../laws/seen.ts';
import { isWrite, type SeenRequest, type WireTemplate } from './wire.ts';

/** Everything in a round. */
export interface World {
  readonly random: Random;
  readonly folder: string;
  readonly service: FaultyService;
  readonly store: WorldStore;
  /** By the names of the templates that files describe. */
  readonly templateIds: ReadonlyMap<string, number>;
  /** Violations, in words. */
  readonly problems: string[];
  readonly counts: Map<string, number>;
  readonly runs: Run[];
  files: readonly TemplateFile[];
  /** Every version of them so far. */
  readonly asked: TemplateFile[];
  /** Ends all faults. */
  isCalm: boolean;
  /** Milliseconds that the clocks of processes are ahead of ours. */
  clockAhead: number;
  /** Milliseconds that have passed on both clocks. */
  later: number;
  hasLostMemory: boolean;
  close(): Promise<void>;
}

/** One process of the program. */
export interface Run {
  /** Its user token. */
  readonly caller: string;
  readonly program: Program;
  /** It is killed, or stopped for a while, when this many of its requests, or of its writes, were at this stage before. */
  readonly killAt: { readonly stage: Stage; readonly after: number; readonly writesOnly: boolean } | null;
  seen: number;
  isKilled: boolean;
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
  const weather = { share: random.pick([0.1, 0.3, 0.6]), later: random.chance(0.25) };
  const runOf = (caller: string): Run | undefined => world.runs.find((run) => run.caller === caller);
  const faultOf = (request: SeenRequest): Fault => {
    const { caller, operation, templateId, ordinal } = request;
    const drawn = random.fork(`${caller} ${operation} ${templateId} ${ordinal}`);
    if (isWrite(request) && runOf(caller)?.isKilled)
      return { commit: drawCommit(drawn, weather.later), answer: 'drop' };
    return world.isCalm ? noFault : drawFault(request, drawn, weather);
  };
  const onStage = (stage: Stage, request: SeenRequest): void => {
    const run = runOf(request.caller);
    if (run?.killAt?.stage !== stage || (run.killAt.writesOnly && !isWrite(request))) return;
    run.seen += 1;
    if (run.seen > run.killAt.after)
      kill(world, run, `at a ${isWrite(request) ? 'write' : 'reading'} ${stage}`);
  };
  const service = await startFaultyService({
    faultOf,
    onStage,
    passOf: ({ caller }) => runOf(caller)?.judged ?? null,
    isLate: weather.later,
  });
  const files = ['alpha', 'beta'].map((template) => drawFile(template, random));
  const world: World = {
    random,
    folder,
    service,
    store: await openStore(folder),
    templateIds: makeTemplates(files, service, random),
    problems: [],
    counts: new Map(),
    runs: [],
    files: [],
    asked: [],
    isCalm: false,
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
  count(world, weather.later ? 'rounds with writes stored too late' : 'rounds with writes stored in time');
  await putFiles(world, files);
  return world;
};

/** The templates as the files' owner finds them: some records there, some different, some of other people. */
const makeTemplates = (
  files: readonly TemplateFile[],
  service: FaultyService,
  random: Random,
): Map<string, number> => {
  const ids = new Map<string, number>();
  for (const file of files) {
    const [first, ...rest] = file.records;
    // Something agrees, or the first-contact guard would hold everything.
    const own = [...(first ? [first] : []), ...rest.flatMap((record) => actualFor(record, random))];
    const others = foreignRecords(file, random);
    const copies = random.chance(0.15) ? own.slice(0, 1) : [];
    const template = addTemplate(service, file.template, [...own, ...copies, ...others]);
    ids.set(file.template, template.id);
  }
  // Like those, and in no file.
  for (const file of files) addTemplate(service, `${file.template}-sibling`, file.records);
  return ids;
};

const addTemplate = (service: FaultyService, name: string, records: readonly FileRecord[]): WireTemplate =>
  service.change('add-template', {
    name,
    records: records.map((record) => ({ ...record, ttl: record.ttl ?? 3600 })),
  });

const actualFor = (record: FileRecord, random: Random): FileRecord[] => {
  const kind = random.below(6);
  if (kind === 0) return [record];
  if (kind === 1) return [{ ...record, ttl: 60 }];
  return kind === 2 && record.type !== 'TXT'
    ? [{ ...record, content: record.content.replace(/\d/, '9') }]
    : [];
};

/** Outside the file: with `adopt` only ignored records and those of unknown type. */
const foreignRecords = ({ adopt }: TemplateFile, random: Random): FileRecord[] => {
  const plain = { name: null, priority: null, ttl: 3600 };
  const always = [
    { ...plain, type: 'CAA', content: '0 issue "ca.example.net"' },
    { ...plain, type: 'TXT', name: '_acme-challenge', content: 'challenge' },
  ];
  const unlisted = [
    { ...plain, type: 'A', name: 'foreign', content: '192.0.2.1' },
    { ...plain, type: 'TXT', content: 'verification=0123456789' },
    { ...plain, type: 'MX', name: 'foreign', content: 'mx.example.com', priority: 5 },
  ];
  return [...always, ...(adopt ? [] : unlisted)].filter(() => random.chance(0.6));
};

export const putFiles = async (world: World, files: readonly TemplateFile[]): Promise<void> => {
  world.asked.push(...files);
  for (const run of world.runs.filter(({ isOver }) => !isOver)) {
    // A command goes by either version, a daemon makes another pass.
    run.hasOtherFiles = true;
    run.judged = judgedPass(world, run.args, world.asked);
  }
  for (const file of files) await writeTemplateFile(path.join(world.folder, 'templates'), file);
  world.files = files;
};

/** What a pass over these versions of the files may do. */
const judgedPass = (
  { service, templateIds, clockAhead }: World,
  args: readonly string[],
  files: readonly TemplateFile[],
): Pass =>
  service.judge.started({
    isDryRun: args.includes('plan'),
    isCommand: args.includes('apply'),
    force: args.includes('--force'),
    retry: args.includes('--retry'),
    acceptLoss: args.includes('--accept-loss'),
    maxAddsPerPass: 300,
    skew: clockAhead,
    files: new Map(
      [...templateIds].map(([template, id]) => [
        id,
        factsOf(files.filter((file) => file.template === template)),
      ]),
    ),
  });

/** Of all versions together, where it is not known which of them is in force. */
const factsOf = (versions: readonly TemplateFile[]): FileFacts => {
  const [first] = versions;
  if (!first) throw new Error('there is no file');
  return {
    template: first.template,
    mode: 'enforce',
    surplus: first.surplus,
    adopt: first.adopt,
    limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
    records: versions.flatMap(({ records }) => records),
    isIgnored: ({ name }) => name === '_acme-challenge',
  };
};

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
    judged: judgedPass(world, args, world.files),
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

/** A daemon makes one pass after the other. */
const followPasses = async (world: World, run: Run): Promise<void> => {
  const begins = (line: LogLine): boolean => line['event'] === 'pass.started';
  while ((await run.program.line(begins)) !== null)
    run.judged = judgedPass(world, run.args, run.hasOtherFiles ? world.asked : world.files);
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
