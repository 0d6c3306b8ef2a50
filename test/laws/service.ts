import { HostingError, type HostingErrorKind, type Operation } from '../../src/hosting/errors.ts';
import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate, SubdomainRecord } from '../../src/model/template.ts';
import type { Failure, Judge } from './judge.ts';
import type { Pass, Sent, Write } from './seen.ts';
import { createPast, type Change } from './past.ts';
import { alignTtls, isExactCopy, represented, storedAddition, storedChange, type Nature } from './nature.ts';
import { deeds, meddle, type Panel } from './people.ts';
import { shown } from './records.ts';
import type { World } from './world.ts';

/** How often something fails, from 0 to 1; all zero in passes without faults. */
export interface Weather {
  writes: number;
  reads: number;
  lies: number;
  /** That other people change something just before a request is answered. */
  meddling: number;
}

interface Erring {
  hasLied: boolean;
  hasErred: boolean;
  hasEverErred: boolean;
}

export type SimulatedService = ReturnType<typeof createService>;

/** Null: a public one. */
export type OwnedTemplate = ActualTemplate & { readonly owner: string | null };

/** The service by its specification, 4.4 to 4.7, with the given nature and faults. It tells the judge of the pass that asks. */
export const createService = (
  world: World,
  nature: Nature,
  weather: Weather,
  start: readonly OwnedTemplate[],
  judge: Judge,
  passOf: () => Pass,
) => {
  const { random } = world;
  const templates = new Map<number, ActualTemplate>(start.map((template) => [template.id, template]));
  const owners = new Map(start.map(({ id, owner }) => [id, owner]));
  const isShownTo = (client: string, id: number): boolean => [client, null].includes(owners.get(id) ?? null);
  /** Of all clients together, in the minute before. */
  let calls: number[] = [];
  const past = createPast(start);
  let lastId = Math.max(0, ...start.flatMap(({ records }) => records.map(({ id }) => id)));
  const erring = new Map<string, Erring>();
  const erringFor = (client: string): Erring => {
    const own = erring.get(client) ?? { hasLied: false, hasErred: false, hasEverErred: false };
    erring.set(client, own);
    return own;
  };
  /** Those whose answer showed their record. */
  const answeredWrites = new WeakSet<Sent>();

  const newId = (): number => {
    lastId += 1 + random.below(3);
    return nature.scattersIds ? 100 + ((lastId * 7_919) % 10_007) : lastId;
  };
  /** `by`: our own write; null for other people. */
  const put = (templateId: number, records: readonly ActualRecord[], by: Sent | null): void => {
    past.changed(templates.get(templateId)!, records, { at: world.time, by });
    templates.set(templateId, { ...templates.get(templateId)!, records });
    judge.changed(templateId, records, by);
  };
  const shownAs = (template: ActualTemplate): ActualTemplate => {
    const records = nature.shuffles ? random.shuffled(template.records) : template.records;
    return { ...template, records: records.map((record) => represented(nature, record)) };
  };
  const fail = (operation: Operation, kind: HostingErrorKind, status: number | null, retryAfter?: number) => {
    const error = new HostingError(`simulated ${kind}`, {
      operation,
      kind,
      status,
      retryAfter: retryAfter ?? null,
    });
    world.note(() => `  ! ${operation}: ${kind} ${status ?? ''}`);
    judge.failed(
      passOf(),
      failureOf(kind),
      operation !== 'list-dns-templates' && operation !== 'list-dns-records',
    );
    return error;
  };

  /** Whether all clients together have asked as often as they may. */
  const isLimited = (): boolean => {
    if (nature.mostPerMinute === null) return false;
    calls = calls.filter((at) => at > world.time - 60_000);
    return calls.push(world.time) > nature.mostPerMinute;
  };

  /** Perhaps it is somebody else's turn. */
  const takeTurn = (templateId: number): void => {
    const deed = world.choose(() => 'somebody else', [null, ...deeds], weather.meddling);
    if (deed !== null) meddle(world, panel, templateId, deed);
  };

  /** Why the write is refused; null if it was done. */
  const perform = (sent: Sent): string | null => {
    const { templateId, write } = sent;
    const template = templates.get(templateId);
    if (!template || template.publiclyAvailable) return 'no such template';
    const refusal = refusalOf(nature, template, write);
    if (refusal !== null) return refusal;
    const { written, records } = applied(template, write);
    sent.landed = 'yes';
    sent.recordId = written.id;
    world.note(() => `    stored ${shown(written)}`);
    put(templateId, alignTtls(nature, records, written), sent);
    return null;
  };
  const applied = (
    template: ActualTemplate,
    write: Write,
  ): { written: ActualRecord; records: readonly ActualRecord[] } => {
    if (write.action === 'add') {
      const written = storedAddition(nature, newId(), write.record);
      return { written, records: [...template.records, written] };
    }
    const before = template.records.find(({ id }) => id === write.change.recordId)!;
    const written = storedChange(nature, before, write.change);
    return { written, records: template.records.map((record) => (record === before ? written : record)) };
  };
  const performLate = (sent: Sent): void => {
    const delay = world.amount(() => `the late ${describe(sent.write)} arrives`, nature.delay);
    sent.landed = 'coming';
    world.note(() => `    will be stored ${Math.round(delay)} ms later`);
    world.later(delay, () => {
      world.note(() => '    a late write arrives');
      if (perform(sent) !== null) sent.landed = 'no';
    });
  };

  const begin = (templateId: number, request: Write): Sent => {
    const sent: Sent = {
      templateId,
      write: request,
      at: world.time,
      landed: 'no',
      recordId: null,
      told: 'nothing',
    };
    world.note(() => `  > ${templateId}: ${describe(request)}`);
    judge.sent(passOf(), sent);
    return sent;
  };
  const write = (templateId: number, request: Write): ActualTemplate => {
    const operation = request.action === 'add' ? 'add-dns-template-record' : 'update-dns-template-record';
    const sent = begin(templateId, request);
    takeTurn(templateId);
    const failed = (kind: HostingErrorKind, status: number | null, retryAfter?: number): never => {
      if (kind === 'refused') sent.told = 'refused';
      else if (kind !== 'unknown') sent.told = 'not-sent';
      throw fail(operation, kind, status, retryAfter);
    };
    const answered = (template: ActualTemplate): ActualTemplate => {
      sent.told = 'an answer';
      if (template.id === templateId && template.records.some(({ id }) => id === sent.recordId))
        answeredWrites.add(sent);
      world.note(() => `  < ${template.id}: ${template.records.map(shown).join(' | ') || 'nothing'}`);
      judge.answered(passOf(), sent, template);
      return template;
    };
    const whole = (): ActualTemplate => shownAs(templates.get(templateId)!);

    if (isLimited()) return failed('rate-limited', 429, 60_000);
    const mishap = world.choose(() => describe(request), [null, ...mishaps], weather.writes);
    switch (mishap) {
      case 'not-sent':
        return failed('not-sent', null);
      case 'unauthorized':
        return failed('unauthorized', 401);
      case 'rate-limited':
        return failed('rate-limited', 429, random.chance(0.5) ? 1_000 * random.below(300) : undefined);
      case 'refused':
        return failed('refused', random.pick([400, 403, 404, 409, 422]));
      case 'lost-before':
        return failed('unknown', random.pick([null, 500, 502, 503]));
      case 'lost-late':
        performLate(sent);
        return failed('unknown', random.pick([null, 504]));
      default:
    }
    const before = templates.get(templateId);
    if (perform(sent) !== null) return failed('refused', 422);
    switch (mishap) {
      case 'lost-after':
        return failed('unknown', random.pick([null, 500, 502, 503]));
      case 'old-answer':
        return answered(shownAs(before!));
      case 'other-answer':
        return answered(shownAs(random.pick([...templates.values()])));
      case 'short-answer':
        return answered({ ...whole(), records: random.some(whole().records, 0.5) });
      case 'others-too': {
        const record = storedAddition(nature, newId(), {
          type: 'A',
          name: 'others',
          content: '198.51.100.7',
          priority: null,
          ttl: 300,
        });
        put(templateId, [...templates.get(templateId)!.records, record], null);
        return answered(whole());
      }
      default:
        return answered(
          nature.answersShort
            ? { ...whole(), records: whole().records.filter(({ id }) => id === sent.recordId) }
            : whole(),
        );
    }
  };

  /** What a listing shows that is behind, and whether it is behind other people. */
  const behind = (
    hasLied: boolean,
  ): { readonly read: readonly ActualTemplate[]; readonly isErring: boolean } => {
    const isRecent = (most: number, isOfAll: boolean): boolean =>
      past.hides(({ at, by }) => (isOfAll || by === null) && at > world.time - most);
    const isBehind = !(nature.isKind && hasLied) && isRecent(nature.lag, nature.ownLag === nature.lag);
    const age = isBehind ? world.amount(() => 'the listing is behind others', nature.lag) : 0;
    const ownAge =
      nature.ownLag > nature.lag && isRecent(nature.ownLag, true)
        ? Math.max(
            age,
            world.amount(() => 'the listing is behind us', nature.ownLag),
          )
        : age;
    const isShown = ({ at, by }: Change): boolean => {
      if (by === null) return at <= world.time - age;
      // What was sent without an answer is shown by then, or never.
      const isDue =
        (by.told === 'nothing' || !answeredWrites.has(by)) && by.at + nature.delay <= world.time - age;
      return at <= world.time - ownAge || (nature.ownLag > nature.lag && isDue && at <= world.time - age);
    };
    return {
      read: [...templates.values()].map((template) => past.asOf(template, isShown)),
      isErring: past.hides((change) => change.at > world.time - age),
    };
  };
  const list = (client: string): ActualTemplate[] => {
    if (isLimited()) throw fail('list-dns-templates', 'rate-limited', 429, 60_000);
    const failure = world.choose(() => 'the listing', [null, ...readFailures], weather.reads);
    if (failure) throw fail('list-dns-templates', failure[0], failure[1]);
    for (const { id } of templates.values()) {
      if (owners.get(id) === client && id < 90) takeTurn(id);
    }
    const lately = erringFor(client);
    const { read, isErring } =
      nature.ownLag > 0 ? behind(lately.hasLied) : { read: [...templates.values()], isErring: false };
    const lie =
      nature.isKind && lately.hasErred
        ? null
        : world.choose(
            () => 'the listing shows',
            [
              null,
              'a part',
              'a part',
              'all but the first',
              'the first as parked',
              'nothing',
              'no template',
            ] as const,
            weather.lies,
          );
    const isLie = lie !== null;
    const own = read.filter(({ id }) => isShownTo(client, id));
    const told = lie === null ? own : lies[lie](own);
    lately.hasLied = isLie;
    lately.hasErred = isLie || isErring;
    lately.hasEverErred ||= lately.hasErred;
    const listing = random.shuffled(told.map(cut)).map(shownAs);
    world.note(() => `  < listing${isLie ? ', a lie' : ''}: ${listing.map(describeTemplate).join(' ; ')}`);
    judge.listed(passOf(), listing);
    return listing;
  };
  const cut = (template: ActualTemplate): ActualTemplate =>
    nature.listed === null ? template : { ...template, records: template.records.slice(0, nature.listed) };
  const lies = {
    'a part': (listing: readonly ActualTemplate[]) =>
      withRecords(random.chance(0.1) ? random.some(listing, 0.5) : listing, (records) =>
        random.chance(0.3) ? [] : random.some(records, 0.5),
      ),
    'all but the first': (listing: readonly ActualTemplate[]) =>
      withRecords(listing, ([, ...others]) => others),
    'the first as parked': (listing: readonly ActualTemplate[]) =>
      withRecords(listing, ([first, ...others]) =>
        first ? [{ ...first, name: `_parked-${first.id}` }, ...others] : [],
      ),
    nothing: (listing: readonly ActualTemplate[]) => withRecords(listing, () => []),
    'no template': () => [],
  };

  const panel: Panel = {
    templates: () => [...templates.values()],
    change: (templateId, change) => put(templateId, change(templates.get(templateId)!.records), null),
    newId,
  };
  return {
    ...panel,
    /** Of the last listing for a client: a kind service does not err twice in a row. */
    erringFor,
    list,
    /** For an older state the next reading follows one of before, and what it has forgotten is somebody else's. */
    takeOlderState: (): void => {
      for (const own of erring.values()) own.hasErred = own.hasEverErred;
      past.disown();
    },
    /** What a listing may not show yet, with its age. */
    recent: (): unknown => [[...erring.values()], lastId, past.since(world.time - nature.ownLag, world.time)],
    write,
    /** Of a process that was stopped before it sent, and goes on later. */
    writeLate: (templateId: number, request: Write): void => performLate(begin(templateId, request)),
    listRecords: (subdomain: string): SubdomainRecord[] => {
      if (random.chance(weather.reads)) {
        const [kind, status] = random.pick(readFailures);
        throw fail('list-dns-records', kind, status);
      }
      const own = [...templates.values()].find((template) => subdomain.startsWith(template.name));
      return (own?.records ?? []).map((record) => ({
        ...record,
        id: record.id + 10_000,
        templateRecordId: record.id,
      }));
    },
  };
};

