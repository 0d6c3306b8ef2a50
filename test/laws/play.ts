import { createHash } from 'node:crypto';
import type { ActualRecord } from '../../src/model/record.ts';
import { data, desiredTemplate, saying } from '../plan/records.ts';
import { clientOf, resume, suspend, templateIdsOf, type Client } from './client.ts';
import { failoversIn } from './failovers.ts';
import { fileOf, ignoreRules, type TemplateFile } from './files.ts';
import { faithful } from './nature.ts';
import { clientTime } from './process.ts';
import type { Random } from './random.ts';
import { keyOf } from './records.ts';
import { assemble, fairWeather, pass, quiet, unwritten, type Round } from './round.ts';
import type { SimulatedService } from './service.ts';
import { createWorld, type World } from './world.ts';
import { directorOf, type Director, type Schedule } from './explore.ts';
import type { SmallWorld } from './small-world.ts';

/** Plays a world by a schedule; the laws that it broke, and its trace. */
export const replay = async (small: SmallWorld, schedule: Schedule) => {
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
  const world = createWorld(still, trace !== null, director);
  const round = assembled(small, world);
  const check = (found: readonly string[]): void => {
    for (const what of found) round.judge.report(what);
  };
  for (const [index, step] of small.steps.entries()) {
    director.passNumber = index + 1;
    const pause = director.pick('until then', ['half a minute', 'an hour']);
    world.advance(pause === 'an hour' ? 3_600_000 : small.pause * 1_000);
    await take(round, small, step);
    if (small.open === null && director.faults.length === 0)
      check(
        unwritten(round, round.clients[0]!).map(
          (what) => `nothing went wrong, and it has not written ${what}`,
        ),
      );
    if (round.judge.violations.length > 0) break;
    if (director.isSeen(() => digestOf(round, index))) break;
    if (index === small.steps.length - 1) {
      director.isFair = true;
      if (small.isSuspendedMeanwhile) resume(round.clients[0]!);
      const onRest = (readyAfter: number | null): void => {
        if (!isSelfHealing(small, director)) return;
        check(unwritten(round, round.clients[0]!).map((what) => `never writes ${what} by itself`));
        if (readyAfter !== null && readyAfter > longestRecovery)
          check([`takes ${readyAfter / 1_000} s to recover`]);
      };
      await fairWeather(round, onRest, (key) => director.isSeen(() => digestOf(round, key)));
    }
  }
  trace?.push(...world.trace);
  return round.judge.violations;
};

/** After one fault, the records of the file are there soon, and without a person, unless it was somebody else's deed. */
const isSelfHealing = ({ open }: SmallWorld, { faults }: Director): boolean =>
  open === null && faults.length <= 1 && !faults.some((fault) => fault.startsWith('somebody else'));

/**
 * In ms: a write may take effect, or a listing be behind, for ten minutes; then comes the next pass of the schedule, and
 * another one for what was parked by an earlier process, and is put to use only once two readings show that.
 */
const longestRecovery = 25 * 60_000;

const assembled = (small: SmallWorld, world: World): Round => {
  const { maxAddsPerPass, beside, file, service } = small;
  const settings = { settle: 10_000, unknownPause: 300_000, maxAddsPerPass, concurrency: 1 };
  const policy = file.filter((line) => /^[a-z]\w+: /i.test(line));
  const files = [
    fileSaying(1, 'one', file),
    ...(beside ? [fileSaying(2, 'two', [...policy, ...beside])] : []),
  ];
  const records = service.map((line, index) => {
    const record = data(line);
    return { ...record, ttl: record.ttl ?? 3_600, id: index + 1 };
  });
  const client = clientOf('a', files);
  return assemble(world, {
    nature: { ...faithful, lag: 9_000, ownLag: 570_000, delay: 299_800, ...small.nature },
    weather: { writes: 1, reads: 1, lies: 1, meddling: 1 },
    settings,
    clients: [client],
    start: files.map(({ templateId: id }) => ({
      owner: 'a',
      id,
      name: id === 1 ? 'one' : 'two',
      publiclyAvailable: false,
      subdomains: 0,
      records: id === 1 ? records : [],
    })),
    failovers: failoversIn(world, client.disk, still, () => undefined),
    dangers: { crash: 1, fullDisk: 1, mayBeCommitted: true, maySuspend: small.isSuspendedMeanwhile },
  });
};

