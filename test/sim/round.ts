import { planChanges } from '../../src/app/plan-file.ts';
import { reconcile, type Pass } from '../../src/reconcile/pass.ts';
import type { PassResult, Trigger } from '../../src/result.ts';
import { messageOf } from '../../src/errors.ts';
import type { RecordData } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { simulatedDisk, type Disk } from './disk.ts';
import { describeFile, drawFile, drawForeign, editFile, readFiles, type Files } from './files.ts';
import { createJudge, type Judge } from './judge.ts';
import { drawNature, isFaithful, type Nature } from './nature.ts';
import { meddle } from './people.ts';
import { failoversIn, type Failovers } from './failovers.ts';
import { died, keptBetweenPasses, startProcess, storeFailures, type KeptBetweenPasses } from './process.ts';
import { randomOf, type Random } from './random.ts';
import { surplusOf } from './result-laws.ts';
import { keyOf, satisfies, shown } from './records.ts';
import { createService, type SimulatedService, type Weather } from './service.ts';
import { templateIn, type PassFacts } from './witness.ts';
import { createWorld, type World } from './world.ts';

export interface RoundOutcome {
  readonly violations: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly trace: readonly string[];
}

export interface RoundOptions {
  readonly isTraced?: boolean;
  readonly disk?: Disk;
}

/** One round: some passes with faults, some without, and a person's pass at the end. */
export const playRound = async (seed: number, options: RoundOptions = {}): Promise<RoundOutcome> => {
  const world = createWorld(randomOf(seed), options.isTraced ?? false);
  const round = setUp(world, options.disk ?? simulatedDisk(), seed);
  await badWeather(round);
  if (round.judge.violations.length === 0) await fairWeather(round);
  const { violations, counts } = round.judge;
  return { violations, counts, trace: world.trace };
};

export interface Round {
  readonly world: World;
  readonly nature: Nature;
  readonly weather: Weather;
  readonly service: SimulatedService;
  readonly files: Files;
  readonly disk: Disk;
  readonly failovers: Failovers;
  /** By process. */
  readonly kept: readonly KeptBetweenPasses[];
  readonly judge: Judge;
  readonly settings: Settings;
  readonly dangers: { crash: number; fullDisk: number; readonly mayBeCommitted?: boolean };
  skew: number;
  passes: number;
}

interface Settings {
  readonly settle: number;
  readonly unknownPause: number;
  readonly maxAddsPerPass: number;
  readonly concurrency: number;
}

const setUp = (world: World, disk: Disk, seed: number): Round => {
  const { random } = world;
  const failovers = failoversIn(world, disk, seed, () => round.judge.commitsLost());
  const settings: Settings = {
    settle: random.pick([10_000, 10_000, 60_000, 120_000, 0]),
    unknownPause: random.pick([1_000, 300_000]),
    maxAddsPerPass: random.chance(0.9) ? 300 : 3,
    concurrency: random.pick([1, 2]),
    // An add must not be on its way for longer.
    ...(failovers.chance > 0 ? { unknownPause: 300_000 } : {}),
  };
  const nature = drawNature(random, settings);
  const weather: Weather = {
    writes: random.pick([0, 0.1, 0.3]),
    reads: random.pick([0, 0.05]),
    lies: random.pick([0, 0, 0.1, 0.3]),
    meddling: random.pick([0, 0, 0, 0.05]),
  };
  const names = random.chance(0.3) ? ['one', 'two'] : ['one'];
  const files: Files = { templates: names.map((name, index) => drawFile(random, index + 1, name)) };
  const start = drawTemplates(random, files);
  const dangers = { crash: random.pick([0, 0.01, 0.05]), fullDisk: random.pick([0, 0, 0.02]) };
  // What only failovers can break needs a process that dies while an add is on its way.
  if (failovers.chance > 0) {
    dangers.crash = 0.05;
    weather.writes = 0.3;
  }
  const round = assemble(world, { nature, weather, settings, files, start, disk, failovers, dangers });
  return round;
};

type Given = Pick<Round, 'nature' | 'weather' | 'settings' | 'files' | 'disk' | 'failovers' | 'dangers'> & {
  readonly start: readonly ActualTemplate[];
};

