import { createHash } from 'node:crypto';
import type { RecordData, RecordType } from '../../src/model/record.ts';
import type { DesiredTemplate } from '../../src/model/template.ts';
import { simulatedDisk } from './disk.ts';
import type { Failovers } from './failovers.ts';
import type { TemplateFile } from './files.ts';
import type { Nature } from './nature.ts';
import { clientTime } from './process.ts';
import type { Random } from './random.ts';
import { keyOf, shown } from './records.ts';
import {
  assemble,
  clientOf,
  fairWeather,
  pass,
  quiet,
  templateIdsOf,
  unwritten,
  type Client,
  type Round,
} from './round.ts';

import { createWorld, type World } from './world.ts';
import { directorOf, type Director, type Schedule } from './explore.ts';
import type { PolicyStep, SmallWorld, Step } from './worlds.ts';

/** Plays a world by a schedule; the laws that it broke, and its trace. */
export const replay = async (
  small: SmallWorld,
  schedule: Schedule,
): Promise<{
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}> => {
  const trace: string[] = [];
  const { director, left } = directorOf(schedule);
  const violations = await play(small, director, trace);
  trace.push(...[...left.keys()].map((what) => `(there was no ${what})`));
  return { violations, trace };
};

export const play = async (
  small: SmallWorld,
  director: Director,
  trace: string[] | null = null,
): Promise<readonly string[]> => {
  const { world, round } = await playRound(small, director, trace !== null);
  trace?.push(...world.trace);
  return round.judge.violations;
};

const playRound = async (
  small: SmallWorld,
  director: Director,
  isTraced: boolean,
): Promise<{ readonly world: World; readonly round: Round }> => {
  const world = createWorld(still, isTraced, director);
  const round = assembled(small, world);
  const check = (found: readonly string[]): void => {
    for (const what of found) round.judge.report(what);
  };
  for (const [index, step] of small.steps.entries()) {
    director.passNumber = index + 1;
    const pause = director.pick('until then', ['half a minute', 'an hour']);
    world.advance(pause === 'an hour' ? 3_600_000 : (small.pause ?? 30) * 1_000);
    await take(round, small, step);
    if (small.open === undefined && director.faults.length === 0)
      check(
        unwritten(round, round.clients[0]!).map(
          (what) => `nothing went wrong, and it has not written ${what}`,
        ),
      );
    if (round.judge.violations.length > 0) break;
    if (director.isSeen(() => digestOf(round, index))) break;
    if (index === small.steps.length - 1) {
      director.isFair = true;
      await fairWeather(round, {
        onRest: (readyAfter) => {
          if (!isSelfHealing(small, director)) return;
          check(unwritten(round, round.clients[0]!).map((what) => `never writes ${what} by itself`));
          if (readyAfter !== null && readyAfter > longestRecovery)
            check([`takes ${readyAfter / 1_000} s to recover`]);
        },
        isSeen: (key) => director.isSeen(() => digestOf(round, key)),
      });
    }
  }
  return { world, round };
};

/** After one fault, the records of the file are there soon, and without a person, unless it was somebody else's deed. */
const isSelfHealing = ({ open }: SmallWorld, { faults }: Director): boolean =>
  open === undefined && faults.length <= 1 && !faults.some((fault) => fault.startsWith('somebody else'));

/**
 * In ms: a write may take effect, or a listing be behind, for ten minutes; then comes the next pass of the schedule, and
 * another one for what was parked by an earlier process, and is put to use only once two readings show that.
 */
const longestRecovery = 25 * 60_000;

