import { planChanges } from '../../src/app/plan-file.ts';
import { messageOf } from '../../src/errors.ts';
import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { DesiredTemplate } from '../../src/model/template.ts';
import { reconcile, type Pass } from '../../src/reconcile/pass.ts';
import type { PassResult, TemplateResult, Trigger } from '../../src/result.ts';
import { clientOf, templateIdsOf, type Client } from './client.ts';
import { simulatedDisk } from './disk.ts';
import { failoversIn } from './failovers.ts';
import {
  describeFile,
  drawFile,
  drawForeign,
  editFile,
  isIgnored,
  readFiles,
  type TemplateFile,
} from './files.ts';
import { longestTime } from '../../src/reconcile/times.ts';
import { createJudge, type Judge } from './judge.ts';
import type { FileFacts, Pass as JudgedPass } from './seen.ts';
import { drawNature, isFaithful, type Nature } from './nature.ts';
import { meddle } from './people.ts';
import { died, startProcess, storeFailures, type Surroundings } from './process.ts';
import { randomOf, type Random } from './random.ts';
import { placeOf, sameKey, satisfies, shown } from './records.ts';
import { createService, type OwnedTemplate, type Weather } from './service.ts';
import { describe, surplusOf } from './told.ts';
import { createWorld, type World } from './world.ts';

export interface RoundOutcome {
  readonly violations: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly trace: readonly string[];
}

/** One round: some passes with faults, some without, and a person's pass at the end. */
export const playRound = async (
  seed: number,
  { isTraced = false }: { readonly isTraced?: boolean } = {},
): Promise<RoundOutcome> => {
  const world = createWorld(randomOf(seed), isTraced);
  const round = setUp(world, seed);
  await badWeather(round);
  if (round.judge.violations.length === 0) await fairWeather(round);
  const { violations, counts } = round.judge;
  return { violations, counts, trace: world.trace };
};

export interface Round extends Surroundings {
  readonly nature: Nature;
  readonly weather: Weather;
  readonly clients: readonly Client[];
  readonly settings: Pick<Pass, 'settle' | 'unknownPause' | 'maxAddsPerPass' | 'concurrency'>;
  /** The pass that is being made. */
  judged: JudgedPass | null;
  passes: number;
}

const setUp = (world: World, seed: number): Round => {
  const { random } = world;
  const disk = simulatedDisk();
  const failovers = failoversIn(world, disk, randomOf(seed ^ 0x5bd1e995), () =>
    round.judge.memoryLost(templateIdsOf(round.clients[0]!), true),
  );
  const isShared = failovers.chance > 0;
  const settings: Round['settings'] = {
    settle: random.pick([10_000, 10_000, 60_000, 120_000, 0]),
    unknownPause: random.pick([1_000, 300_000]),
    maxAddsPerPass: random.chance(0.9) ? 300 : 3,
    concurrency: random.pick([1, 2]),
    // An add must not be on its way for longer.
    ...(isShared ? { unknownPause: 300_000 } : {}),
  };
  const nature = drawNature(random, settings);
  const weather: Weather = {
    writes: random.pick([0, 0.1, 0.3]),
    reads: random.pick([0, 0.05]),
    lies: random.pick([0, 0, 0.1, 0.3]),
    meddling: random.pick([0, 0, 0, 0.05]),
  };
  const dangers = { crash: random.pick([0, 0.01, 0.05]), fullDisk: random.pick([0, 0, 0.02]) };
  // What only failovers can break needs a process that dies while an add is on its way.
  if (isShared) [dangers.crash, weather.writes] = [0.05, 0.3];
  const names = random.chance(0.3) ? ['one', 'two'] : ['one'];
  const isOfTwo = !isShared && random.chance(0.2);
  const clients = [
    clientOf(
      'a',
      names.map((name, index) => drawFile(random, index + 1, name)),
      { disk, processes: failovers.processes },
    ),
    ...(isOfTwo ? [clientOf('b', [drawFile(random, 11, 'three')])] : []),
  ];
  const start = drawTemplates(random, clients);
  const round = assemble(world, { nature, weather, settings, clients, start, failovers, dangers });
  return round;
};