export const assemble = (world: World, { start, ...given }: Given): Round => {
  const { nature, weather, settings, files, failovers } = given;
  let judge: Judge | null = null;
  const service: SimulatedService = createService(world, nature, weather, start, {
    onTurn: (templateId, deed) => meddle(world, service, templateId, deed),
    onSent: (sent) => judge!.onSent(sent),
    onLanded: (sent) => judge!.onLanded(sent),
    onListing: (templates) => judge!.onListing(templates),
    onAnswer: (sent, template) => judge!.onAnswer(sent, template),
    onFailure: (error) => judge!.onFailure(error),
  });
  judge = createJudge({
    world,
    nature,
    truth: () => service.templates(),
    editsOf: (id) => files.templates.find(({ templateId }) => templateId === id)?.edits ?? 0,
  });
  world.note(() => `nature ${JSON.stringify(nature)}`);
  world.note(() => `weather ${JSON.stringify(weather)} settings ${JSON.stringify(settings)}`);
  for (const file of files.templates) world.note(() => describeFile(file));
  for (const { id, records } of start) world.note(() => `service ${id}: ${records.map(shown).join(' | ')}`);
  return {
    ...given,
    world,
    service,
    kept: Array.from({ length: failovers.processes }, keptBetweenPasses),
    judge,
    skew: 0,
    passes: 0,
  };
};

/** The client's templates have some desired records and some others; and there are further templates. */
const drawTemplates = (random: Random, { templates }: Files): ActualTemplate[] => {
  let id = 0;
  const share = random.pick([0, 0.5, 1]);
  const own = templates.map(({ templateId, desired }): ActualTemplate => {
    const records = [
      ...random.some(desired.records, share).map((record) => ({ ...record, ttl: record.ttl ?? 3_600 })),
      ...Array.from({ length: random.pick([0, 0, 1, 3, 9]) }, () => drawForeign(random)),
    ].map(({ type, name, content, priority, ttl }) => ({
      id: (id += 1),
      type,
      name,
      content,
      priority,
      ttl,
    }));
    return { id: templateId, name: desired.template, publiclyAvailable: false, subdomains: 1, records };
  });
  const record = { id: (id += 1), type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: 300 };
  return [
    ...own,
    { id: 90, name: 'other', publiclyAvailable: false, subdomains: 0, records: [record] },
    {
      id: 91,
      name: 'one',
      publiclyAvailable: true,
      subdomains: null,
      records: [{ ...record, id: (id += 1) }],
    },
  ];
};

const badWeather = async (round: Round): Promise<void> => {
  const { world, files, service, judge, disk, failovers } = round;
  const { random } = world;
  const haste = random.pick([0.3, 0.8]);
  for (let left = 4 + random.below(9); left > 0 && judge.violations.length === 0; left -= 1) {
    // Another process takes over at once.
    if (failovers.isNew) world.advance(failovers.random.pick([100, 5_000]));
    else world.advance(random.chance(haste) ? random.pick([100, 1_000, 5_000, 20_000]) : random.pick(pauses));
    for (const file of files.templates) {
      while (random.chance(0.3)) editFile(world, file);
      while (random.chance(0.25)) meddle(world, service, file.templateId);
    }
    if (random.chance(0.04)) {
      round.skew += random.pick([-1, 1]) * random.pick([60_000, 7 * hour, 40 * 24 * hour]);
      world.note(() => `~ the clock jumps: ${round.skew} ms ahead of the true time`);
      judge.clockJumped();
    }
    if (random.chance(0.02)) {
      world.advance(hour);
      world.note(() => '~ the state directory is lost');
      disk.wipe();
      judge.memoryLost();
    }
    const isCommand = random.chance(0.2);
    await pass(round, {
      isDryRun: random.chance(0.07),
      only: isCommand && random.chance(0.3) ? random.pick(files.templates).desired.template : null,
      isCommand,
      force: isCommand && random.chance(0.3),
      retry: isCommand && random.chance(0.3),
      acceptLoss: isCommand && random.chance(0.3),
      stopAt: random.chance(0.05) ? 1 + random.below(20) : null,
    });
  }
};

/** Without faults and changes it converges, or says why not, and then writes nothing more. */
export const fairWeather = async (
  round: Round,
  { onRest, isSeen }: { readonly onRest: () => void; readonly isSeen: (key: unknown) => boolean } = anyEnd,
): Promise<void> => {
  const { world, files, weather, judge, dangers, failovers } = round;
  weather.writes = 0;
  weather.reads = 0;
  weather.lies = 0;
  weather.meddling = 0;
  dangers.crash = 0;
  dangers.fullDisk = 0;
  failovers.chance = 0;
  world.note(() => '~ fair weather');
  for (const file of files.templates.slice(world.random.below(2))) {
    while (file.state !== 'good') editFile(world, file);
  }
  const rest = await converge(round, quiet, 'by itself', isSeen);
  if (rest === 'seen') return;
  if (judge.violations.length === 0) onRest();
  if (judge.violations.length > 0) return;
  world.note(() => '~ a person says: go on');
  const isShown = isFaithful(round.nature) && round.nature.ownLag === 0;
  const word = { ...quiet, isCommand: true, isShown, force: true, retry: true, acceptLoss: true };
  await pass(round, word);
  // A person’s word goes for what listings show, and they are not behind for longer.
  world.advance(hour / 2);
  await pass(round, word);
  const result = await converge(round, word, 'at a person’s word', isSeen);
  if (result === 'seen') return;
  if (result && round.nature.listed === null) finalTruth(round, result);
  if (result && isFaithful(round.nature)) round.judge.checkOwn(result);
};