const assembled = (small: SmallWorld, world: Parameters<typeof assemble>[0]): Round => {
  const { maxAddsPerPass = 300, beside } = small;
  const settings = { settle: 10_000, unknownPause: 300_000, maxAddsPerPass, concurrency: 1 };
  const second = { owner: 'a', id: 2, name: 'two', publiclyAvailable: false, subdomains: 0, records: [] };
  const nature: Nature = { ...faithful, ...small.nature };
  return assemble(world, {
    nature,
    weather: { writes: 1, reads: 1, lies: 1, meddling: 1 },
    settings,
    clients: [
      clientOf('a', [fileOf(small), ...(beside ? [secondFile(small, beside)] : [])], simulatedDisk(), 1),
    ],
    start: [
      {
        owner: 'a',
        id: 1,
        name: 'one',
        publiclyAvailable: false,
        subdomains: 0,
        records: (small.service ?? []).map((text, index) => {
          const record = recordOf(text);
          return { ...record, ttl: record.ttl ?? 3_600, id: index + 1 };
        }),
      },
      ...(beside ? [second] : []),
    ],
    failovers: none,
    dangers: { crash: 1, fullDisk: 1, mayBeCommitted: true },
  });
};

const take = async (round: Round, { isOneProcess }: SmallWorld, step: Step): Promise<void> => {
  const { world, service, judge } = round;
  const client = round.clients[0]!;
  const { disk, files } = client;
  const [file] = files.templates;
  const forget = (isPartly = false): void => judge.memoryLost(templateIdsOf(client), isPartly);
  const word = { ...quiet, isCommand: true };
  // Each pass is one of a new process, unless nothing else is the matter.
  if (!isOneProcess) for (const kept of client.kept) kept.forget();
  if (isEdit(step)) edit(round, file!, step);
  else if (typeof step === 'object' && 'suspends' in step) suspend(round, client, step.suspends);
  else if (typeof step === 'object' && isPolicy(step)) file!.desired = { ...file!.desired, ...step };
  else if (typeof step === 'object') {
    const { adds, removes, changes, swaps } = step;
    const swapped = (name: string | null): string | null =>
      swaps?.some((one) => one === name) ? swaps.find((one) => one !== name)! : name;
    if (step.isOlder) {
      disk.loseLast(5);
      service.takeOlderState();
      forget(true);
    }
    if (step.file) edit(round, file!, step.file);
    world.note(() => `* somebody changes ${JSON.stringify(step)}`);
    service.change(step.in ?? 1, (records) => [
      ...records
        .filter((record) => removes === undefined || keyOf(record) !== keyOf(recordOf(removes)))
        .map((record) =>
          changes && keyOf(record) === keyOf(recordOf(changes[0]))
            ? { ...recordOf(changes[1]), ttl: recordOf(changes[1]).ttl ?? record.ttl, id: record.id }
            : { ...record, name: swapped(record.name) },
        ),
      ...(adds === undefined ? [] : [{ ...recordOf(adds), ttl: 3_600, id: service.newId() }]),
    ]);
  } else if (step === 'the state is lost') {
    disk.wipe();
    forget();
  } else if (step === 'resume') {
    disk.suspend([]);
    client.isSuspended = false;
  } else if (step === 'the clock jumps') {
    round.skew += 3_600_000;
  } else if (step === 'the clock is set back') {
    round.skew -= 3_600_000;
  } else if (step === 'another token') {
    disk.keepAdds();
    forget();
  } else if (step === 'an older state') {
    disk.loseLast(3);
    service.takeOlderState();
    forget(true);
  }
  const wish =
    step === '--retry'
      ? { ...word, retry: true }
      : step === '--force'
        ? { ...word, force: true }
        : step === '--accept-loss'
          ? { ...word, acceptLoss: true }
          : step === 'apply'
            ? word
            : { ...quiet, isDryRun: step === 'plan' };
  await pass(round, client, wish);
};

const suspend = ({ world }: Round, client: Client, template: string | null): void => {
  const { disk } = client;
  client.isSuspended = true;
  world.note(() => `~ somebody suspends ${template ?? 'everything'}`);
  disk.suspend([{ template, templateId: null, by: 'somebody', reason: 'an audit', since: 0, until: null }]);
};

const isPolicy = (step: object): step is PolicyStep =>
  ['surplus', 'adopt', 'mode', 'template'].some((key) => key in step);

const isEdit = (step: Step): step is readonly string[] => Array.isArray(step);