type Given = Pick<Round, 'nature' | 'weather' | 'settings' | 'clients' | 'failovers' | 'dangers'> & {
  readonly start: readonly OwnedTemplate[];
};

export const assemble = (world: World, { start, ...given }: Given): Round => {
  const { nature, weather, settings, clients } = given;
  const judge = createJudge({
    now: () => world.time,
    start,
    service: nature,
    note: (line) => world.note(line),
  });
  const service = createService(world, nature, weather, start, judge, () => round.judged!);
  const round: Round = { ...given, world, service, judge, judged: null, skew: 0, passes: 0 };
  world.note(() => `nature ${JSON.stringify(nature)}`);
  world.note(() => `weather ${JSON.stringify(weather)} settings ${JSON.stringify(settings)}`);
  for (const { files } of clients) for (const file of files) world.note(() => describeFile(file));
  for (const { id, records } of start) world.note(() => `service ${id}: ${records.map(shown).join(' | ')}`);
  return round;
};

/** The clients' templates have some desired records and some others; and there are further templates. */
export const drawTemplates = (
  random: Random,
  clients: readonly Pick<Client, 'name' | 'files'>[],
  share: number = random.pick([0, 0.5, 1]),
): OwnedTemplate[] => {
  let id = 0;
  const numbered = (records: readonly RecordData[]): ActualRecord[] =>
    records.map(({ type, name, content, priority, ttl }) => ({
      id: (id += 1),
      type,
      name,
      content,
      priority,
      ttl,
    }));
  const plain = { publiclyAvailable: false, subdomains: 1, owner: 'a' };
  const own = clients.flatMap(({ name: owner, files }) =>
    files.map(({ templateId, desired }): OwnedTemplate => {
      const records = numbered([
        ...random.some(desired.records, share).map((record) => ({ ...record, ttl: record.ttl ?? 3_600 })),
        ...Array.from({ length: random.pick([0, 0, 1, 3, 9]) }, () => drawForeign(random)),
      ]);
      return { ...plain, id: templateId, name: desired.template, records, owner };
    }),
  );
  const record = { type: 'A', name: 'www', content: '192.0.2.1', priority: null, ttl: 300 };
  return [
    ...own,
    { ...plain, id: 90, name: 'other', records: numbered([record]) },
    { ...plain, id: 91, name: 'one', records: numbered([record]), publiclyAvailable: true, owner: null },
  ];
};

const badWeather = async (round: Round): Promise<void> => {
  const { world, service, judge, failovers } = round;
  const { random } = world;
  const haste = random.pick([0.3, 0.8]);
  for (let left = 4 + random.below(9); left > 0 && judge.violations.length === 0; left -= 1) {
    const client = random.pick(round.clients);
    const { files, disk } = client;
    // Another process takes over at once.
    if (failovers.isNew) world.advance(failovers.random.pick([100, 5_000]));
    else world.advance(random.chance(haste) ? random.pick([100, 1_000, 5_000, 20_000]) : random.pick(pauses));
    for (const file of files) {
      while (random.chance(0.3)) editFile(world, file);
      while (random.chance(0.25)) meddle(world, service, file.templateId);
    }
    if (random.chance(0.04)) {
      round.skew += random.pick([-1, 1]) * random.pick([60_000, 7 * hour, 40 * 24 * hour]);
      world.note(() => `~ the clock jumps: ${round.skew} ms ahead of the true time`);
    }
    if (random.chance(0.02)) {
      world.advance(hour);
      world.note(() => '~ the state directory is lost');
      disk.wipe();
      judge.memoryLost(templateIdsOf(client));
    }
    const isCommand = random.chance(0.2);
    await pass(round, client, {
      isDryRun: random.chance(0.07),
      only: isCommand && random.chance(0.3) ? random.pick(files).desired.template : null,
      isCommand,
      force: isCommand && random.chance(0.3),
      retry: isCommand && random.chance(0.3),
      acceptLoss: isCommand && random.chance(0.3),
      isShown: false,
      stopAt: random.chance(0.05) ? 1 + random.below(20) : null,
    });
  }
};