/** Its parts, and then a pass. */
const take = async (round: Round, { isOneProcess }: SmallWorld, step: string): Promise<void> => {
  const client = round.clients[0]!;
  // Each pass is one of a new process, unless nothing else is the matter.
  if (!isOneProcess) for (const kept of client.kept) kept.forget();
  for (const part of step.split(', ')) {
    const known = deeds.find(([words]) => part === words || part.startsWith(`${words} `));
    if (!known && !(part in wishes)) throw new Error(`no such step: ${part}`);
    known?.[1](round, client, part.slice(known[0].length + 1));
  }
  await pass(round, client, wishes[step] ?? quiet);
};

const word = { ...quiet, isCommand: true };
const wishes: Readonly<Record<string, typeof quiet>> = {
  pass: quiet,
  apply: word,
  plan: { ...quiet, isDryRun: true },
  '--retry': { ...word, retry: true },
  '--force': { ...word, force: true },
  '--accept-loss': { ...word, acceptLoss: true },
};

type Deed = (round: Round, client: Client, rest: string) => void;

/** What happens before a pass, by its words. */
const deeds: readonly (readonly [words: string, deed: Deed])[] = [
  [
    'file',
    ({ world }, { files }, text) => {
      const [file] = files;
      const { desired } = file!;
      file!.desired = saying(desired, text.split(' & '));
      if (file!.desired.records !== desired.records) file!.earlier.push(desired);
      world.note(() => `~ the file says ${text}`);
    },
  ],
  [
    'somebody',
    ({ world, service }, _, text) => {
      const [, where, sign, line = '', to = ''] = /^(in two )?(\+|-|~|swaps) (.*?)(?: -> (.*))?$/.exec(text)!;
      world.note(() => `* somebody ${text}`);
      service.change(where ? 2 : 1, (records) => changed(records, service, sign!, line, to));
    },
  ],
  [
    'suspend',
    ({ world }, client, template) => {
      world.note(() => `~ somebody suspends ${template}`);
      suspend(client, template);
    },
  ],
  ['resume', (_, client) => resume(client)],
  [
    'the state is lost',
    ({ judge }, client) => {
      client.disk.wipe();
      judge.memoryLost(templateIdsOf(client));
    },
  ],
  [
    'another token',
    ({ judge }, client) => {
      client.disk.keepAdds();
      judge.memoryLost(templateIdsOf(client));
    },
  ],
  ['an older state', (round, client) => takeOlder(round, client, 3)],
  ['a much older state', (round, client) => takeOlder(round, client, 5)],
  ['the clock jumps', (round) => void (round.skew += 3_600_000)],
  ['the clock is set back', (round) => void (round.skew -= 3_600_000)],
];

const takeOlder = ({ service, judge }: Round, client: Client, commits: number): void => {
  client.disk.loseLast(commits);
  service.takeOlderState();
  judge.memoryLost(templateIdsOf(client), true);
};

const changed = (
  records: readonly ActualRecord[],
  service: SimulatedService,
  sign: string,
  line: string,
  to: string,
): readonly ActualRecord[] => {
  if (sign === '+') return [...records, { ...data(line), ttl: 3_600, id: service.newId() }];
  if (sign === 'swaps') {
    const [one, other] = line.split(' ');
    const swapped = (name: string | null): string | null =>
      name === one ? other! : name === other ? one! : name;
    return records.map((record) => ({ ...record, name: swapped(record.name) }));
  }
  const isMeant = (record: ActualRecord): boolean => keyOf(record) === keyOf(data(line));
  if (sign === '-') return records.filter((record) => !isMeant(record));
  const made = data(to);
  return records.map((record) =>
    isMeant(record) ? { ...made, ttl: made.ttl ?? record.ttl, id: record.id } : record,
  );
};

const fileSaying = (templateId: number, template: string, lines: readonly string[]): TemplateFile =>
  fileOf(templateId, {
    ...saying(desiredTemplate([], { template, limits }), lines),
    ...(lines.includes('ignore: usual') ? { ignore: ignoreRules } : {}),
  });

const limits = { maxAdds: 100, maxChangePercent: 100, minRecords: 10 };

const digestOf = (round: Round, step: unknown): string => {
  const { world, service, judge, skew } = round;
  const { disk, isSuspended } = round.clients[0]!;
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
  const rest = JSON.stringify([step, isSuspended, service.templates(), service.recent(), judge.remembered()]);
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