/** A pass of the daemon. */
export const quiet: PassWish = {
  isDryRun: false,
  only: null,
  isCommand: false,
  force: false,
  retry: false,
  acceptLoss: false,
  stopAt: null,
};

type PassWish = Pick<PassFacts, 'isDryRun' | 'isCommand' | 'force' | 'retry' | 'acceptLoss' | 'stopAt'> & {
  /** The one template that it is restricted to. */
  readonly only: string | null;
  /** Whether the person looks at the plan first; as long as nothing changes in between. */
  readonly isShown?: boolean;
};

const anyEnd = { onRest: () => undefined, isSeen: () => false };

const converge = async (
  round: Round,
  wish: PassWish,
  how: string,
  isSeen: (key: unknown) => boolean,
): Promise<PassResult | null | 'seen'> => {
  const { world, judge, files } = round;
  const isManaged = (id: number): boolean => files.templates.some(({ templateId }) => templateId === id);
  const desiredCount = files.templates.flatMap(({ desired }) => desired.records).length;
  const actualCount = round.service
    .templates()
    .flatMap(({ id, records }) => (isManaged(id) ? records : [])).length;
  // Some services accept one write at a time, and backoffs double nine times up to their maximum.
  const most = 8 + 9 + 3 * desiredCount + actualCount;
  let still = 0;
  let before = '';
  let result: PassResult | null = null;
  for (let count = 0; count < most && still < 2; count += 1) {
    world.advance(hour / 2);
    result = await pass(round, { ...wish, retry: false });
    if (judge.violations.length > 0) return null;
    // A refused or ignored write is retried after its backoff, and changes nothing.
    const after = JSON.stringify(round.service.templates());
    const isQuiet = isFaithful(round.nature) ? judge.attempts.length === 0 : after === before;
    still = isQuiet ? still + 1 : 0;
    before = after;
    if (isSeen([how, still, round.passes % 2])) return 'seen';
  }
  if (still < 2) judge.report(`does not come to rest ${how} within ${most} passes`);
  const managed = new Set(
    files.templates.filter(({ state }) => state === 'good').map(({ templateId }) => templateId),
  );
  const intents = await round.disk.open().openIntents();
  // If the service named a record, it is unknown which add without a name made it.
  const isClear = (after: RecordData): boolean => after.name !== null || !round.nature.namesNameless;
  const open = intents.filter(({ templateId, after }) => managed.has(templateId) && isClear(after));
  if (open.length > 0 && how !== 'by itself')
    judge.report(`intents stay open: ${open.map(({ after }) => shown(after)).join(', ')}`);
  return result;
};

/** After a person's pass, an honest service has exactly the file; any other has what the result says. */
const finalTruth = ({ judge, service, files, nature }: Round, result: PassResult): void => {
  for (const { templateId, desired } of files.templates.filter(({ state }) => state === 'good')) {
    const truth = templateIn(service.templates(), templateId)!;
    const told = result.templates.find(({ template }) => template === desired.template)!;
    const isMet = (record: (typeof desired.records)[number]): boolean =>
      truth.records.some((actual) => satisfies(actual, record));
    // After a rejected answer, it describes the previous reading.
    const isDoubted = told.status === 'failed' && told.message !== null;
    for (const record of desired.records.filter((one) => !isMet(one))) {
      const why = told.differences.find(
        (difference) => 'source' in difference && difference.source.line === record.source.line,
      );
      if (!why && isDoubted) continue;
      if (!why) judge.report(`is silent about ${shown(record)} at the end`);
      else if (desired.mode !== 'report' && isFaithful(nature) && why.action !== 'blocked')
        judge.report(
          `does not write ${shown(record)}: ${why.action} ${why.outcome ?? ''} ${why.error ?? ''}`,
        );
      else if (why.action === 'blocked' && isFaithful(nature) && !legitimate.has(why.reason))
        judge.report(`blocks ${shown(record)} for ever: ${why.reason}`);
    }
    const reasons = told.differences.flatMap((one) => ('source' in one ? [reasonOf(one)] : []));
    for (const reason of new Set(reasons)) judge.count(`templates not as their file says: ${reason}`);
    if (reasons.length === 0) judge.count('templates as their file says');
    const named = new Set(told.differences.map((one) => ('recordId' in one ? one.recordId : null)));
    for (const record of desired.records) {
      const unsaid = truth.records.filter((one) => keyOf(one) === keyOf(record) && !named.has(one.id));
      if (unsaid.length > 1) judge.report(`is silent about a copy of ${shown(record)}`);
    }
    const isClean = desired.records.every(isMet) && surplusOf(desired, truth.records).length === 0;
    if (isClean !== (told.status === 'in-sync')) {
      judge.report(
        `${desired.template} is ${isClean ? '' : 'not '}as wanted, and its status is ${told.status}`,
      );
    }
  }
};