/** Without faults and changes it converges, or says why not, and then writes nothing more. */
export const fairWeather = async (
  round: Round,
  /** Called with how long it took until the files were there; null where they are not. */
  onRest: (readyAfter: number | null) => void = () => undefined,
  isSeen: (key: unknown) => boolean = () => false,
): Promise<void> => {
  const { world, weather, judge, dangers, failovers, nature } = round;
  Object.assign(weather, { writes: 0, reads: 0, lies: 0, meddling: 0 });
  Object.assign(dangers, { crash: 0, fullDisk: 0 });
  failovers.chance = 0;
  world.note(() => '~ fair weather');
  for (const client of round.clients) {
    for (const file of client.files.slice(world.random.below(2)))
      while (file.state !== 'good') editFile(world, file);
    const rest = await converge(round, client, quiet, 'by itself', isSeen);
    if (rest === 'seen' || judge.violations.length > 0) return;
    onRest(rest.readyAfter);
    if (judge.violations.length > 0) return;
    world.note(() => '~ a person says: go on');
    const isShown = isFaithful(nature) && nature.ownLag === 0;
    const word = { ...quiet, isCommand: true, isShown, force: true, retry: true, acceptLoss: true };
    await pass(round, client, word);
    // A person’s word goes for what listings show, and they are not behind for longer.
    world.advance(hour / 2);
    await pass(round, client, word);
    const end = await converge(round, client, { ...word, retry: false }, 'at a person’s word', isSeen);
    if (end === 'seen' || judge.violations.length > 0) return;
    // What a person had sent in vain is undone by the next pass.
    world.advance(hour / 2);
    const last = await pass(round, client, quiet);
    if (last && judge.violations.length === 0 && nature.listed === null) finalTruth(round, client, last);
  }
};

/** A pass of the daemon. */
export const quiet = {
  isDryRun: false,
  /** The one template that it is restricted to. */
  only: null as string | null,
  isCommand: false,
  force: false,
  retry: false,
  acceptLoss: false,
  /** The call at which the program gets a signal to end. */
  stopAt: null as number | null,
  /** Whether the person looks at the plan first; as long as nothing changes in between. */
  isShown: false,
};

type PassWish = Readonly<typeof quiet>;

const converge = async (
  round: Round,
  client: Client,
  wish: PassWish,
  how: string,
  isSeen: (key: unknown) => boolean,
): Promise<{ readonly result: PassResult | null; readonly readyAfter: number | null } | 'seen'> => {
  const { world, judge, service } = round;
  const wanted = client.files.flatMap(({ desired }) => desired.records).length;
  const ids = templateIdsOf(client);
  const there = service.templates().flatMap(({ id, records }) => (ids.includes(id) ? records : [])).length;
  // Some services accept one write at a time, and backoffs double nine times up to their maximum.
  const most = schedule.length + 8 + 9 + 3 * wanted + there;
  const begun = world.time;
  let readyAfter: number | null = null;
  let still = 0;
  let before: readonly string[] = [];
  let result: PassResult | null = null;
  for (let count = 0; count < most && (still < 2 || count < schedule.length); count += 1) {
    world.advance(schedule[count] ?? hour / 2);
    result = await pass(round, client, wish);
    if (judge.violations.length > 0) break;
    if (unwritten(round, client).length === 0) readyAfter ??= world.time - begun;
    // What is refused is tried again less and less often, at a person's word each time; what makes way for it comes back by the
    // next pass.
    const attempts = round.judged?.attempts ?? [];
    const isInVain = before.includes(after(round)) && isTriedInVain(round);
    still = isInVain || attempts.every(({ sent }) => sent.landed === 'no') ? still + 1 : 0;
    before = [...before.slice(-1), after(round)];
    if (isSeen([client.name, how, count < schedule.length ? count : still, round.passes % 2])) return 'seen';
  }
  if (still < 2 && judge.violations.length === 0)
    judge.report(`does not come to rest ${how} within ${most} passes`);
  return { result, readyAfter };
};

const after = ({ service }: Round): string => JSON.stringify(service.templates());

/** Something was refused in a pass before, of these or of those before them. */
const isTriedInVain = ({ judge }: Round): boolean =>
  judge.cases().some(({ attempts }) => attempts.slice(-8).some(({ sent }) => sent.told === 'refused'));

