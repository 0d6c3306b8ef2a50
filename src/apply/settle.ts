import { canonicalName, canonicalType, sameData } from '../model/canonical.ts';
import { dataOf, type PresentRecord } from '../model/record.ts';
import type { PresentTemplate } from '../model/template.ts';
import { entryOf, recordKey, setKey } from '../plan/entry.ts';
import { hasLostMany } from '../plan/guard.ts';
import type { Ending, Intent } from '../state/memory.ts';
import { arrivalOf, countLost, targetOf, type Arrival, type Evidence } from './answer.ts';
import type { ApplyContext, Fate, TemplateWork } from './context.ts';
import { mostAdds } from './gate.ts';
import { isClosed } from './halt.ts';
import { keptChanges } from './kept.ts';
import { openLedger, type Ledger } from './ledger.ts';
import { readTemplates } from './listing.ts';
import { wantedKeys } from './work.ts';
import { failureAfter } from './write.ts';

const noKeys: ReadonlySet<string> = new Set();

/** What earlier passes left open, to plan with where nothing may be settled: a single reading shows what it shows. */
export const takeIntents = (intents: readonly Intent[], work: TemplateWork): void => {
  const { present, ledger } = work;
  const own = intents.filter(({ templateId }) => templateId === present.id);
  for (const target of own.map(targetOf)) if (target) ledger.claim(target);
  work.pending = own.filter(
    (intent) =>
      intent.action === 'add' &&
      !['arrived', 'duplicate'].includes(arrival(intent, present, ledger, 'exact', noKeys).kind),
  );
};

/** Settles what earlier passes, or a process that died, left open; also of templates that no file describes any more. */
export const settleEarlier = async (
  works: readonly TemplateWork[],
  actual: readonly PresentTemplate[],
  context: ApplyContext,
): Promise<void> => {
  const intents = await context.memory.openIntents();
  if (intents.length === 0) return;
  const ledgers = new Map(works.map((work) => [work.present.id, work.ledger]));
  const workOf = new Map(works.map((work) => [work.present.id, work]));
  const ledgerOf = async (intent: Intent): Promise<Ledger> => {
    const ledger =
      ledgers.get(intent.templateId) ?? openLedger(await context.memory.template(intent.templateId), intent);
    ledgers.set(intent.templateId, ledger);
    return ledger;
  };
  for (const intent of intents) {
    if (intent.action === 'add') continue;
    const reading = actual.find(({ id }) => id === intent.templateId);
    await endUpdate(intent, reading, await ledgerOf(intent), context);
  }
  const settled = await settleAdds(
    {
      intents: intents.filter(({ action }) => action === 'add'),
      ledgerOf,
      readings: new Map(actual.map((template) => [template.id, template])),
      isWhole: (reading) => isWhole(reading, workOf.get(reading.id)),
      isForgiven: ({ templateId }) => context.retry && workOf.has(templateId),
      wantedOf: ({ templateId }) => wantedOf(workOf.get(templateId)),
    },
    context,
  );
  for (const work of works) {
    if (settled.doubted.has(work.present.id)) {
      work.stopped ??= 'readings disagreed on what the template holds';
      work.hasDisagreement = true;
    }
    work.present = settled.readings.get(work.present.id) ?? work.present;
    work.pending = settled.open.filter(({ templateId }) => templateId === work.present.id);
  }
};

/** Settles the adds of this pass whose outcome was unknown, all templates with the same readings. */
export const settleOwn = async (works: readonly TemplateWork[], context: ApplyContext): Promise<void> => {
  const intents = works.flatMap((work) => work.pending.filter(({ run }) => run === context.run));
  if (intents.length === 0) return;
  const byId = new Map(works.map((work) => [work.present.id, work]));
  const settled = await settleAdds(
    {
      intents,
      ledgerOf: (intent) => Promise.resolve(byId.get(intent.templateId)!.ledger),
      readings: new Map(works.map(({ present }) => [present.id, present])),
      isWhole: (reading) => isWhole(reading, byId.get(reading.id)),
      isForgiven: () => false,
      wantedOf: ({ templateId }) => wantedOf(byId.get(templateId)),
    },
    context,
  );
  for (const work of works) work.present = settled.readings.get(work.present.id) ?? work.present;
  const end = (intent: Intent, changes: Partial<Fate>): void => {
    const work = byId.get(intent.templateId)!;
    work.pending = work.pending.filter(({ id }) => id !== intent.id);
    const fate = work.fates.get(intent.key);
    if (fate) work.fates.set(intent.key, { ...fate, ...changes });
  };
  for (const intent of settled.arrived) end(intent, { outcome: 'applied', error: null });
  for (const { intent, retryAt } of settled.absent) end(intent, { outcome: 'failed', retryAt });
};

const isWhole = (reading: PresentTemplate, work: TemplateWork | undefined): boolean =>
  !work ||
  !hasLostMany({
    desired: work.desired,
    present: reading,
    memory: work.ledger.view,
    suspectIds: work.ledger.facts.suspectIds,
  });