const reasonOf = (difference: Difference): string =>
  difference.action === 'blocked' ? difference.reason : (difference.outcome ?? 'nothing said');

const legitimate = new Set(['cname-conflict', 'null-mx-conflict', 'not-converging']);

export const pass = async (round: Round, wish: PassWish): Promise<PassResult | null> => {
  const { world, files, service, disk, failovers, judge, settings, dangers, skew } = round;
  round.passes += 1;
  const kept = round.kept[round.kept.length > 1 ? failovers.random.below(round.kept.length) : 0]!;
  const { number, trigger } = { number: round.passes, trigger: triggerOf(world.random, wish) };
  const desired = kept.recogniseFiles(readFiles(files));
  const facts: PassFacts = {
    ...wish,
    ...settings,
    number,
    skew,
    desired: new Map(
      files.templates
        .filter(
          ({ state, desired: { template } }) => state === 'good' && (wish.only ?? template) === template,
        )
        .map((file) => [file.templateId, file.desired]),
    ),
  };
  world.note(() => `pass ${number}: ${describeWish(trigger, wish)}`);
  judge.passStarted(facts);
  const memory = disk.open();
  const holdsAdds = wish.isDryRun ? null : await failovers.notice(memory, settings.unknownPause);
  const process = startProcess(
    world,
    service,
    memory,
    { ...dangers, failOver: failovers.strike, stopAt: wish.stopAt, skew },
    kept,
    judge,
  );
  const { force, retry, acceptLoss } = wish;
  const request = (): Pass => ({
    ...settings,
    client: 'default',
    run: `run-${number}`,
    trigger,
    startedAt: process.clock.now(),
    templates: wish.only === null ? [] : [wish.only],
    service: process.service,
    listing: null,
    memory: process.memory,
    writer: wish.isDryRun ? null : process.memory,
    holdsAdds,
    clock: process.clock,
    signal: process.signal,
    onChange: () => undefined,
    warn: () => judge.memoryDoubted(),
    revisionOf: () => null,
    subdomainGrace: 900_000,
    ignoreSubdomains: false,
    // A person's pass runs in a process of its own.
    ...(trigger === 'command' ? {} : { cache: kept.cache }),
    force,
    retry,
    acceptLoss,
  });
  /** The plan that a person is shown is what is written, after open writes of earlier passes are resolved. */
  const asShown = async (): Promise<Pick<Pass, 'approve'>> => {
    if (!wish.isShown) return {};
    const { templates } = await reconcile(desired, { ...request(), isRehearsal: true });
    return {
      approve: (planned) => {
        for (const { template, change } of planChanges(templates, planned, false))
          judge.report(`shows one plan and writes another: ${template}: ${change}`);
      },
    };
  };
  const play = async (): Promise<PassResult> => {
    const shownPlan = await asShown();
    // Every second pass lists the service beforehand, like a daemon.
    const listing = number % 2 === 0 ? process.service.listDnsTemplates() : null;
    listing?.catch(() => undefined);
    return reconcile(desired, { ...request(), listing, ...shownPlan });
  };
  const hadErred = service.hasErred;
  /** Two in a row counts only readings that a later pass can know. */
  const forgetReadings = (): void => {
    service.hasErred ||= hadErred;
  };
  try {
    const result = await Promise.race([process.death, play()]);
    process.end();
    if (result === died) kept.forget();
    if (result === died || wish.isDryRun || wish.only !== null) forgetReadings();
    judge.passEnded(result === died ? 'died' : result);
    if (result === died) failovers.strikeAfterDeath();
    return result === died ? null : result;
  } catch (error) {
    process.end();
    forgetReadings();
    if (!storeFailures.some((why) => why === messageOf(error)))
      judge.report(`the pass throws ${String(error instanceof Error ? error.stack : error)}`);
    judge.passEnded('disk full');
    return null;
  } finally {
    await memory.close();
  }
};

const triggerOf = (random: Random, { isCommand }: PassWish): Trigger =>
  isCommand ? 'command' : random.pick(['startup', 'file-change', 'schedule', 'request'] as const);

const describeWish = (trigger: Trigger, wish: PassWish): string =>
  [
    trigger,
    wish.only !== null && `only ${wish.only}`,
    wish.isDryRun && 'dry run',
    wish.force && 'force',
    wish.retry && 'retry',
    wish.acceptLoss && 'accept-loss',
    wish.stopAt !== null && `told to end at call ${wish.stopAt}`,
  ]
    .filter(Boolean)
    .join(', ');

const hour = 3_600_000;
const pauses = [60_000, 300_000, hour, 7 * hour, 26 * hour];