/** Five minutes, as by the schedule that the daemon has by default. */
const schedule = [300_000, 300_000, 300_000, 300_000] as const;

/** Records of the files that are not at the service. */
export const unwritten = ({ service }: Round, { files }: Client): string[] =>
  files.flatMap(({ templateId, desired }) => {
    const records = service.templates().find(({ id }) => id === templateId)?.records ?? [];
    return desired.records
      .filter((record) => !records.some((actual) => satisfies(actual, record)))
      .map((record) => shown(record));
  });

/** After a person's pass, an honest service has exactly the file; any other has what the result says. */
const finalTruth = ({ judge, service, nature }: Round, { files }: Client, result: PassResult): void => {
  for (const file of files.filter(({ state }) => state === 'good')) {
    const { templateId, desired } = file;
    const records = service.templates().find(({ id }) => id === templateId)!.records;
    const told = result.templates.find(({ template }) => template === desired.template)!;
    // After a rejected answer, or where listings are behind our own writes, it describes an earlier reading.
    const isDoubted = (told.status === 'failed' && told.message !== null) || told.retryAt !== undefined;
    const missing = desired.records.filter((record) => !records.some((actual) => satisfies(actual, record)));
    for (const record of missing) {
      const why = told.differences.find((one) => 'source' in one && one.source.line === record.source.line);
      if (!why && !isDoubted) judge.report(`law 13: is silent about ${shown(record)} at the end`);
      else if (why && isFaithful(nature) && desired.mode !== 'report' && !isLegitimate(why))
        judge.report(`never writes ${shown(record)}: ${describe(why)}`);
    }
    judge.count(missing.length === 0 ? 'templates as their file says' : 'templates not as their file says');
    const isClean = missing.length === 0 && surplusOf(factsOf(desired), records).length === 0;
    if (isClean !== (told.status === 'in-sync'))
      judge.report(
        `law 13: ${desired.template} is ${isClean ? '' : 'not '}as wanted, and said to be ${told.status}`,
      );
    // What is put back as soon as the service takes writes again, is said.
    const isComing = told.differences.some(
      (one) => one.action === 'park' && one.outcome === 'failed' && one.retryAt !== undefined,
    );
    // A refusal in the last pass changed the plan.
    const waiting = told.differences.flatMap((one) =>
      one.skippedBy === 'pass' && 'desired' in one ? [placeOf(one.desired)] : [],
    );
    if (desired.mode === 'enforce' && !isComing)
      for (const what of leftAway(judge, file, records, waiting)) judge.report(what);
  }
};

const isLegitimate = (difference: TemplateResult['differences'][number]): boolean =>
  difference.action === 'blocked' &&
  ['cname-conflict', 'null-mx-conflict', 'not-converging'].includes(difference.reason);

/** Nothing that made way stays parked where its name was left empty, unless somebody changed it. A nameless record cannot come back. */
const leftAway = (
  judge: Judge,
  { templateId, desired }: TemplateFile,
  records: readonly { readonly id: number; readonly name: string | null }[],
  waiting: readonly string[],
): string[] =>
  judge
    .cases()
    .filter((one) => one.templateId === templateId)
    .flatMap(({ attempts, standing }) =>
      attempts
        .filter(({ sent }) => standing.get(sent.recordId ?? -1)?.by != null)
        .map((attempt) => ({ ...attempt, others: attempts })),
    )
    .flatMap(({ sent, pass: { files, views }, replaced, stored, isForgotten, others }) => {
      const place = replaced ? placeOf(replaced) : '';
      const isParked = stored !== null && placeOf(stored).startsWith('_parked-');
      if (!replaced || !isParked || isForgotten || place === '' || place.startsWith('_parked-')) return [];
      if (waiting.includes(place)) return [];
      const isStillAway = records.some(
        (record) => record.id === sent.recordId && placeOf(record).startsWith('_parked-'),
      );
      const isEmpty = !records.some((record) => placeOf(record) === place);
      const shownThen = views.get(templateId)?.at(0)?.records ?? [];
      // What was surplus when it was parked made way for nothing: nothing was wanted there, or all of that was there.
      const missing = files
        .get(templateId)
        ?.records.filter(
          (record) => placeOf(record) === place && !shownThen.some((actual) => satisfies(actual, record)),
        );
      // Nor does it come back for what the file no longer says.
      const isWanted = missing?.some((record) => desired.records.some((other) => sameKey(record, other)));
      // What it made way for stood there, or what it stood beside did, until somebody removed that.
      const isTouched = (id: number): boolean => others.some((other) => other.sent.recordId === id);
      const wasFilled =
        others.some(
          (other) =>
            other.stored &&
            placeOf(other.stored) === place &&
            !others.some(
              (next) =>
                next.sent.recordId === other.sent.recordId &&
                next.sent.at > other.sent.at &&
                next.sent.at <= sent.at,
            ),
        ) || shownThen.some((record) => placeOf(record) === place && !isTouched(record.id));
      return isStillAway && isEmpty && isWanted && !wasFilled
        ? [`takes ${shown(replaced)} away, and leaves its name empty`]
        : [];
    });