const edit = ({ world }: Round, file: TemplateFile, texts: readonly string[]): void => {
  file.earlier.push(file.desired);
  file.desired = { ...file.desired, records: wanted(texts) };
  file.edits += 1;
  world.note(() => `~ the file says ${file.desired.records.map((record) => shown(record)).join(' | ')}`);
};

const fileOf = ({ file, policy }: SmallWorld): TemplateFile => ({
  templateId: 1,
  state: 'good',
  desired: {
    template: 'one',
    id: null,
    source: { file: 'one.yaml', line: 1, column: 1 },
    mode: 'enforce',
    surplus: 'report',
    adopt: false,
    limits: { maxAdds: 100, maxChangePercent: 100, minRecords: 10 },
    subdomains: [],
    ignore: [],
    ...policy,
    records: wanted(file),
  },
  edits: 0,
  earlier: [],
});

const secondFile = (small: SmallWorld, texts: readonly string[]): TemplateFile => {
  const one = fileOf(small);
  const source = { file: 'two.yaml', line: 1, column: 1 };
  return {
    ...one,
    templateId: 2,
    desired: { ...one.desired, template: 'two', source, records: wanted(texts) },
    earlier: [],
  };
};

const wanted = (texts: readonly string[]): DesiredTemplate['records'] =>
  texts.map((text, index) => {
    const { type, ...data } = recordOf(text);
    return { ...data, type: type as RecordType, source: { file: 'one.yaml', line: index + 2, column: 3 } };
  });

/** As in a zone file: name, TTL if there is one, type, priority if there is one, content. */
const recordOf = (text: string): RecordData => {
  const match = /^(\S+) (?:(\d+) )?([A-Z]+) (?:(\d+) (?=\S))?(.+)$/.exec(text);
  if (!match) throw new Error(`not a record: ${text}`);
  const [, name, ttl, type = '', priority, content = ''] = match;
  return {
    type,
    name: name === '@' ? null : name!,
    content,
    priority: priority === undefined ? null : Number(priority),
    ttl: ttl === undefined ? null : Number(ttl),
  };
};

const digestOf = (round: Round, step: unknown): string => {
  const { world, service, judge, skew } = round;
  const { disk } = round.clients[0]!;
  const now = clientTime(world, skew);
  const relative = (key: string, value: unknown): unknown => {
    if (key === 'run' || key === 'id') return undefined;
    if (typeof value === 'number' && value > 1e11) return `${Math.round((now - value) / 1_000)} s ago`;
    return value;
  };
  const lasting = JSON.stringify(disk.content(), relative).replaceAll(
    /"boot":"sim","at":(\d+)/g,
    (_all, at: string) => `"age":${Math.round((world.time - Number(at)) / 1_000)}`,
  );
  const rest = JSON.stringify([step, service.templates(), service.recent(), judge.remembered()]);
  return createHash('sha1').update(lasting).update(rest).digest('base64');
};

/** Nothing is left to chance. */
const still: Random = {
  next: () => 0.5,
  chance: () => false,
  below: () => 0,
  pick: (things) => things[0]!,
  some: (things) => things.filter((_thing, index) => index % 2 === 1),
  shuffled: (things) => [...things],
};

const faithful: Nature = {
  isKind: true,
  leastTtl: 0,
  mostTtl: 86_400,
  oneTtlPerSet: false,
  quotesTexts: false,
  ending: null,
  namesNameless: false,
  respellsHosts: false,
  ignores: null,
  rejectsDuplicates: false,
  answersShort: false,
  refusesType: null,
  shuffles: false,
  lowersTypes: false,
  nameless: null,
  noPriority: null,
  defaultTtl: 3_600,
  scattersIds: false,
  listed: null,
  spellsPanel: false,
  mostPerMinute: null,
  lag: 9_000,
  ownLag: 570_000,
  delay: 299_800,
};

const none: Failovers = {
  random: still,
  chance: 0,
  isNew: false,
  processes: 1,
  strike: () => false,
  strikeAfterDeath: () => undefined,
  notice: () => Promise.resolve(null),
};