const failureOf = (kind: HostingErrorKind): Failure =>
  kind === 'unauthorized' || kind === 'rate-limited' || kind === 'not-sent' || kind === 'refused'
    ? kind
    : 'other';

const mishaps = [
  'not-sent',
  'unauthorized',
  'rate-limited',
  'refused',
  'refused',
  'lost-before',
  'lost-before',
  'lost-after',
  'lost-after',
  'lost-after',
  'lost-late',
  'lost-late',
  'lost-late',
  'old-answer',
  'other-answer',
  'short-answer',
  'short-answer',
  'others-too',
] as const;

const readFailures = [
  ['unavailable', null],
  ['unavailable', 502],
  ['bad-answer', 200],
  ['unauthorized', 401],
  ['unauthorized', 403],
  ['rate-limited', 429],
  ['not-sent', null],
] as const satisfies readonly (readonly [HostingErrorKind, number | null])[];

const refusalOf = (nature: Nature, template: ActualTemplate, write: Write): string | null => {
  if (write.action === 'update') {
    return template.records.some(({ id }) => id === write.change.recordId) ? null : 'no such record';
  }
  const { record } = write;
  if (record.type === nature.refusesType) return 'type refused';
  return nature.rejectsDuplicates && isExactCopy(template.records, record) ? 'exists already' : null;
};

const withRecords = (
  listing: readonly ActualTemplate[],
  change: (records: readonly ActualRecord[]) => readonly ActualRecord[],
): ActualTemplate[] => listing.map((template) => ({ ...template, records: change(template.records) }));

const describe = (write: Write): string =>
  write.action === 'add'
    ? `add ${shown(write.record)}`
    : `update ${Object.entries(write.change)
        .filter(([, value]) => value !== null)
        .map(([field, value]) => `${field}=${value}`)
        .join(' ')}`;

const describeTemplate = ({ id, records }: ActualTemplate): string =>
  `${id}: ${records.map(shown).join(' | ') || 'nothing'}`;