/** The same facts for the same file. */
const factsOf = (desired: DesiredTemplate): FileFacts => {
  const found = knownFacts.get(desired) ?? { ...desired, isIgnored: (record) => isIgnored(desired, record) };
  knownFacts.set(desired, found);
  return found;
};

const knownFacts = new WeakMap<DesiredTemplate, FileFacts>();

export const pass = async (round: Round, client: Client, wish: PassWish): Promise<PassResult | null> => {
  const { world, service, failovers, judge, settings, skew } = round;
  round.passes += 1;
  const { files, disk } = client;
  const kept = client.kept[client.kept.length > 1 ? failovers.random.below(client.kept.length) : 0]!;
  const { number, trigger } = { number: round.passes, trigger: triggerOf(world.random, wish) };
  const desired = kept.recogniseFiles(readFiles(files));
  const inForce = files.filter(
    ({ state, desired: { template } }) =>
      state === 'good' && (wish.only ?? template) === template && !client.isSuspended,
  );
  world.note(
    () =>
      `pass ${number}: ${describeWish(trigger, wish)}${round.clients.length > 1 ? ` of ${client.name}` : ''}`,
  );
  const memory = disk.open();
  const holdsAdds = wish.isDryRun ? null : await failovers.notice(memory, longestTime(settings));
  const judged = judge.started({
    ...wish,
    maxAddsPerPass: settings.maxAddsPerPass,
    skew,
    files: new Map(inForce.map((file) => [file.templateId, factsOf(file.desired)])),
  });
  round.judged = judged;
  const process = startProcess(round, client, memory, kept, judged, wish.stopAt);
  const { force, retry, acceptLoss } = wish;
  const request = (): Pass => ({
    ...settings,
    client: client.name,
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
    warn: () => undefined,
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
          judge.report(`law 13: shows one plan and writes another: ${template}: ${change}`);
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
  const erring = service.erringFor(client.name);
  const { hasErred } = erring;
  /** Two in a row counts only readings that a later pass can know. */
  const forgetReadings = (): void => {
    erring.hasErred ||= hasErred;
  };
  try {
    const result = await Promise.race([process.death, play()]);
    process.end();
    if (result === died) kept.forget();
    if (result === died || wish.isDryRun || wish.only !== null) forgetReadings();
    const isSaved = result !== died && !storeFailures.some((why) => why === result.holdReason);
    judge.ended(judged, isSaved ? result.templates : null);
    if (isSaved) tell(world, result);
    if (result === died) failovers.strikeAfterDeath();
    return result === died ? null : result;
  } catch (error) {
    process.end();
    forgetReadings();
    if (!storeFailures.some((why) => why === messageOf(error)))
      judge.report(`the pass throws ${String(error instanceof Error ? error.stack : error)}`);
    judge.ended(judged, null);
    return null;
  }
};

const tell = (world: World, { templates }: PassResult): void => {
  for (const { template, status, message, inSync, differences } of templates) {
    world.note(() => `  = ${template}: ${status}${message ? ` (${message})` : ''}, ${inSync} in sync`);
    for (const one of differences)
      world.note(() => `    ${describe(one)}${'cause' in one ? `, ${one.cause}` : ''}`);
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