/** An update left by a process that died is planned anew if need be. */
const endUpdate = async (
  intent: Intent,
  reading: PresentTemplate | undefined,
  ledger: Ledger,
  context: ApplyContext,
): Promise<void> => {
  const target = targetOf(intent);
  if (target) ledger.claim(target);
  if (hasLanded(intent, reading)) ledger.setFacts({ lastWriteAt: intent.at });
  const error =
    'what became of it was not written down: the program ended before that, or its state could not be written';
  await finish(intent, ledger, { outcome: 'unknown', recordId: intent.recordId, error }, context);
};

/** Where it sent no TTL, any will do. */
const hasLanded = ({ recordId, after }: Intent, reading: PresentTemplate | undefined): boolean => {
  const record = reading?.records.find(({ id }) => id === recordId);
  return record !== undefined && sameData({ ...after, ttl: after.ttl ?? record.ttl }, record);
};

interface SettleInput {
  readonly intents: readonly Intent[];
  readonly ledgerOf: (intent: Intent) => Promise<Ledger>;
  /** The last reading of each template that was believed. */
  readonly readings: ReadonlyMap<number, PresentTemplate>;
  /** Whether a reading may tell what is not there. */
  readonly isWhole: (reading: PresentTemplate) => boolean;
  /** Whether a person said not to wait any longer for what no reading can tell apart. */
  readonly isForgiven: (intent: Intent) => boolean;
  /** `recordKey` of all that a file asks for in the template of the add. */
  readonly wantedOf: (intent: Intent) => ReadonlySet<string>;
}

interface Settled {
  /** Adds whose outcome is still unknown. */
  readonly open: readonly Intent[];
  readonly arrived: readonly Intent[];
  /** Seen in neither reading: they may be tried once more after their pause. */
  readonly absent: readonly { readonly intent: Intent; readonly retryAt: number | null }[];
  readonly readings: ReadonlyMap<number, PresentTemplate>;
  /** Templates whose last reading lacked what an earlier one had shown. */
  readonly doubted: ReadonlySet<number>;
}

/**
 * Resolves adds of unknown outcome, and only by reading: what the last reading shows has arrived; else wait,
 * read, wait, read. Absent in both readings, an add counts as failed. A reading that lost records says nothing.
 */
const settleAdds = async (input: SettleInput, context: ApplyContext): Promise<Settled> => {
  const readings = new Map(input.readings);
  const arrived: Intent[] = [];
  const first = [...readings.values()].filter(input.isWhole);
  let open = await takeArrived(input.intents, first, arrived, input, context);
  let silent = new Set<number>();
  let doubted = new Set<number>();
  for (let round = 1; round <= 2 && open.length > 0; round += 1) {
    if (!isClosed(context.halt)) await context.clock.sleep(context.settle, context.signal);
    const next = context.signal.aborted ? null : await readTemplates(context);
    if (next === null) return { open, arrived, absent: [], readings, doubted };
    const taken = takeReadings(readings, next);
    doubted = new Set([...readings.keys()].filter((id) => taken.every((reading) => reading.id !== id)));
    const telling = taken.filter(input.isWhole);
    const told = new Set(telling.map(({ id }) => id));
    silent = new Set([...silent, ...open.map(({ templateId }) => templateId).filter((id) => !told.has(id))]);
    open = await takeArrived(open, telling, arrived, input, context);
  }
  const absent: { intent: Intent; retryAt: number | null }[] = [];
  const unclear: Intent[] = [];
  for (const intent of open) {
    const ledger = await input.ledgerOf(intent);
    const reading = silent.has(intent.templateId) ? undefined : readings.get(intent.templateId);
    const isAbsent =
      reading && arrival(intent, reading, ledger, 'alike', input.wantedOf(intent)).kind === 'absent';
    if (isAbsent || (reading && input.isForgiven(intent)))
      absent.push({ intent, retryAt: await giveUp(intent, ledger, context, 1) });
    // Nobody waits for it: should a file ask for it again, it takes a person's word.
    else if (reading && !input.wantedOf(intent).has(intent.key))
      await giveUp(intent, ledger, context, mostAdds);
    else unclear.push(intent);
  }
  return { open: unclear, arrived, absent, readings, doubted };
};

/** Takes over what lacks nothing of the reading before, and gives that. */
const takeReadings = (
  readings: Map<number, PresentTemplate>,
  next: ReadonlyMap<number, PresentTemplate>,
): PresentTemplate[] => {
  const taken: PresentTemplate[] = [];
  for (const [id, before] of readings) {
    const reading = next.get(id);
    if (!reading || countLost(before, reading) > 0) continue;
    readings.set(id, reading);
    taken.push(reading);
  }
  return taken;
};

/** What is there exactly as it was sent comes first; only then may a lone add take a lone new record of its type. */
const takeArrived = async (
  intents: readonly Intent[],
  readings: readonly PresentTemplate[],
  arrived: Intent[],
  input: SettleInput,
  context: ApplyContext,
): Promise<readonly Intent[]> => {
  let open = intents;
  for (const evidence of ['exact', 'alike'] as const) {
    const left: Intent[] = [];
    for (const intent of open) {
      const ledger = await input.ledgerOf(intent);
      const reading = readings.find(({ id }) => id === intent.templateId);
      const isAlone = open.filter((other) => isOfOneKind(other, intent)).length === 1;
      const found =
        reading && (evidence === 'exact' || isAlone)
          ? arrival(intent, reading, ledger, evidence, input.wantedOf(intent))
          : null;
      if (reading && (found?.kind === 'arrived' || found?.kind === 'duplicate')) {
        const candidates = found.kind === 'arrived' ? [found.record] : found.records;
        await accept(intent, candidates, reading, ledger, context);
        arrived.push(intent);
      } else left.push(intent);
    }
    open = left;
  }
  return open;
};

const isOfOneKind = (one: Intent, other: Intent): boolean =>
  one.templateId === other.templateId && canonicalType(one.after.type) === canonicalType(other.after.type);

/**
 * A record that stands for a wanted one is no newcomer, unless it is this very one and exactly that; and what is just
 * as the file wants another one is not like this one.
 */
const arrival = (
  intent: Intent,
  reading: PresentTemplate,
  ledger: Ledger,
  evidence: Evidence,
  wanted: ReadonlySet<string>,
): Arrival => {
  const old = new Set(intent.idsBefore);
  const isTaken = (id: number): boolean => {
    const isOwn = ledger.view.byId.get(id)?.key === intent.key;
    return isOwn ? evidence !== 'exact' : ledger.isKnown(id);
  };
  const isAnothers = (record: PresentRecord): boolean => {
    const key = recordKey(entryOf(record));
    return key !== intent.key && wanted.has(key);
  };
  if (evidence !== 'exact') for (const record of reading.records) if (isAnothers(record)) old.add(record.id);
  return arrivalOf(intent.after, (id) => old.has(id) || isTaken(id), reading, evidence);
};

/** Where several records stand for one add, the one that did so before goes on doing so, else the first that came. */
const accept = async (
  intent: Intent,
  candidates: readonly PresentRecord[],
  reading: PresentTemplate,
  ledger: Ledger,
  context: ApplyContext,
): Promise<void> => {
  const known = ledger.get(intent.key);
  const knownId = ledger.view.byKey.get(intent.key)?.id;
  const before = reading.records.find(({ id }) => id === knownId);
  const [first] = candidates.toSorted((a, b) => a.id - b.id);
  const record = before ?? first!;
  const copies = candidates.map(({ id }) => id).filter((id) => id !== record.id);
  const isAsSent =
    recordKey(entryOf(intent.after)) === recordKey(entryOf(record)) &&
    (intent.after.ttl === null || intent.after.ttl === record.ttl);
  ledger.change(intent.key, intent.after, {
    wanted: intent.after,
    recordId: record.id,
    copies: [...new Set([...(known?.copies ?? []), ...copies])],
    seen: dataOf(record),
    keptName: canonicalName(record.name),
    adds: (known?.adds ?? 0) + 1,
    rewritten: isAsSent ? null : { sent: intent.after, stored: dataOf(record) },
    failure: null,
    cause: null,
  });
  ledger.setFacts({ lastWriteAt: intent.at });
  const outcome = copies.length > 0 ? 'duplicate' : 'applied';
  await finish(intent, ledger, { outcome, recordId: record.id, error: null }, context);
};

const wantedOf = (work: TemplateWork | undefined): ReadonlySet<string> => (work ? wantedKeys(work) : noKeys);

/** `adds`: for how many that may have landed it counts. */
const giveUp = async (
  intent: Intent,
  ledger: Ledger,
  context: ApplyContext,
  adds: number,
): Promise<number | null> => {
  const known = ledger.get(intent.key);
  const failure = failureAfter(
    known?.failure ?? null,
    'unknown',
    'the outcome of the add was unknown, and two readings did not show the record',
    intent.after,
    context.clock,
    context.unknownPause,
  );
  const cause = known ? known.cause : intent.cause;
  ledger.change(intent.key, intent.after, { adds: (known?.adds ?? 0) + adds, failure, cause });
  await finish(intent, ledger, { outcome: 'failed', recordId: null, error: failure.message }, context);
  const set = setKey(entryOf(intent.after));
  const lost = ledger.unseenAdds().filter(({ wanted }) => setKey(entryOf(wanted)) === set);
  // A second one waits for a person, not for a time.
  return lost.reduce((sum, one) => sum + one.adds, 0) < mostAdds ? failure.retryAt : null;
};

const finish = async (
  intent: Intent,
  ledger: Ledger,
  ending: Ending,
  context: ApplyContext,
): Promise<void> => {
  await keptChanges(ledger, context, (changes) => context.memory.finish(intent, ending, changes));
  const { template, templateId, action, before, after } = intent;
  const { recordId, error } = ending;
  const outcome = ending.outcome === 'duplicate' ? 'applied' : ending.outcome;
  context.onChange({ template, templateId, recordId, action, before, after, outcome, error });
};
