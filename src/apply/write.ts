import { HostingError } from '../hosting/errors.ts';
import { grownPause } from '../lib/backoff.ts';
import { canonicalName, canonicalType, sameData } from '../model/canonical.ts';
import { dataOf, type PresentRecord, type RecordData } from '../model/record.ts';
import type { PresentTemplate } from '../model/template.ts';
import { entryOf, pairOf, recordKey } from '../plan/entry.ts';
import { mayBeOneOf } from '../plan/like.ts';
import { parkedKey, type Displaced } from '../plan/memory.ts';
import {
  additionOf,
  changeOf,
  isPark,
  isRestore,
  isUpdate,
  presentOf,
  resultOf,
  type ParkStep,
  type Step,
} from '../plan/step.ts';
import { isParkedName, parkedForm } from '../plan/parked.ts';
import type { Ending, Failure, Intent, RecordMemory } from '../state/memory.ts';
import { arrivalOf, disbelief, showsMore, showsTheSame, targetOf } from './answer.ts';
import type { ApplyContext, Clock, Fate, TemplateWork } from './context.ts';
import { haltFor } from './halt.ts';
import { kept, keptChanges } from './kept.ts';
import { longestPause } from './ledger.ts';
import { holdAgainstLatest, readTemplates } from './listing.ts';

/** Identifies what a step writes, over the plans of a pass. */
export const stepKey = (step: Step): string =>
  isPark(step)
    ? `${parkedKey(step.present.record.id)}${isRestore(step) ? ' back' : ''}`
    : recordKey(step.wanted);

/** Identifies a write: what it makes, and of which record. */
export const writeKey = (step: Step): string => `${presentOf(step)?.record.id ?? 'new'} ${stepKey(step)}`;

/**
 * Sends one write and settles what can be settled at once. The intent is on disk before anything leaves; an add
 * whose outcome is unknown keeps it open.
 */
export const writeStep = async (work: TemplateWork, step: Step, context: ApplyContext): Promise<void> => {
  const intent = await kept(context.memory.begin(intentOf(work, step, context)), context);
  if (intent === null) return;
  // Meanwhile another template's reading may have come.
  holdAgainstLatest(work, context);
  if (intent.action === 'add' && work.addsStopped !== null) {
    const error = `not sent: ${work.addsStopped}`;
    await finish(work, intent, { outcome: 'failed', recordId: null, error }, context);
    return;
  }
  work.ledger.meet(step);
  const fate = await send(work, step, intent, context);
  work.fates.set(stepKey(step), fate);
  report(work, fate, context);
};

const send = async (work: TemplateWork, step: Step, intent: Intent, context: ApplyContext): Promise<Fate> => {
  let answer: PresentTemplate;
  try {
    answer = await call(work.present.id, step, context);
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    return failed(work, step, intent, error, context);
  }
  const doubt = disbelief(work.present, answer, intent.action);
  if (doubt !== null) {
    const shown = showsMore(work.present, answer, intent.action)
      ? null
      : await shownByReading(work, step, intent, context);
    return shown ?? unknown(work, step, intent, doubt, context);
  }
  const record = writtenRecord(work, answer, step);
  if (record === null) {
    if (answer.records.length > work.present.records.length) work.addsStopped = unexplained;
    return unknown(work, step, intent, 'the answer does not show the record', context);
  }
  work.present = answer;
  return commit(work, step, intent, record, context);
};

const call = (templateId: number, step: Step, { service }: ApplyContext): Promise<PresentTemplate> =>
  'present' in step
    ? service.updateDnsTemplateRecord(templateId, changeOf(step))
    : service.addDnsTemplateRecord(templateId, additionOf(step));

/** The record that a write made or changed, in an answer that is believed. */
const writtenRecord = (work: TemplateWork, answer: PresentTemplate, step: Step): PresentRecord | null => {
  const own = presentOf(step);
  if (own) return answer.records.find((record) => record.id === own.record.id) ?? null;
  const isOld = metBefore(work);
  const arrival = arrivalOf(resultOf(step), isOld, answer, 'answer');
  return arrival.kind === 'arrived' ? arrival.record : null;
};

/** A record that was there or was met, and shows again, is not what an add has made. */
const metBefore = ({ present, ledger }: TemplateWork): ((id: number) => boolean) => {
  const ids = new Set(present.records.map((record) => record.id));
  return (id) => ids.has(id) || ledger.isKnown(id) || ledger.view.strangers.has(id);
};

/** The write counts. What the service made of it is remembered where that is not what was sent. */
const commit = async (
  work: TemplateWork,
  step: Step,
  intent: Intent,
  record: PresentRecord,
  context: ApplyContext,
): Promise<Fate> => {
  const now = context.clock.now();
  const sent = resultOf(step);
  const present = entryOf(record);
  work.ledger.setFacts({ lastWriteAt: intent.at });
  if (isPark(step) && isRestore(step)) commitRestore(work, step, record);
  else if (isPark(step)) {
    const isOut = isParkedName(present.name);
    // An answer may show it as it was.
    const isStuck = !isOut && present.content === entryOf(sent).content;
    work.ledger.park(step.present, dataOf(record), {
      rewritten: isOut ? null : { sent, stored: dataOf(record) },
      cause: null,
      displaced: displacedBy(step, isStuck, work),
    });
    if (isStuck) {
      const error = `the service kept its name, and stored ${record.name ?? '@'} ${record.type} ${record.content}`;
      await finish(work, intent, { outcome: 'failed', recordId: record.id, error }, context);
      return { step, outcome: 'failed', error, retryAt: null };
    }
  } else {
    const previous = work.ledger.get(recordKey(step.wanted));
    work.ledger.bind(step.wanted, present, {
      adds: (previous?.adds ?? 0) + (step.difference.action === 'add' ? 1 : 0),
      stored: { sent, at: [...timesStored(previous, sent), now].slice(-3) },
      rewritten: pairOf(step.wanted, present).fields.length > 0 ? { sent, stored: dataOf(record) } : null,
      failure: null,
      ...keptNameAfter(step, present.name, work),
    });
  }
  await finish(work, intent, { outcome: 'applied', recordId: record.id, error: null }, context);
  return { step, outcome: 'applied', error: null, retryAt: null };
};

/**
 * A write that sends a name, or an add without one, tells what the service makes of it; any other does where it shows
 * the name in another spelling.
 */
const keptNameAfter = (
  step: Step,
  name: string,
  { ledger }: TemplateWork,
): Pick<RecordMemory, 'keptName'> => {
  const sendsName = !('present' in step) || changeOf(step).name !== null;
  const isLike = mayBeOneOf(new Set([canonicalName(resultOf(step).name)]));
  if (sendsName || isLike(name)) return { keptName: name };
  const keptName = ledger.ofId(step.present.record.id)?.keptName;
  return keptName === undefined ? {} : { keptName };
};

/** A record that kept its name when it was parked is not parked again. */
const commitRestore = ({ ledger }: TemplateWork, step: ParkStep, record: PresentRecord): void => {
  const { present, difference } = step;
  const stored = dataOf(record);
  const known = ledger.view.displaced.get(record.id);
  const wasStuck = !isParkedName(present.name);
  const rewritten = wasStuck ? { sent: parkedForm(record, present.type), stored } : null;
  const changes = { rewritten, keptName: canonicalName(record.name) };
  if (known?.own) {
    ledger.restore(known.own, record.id, stored);
    ledger.change(known.own.key, known.own.wanted, changes);
  } else {
    // It is out of place for the same reason as before.
    const { cause, desired: wanted } = difference;
    ledger.park(present, stored, { ...changes, wanted, cause, displaced: null });
  }
};

/** What a park takes from its place; null where it makes way for nothing, and is out of it. */
const displacedBy = (
  { present, difference: { cause } }: ParkStep,
  isStuck: boolean,
  { madeWay, ledger }: TemplateWork,
): Displaced | null => {
  const { record } = present;
  const key = madeWay.get(record.id) ?? (isStuck ? parkedKey(record.id) : undefined);
  if (key === undefined) return null;
  const known = ledger.ofId(record.id);
  const own = known && known.key !== parkedKey(record.id) ? { key: known.key, wanted: known.wanted } : null;
  return { key, own, was: dataOf(record), cause };
};

const timesStored = (previous: RecordMemory | undefined, sent: RecordData): readonly number[] =>
  previous?.stored && sameData(previous.stored.sent, sent) ? previous.stored.at : [];

const failed = async (
  work: TemplateWork,
  step: Step,
  intent: Intent,
  error: HostingError,
  context: ApplyContext,
): Promise<Fate> => {
  const ending: Ending = { outcome: 'failed', recordId: intent.recordId, error: error.message };
  switch (error.kind) {
    case 'refused':
      return refused(work, step, intent, error, context);
    case 'rate-limited':
    case 'not-sent':
    case 'unauthorized':
      haltFor(error, context);
      await finish(work, intent, ending, context);
      return { step, outcome: 'failed', error: error.message, retryAt: context.halt.retryAt };
    case 'unknown':
    case 'unavailable':
    case 'bad-answer':
      return unknown(work, step, intent, error.message, context);
  }
};

/**
 * Nobody can tell whether the write landed. An add waits until it is settled; an update is planned anew from the next
 * reading, at once for the first time and then with pauses.
 */
const unknown = async (
  work: TemplateWork,
  step: Step,
  intent: Intent,
  error: string,
  context: ApplyContext,
): Promise<Fate> => {
  work.stopped = `stopped after a write whose outcome is unknown: ${error}`;
  if (intent.action === 'add') work.pending = [...work.pending, intent];
  else {
    const failure = nextFailure('unseen', error, step, work, context);
    const target = targetOf(intent);
    if (target) work.ledger.claim(target, { failure });
    else rememberFailure(work, step, failure);
    await finish(work, intent, { outcome: 'unknown', recordId: intent.recordId, error }, context);
  }
  return { step, outcome: 'unknown', error, retryAt: null };
};

/** A service may answer with less than the whole template: one reading that can be believed may show it. */
const shownByReading = async (
  work: TemplateWork,
  step: Step,
  intent: Intent,
  context: ApplyContext,
): Promise<Fate | null> => {
  const reading = (await readTemplates(context))?.get(work.present.id);
  if (!reading || disbelief(work.present, reading, intent.action) !== null) return null;
  const record = recordAsWanted(metBefore(work), reading, step) ?? renamedRecord(reading, step);
  if (record === null) return null;
  work.present = reading;
  return commit(work, step, intent, record, context);
};

/** A service may keep another spelling of the name than it was sent, with all else as it was. */
const renamedRecord = (reading: PresentTemplate, step: Step): PresentRecord | null => {
  if (!isUpdate(step)) return null;
  const record = reading.records.find(({ id }) => id === step.present.record.id);
  if (!record || sameData(record, step.present.record)) return null;
  return pairOf(step.wanted, entryOf(record)).fields.every((field) => field === 'name') ? record : null;
};

/** A refusal may hide that the record is there already: read once before believing it. */
const refused = async (
  work: TemplateWork,
  step: Step,
  intent: Intent,
  error: HostingError,
  context: ApplyContext,
): Promise<Fate> => {
  const reading = (await readTemplates(context))?.get(work.present.id);
  const ids = new Set(work.present.records.map(({ id }) => id));
  const record = reading && recordAsWanted((id) => ids.has(id), reading, step);
  const doubt = reading && disbelief(work.present, reading, intent.action);
  // It shows more than there should be: what was read before is no longer what is there.
  if (reading && showsMore(work.present, reading, intent.action))
    work.stopped = `stopped after a refusal: ${doubt}`;
  if (reading && doubt === null) {
    if (record !== null) work.present = reading;
    // It may be behind what was read before, or newer: nobody can tell.
    else if (!showsTheSame(work.present, reading))
      work.stopped =
        'stopped after a refusal: the reading after it shows other values than the one before it';
  }
  if (record) return commit(work, step, intent, record, context);
  const failure = nextFailure('refused', error.message, step, work, context);
  rememberFailure(work, step, failure);
  await finish(work, intent, { outcome: 'failed', recordId: intent.recordId, error: error.message }, context);
  return { step, outcome: 'failed', error: error.message, retryAt: failure.retryAt };
};

const recordAsWanted = (
  isOld: (id: number) => boolean,
  reading: PresentTemplate,
  step: Step,
): PresentRecord | null => {
  const own = presentOf(step);
  const candidates = reading.records.filter((record) =>
    own ? record.id === own.record.id : !isOld(record.id),
  );
  return candidates.find((record) => isAsWanted(record, step)) ?? null;
};

/** A park sends no TTL. */
const isAsWanted = (record: PresentRecord, step: Step): boolean =>
  isPark(step)
    ? sameData({ ...resultOf(step), ttl: record.ttl }, record)
    : pairOf(step.wanted, entryOf(record)).fields.length === 0;

const nextFailure = (
  kind: Failure['kind'],
  message: string,
  step: Step,
  work: TemplateWork,
  { clock }: ApplyContext,
): Failure =>
  failureAfter(
    rememberedFor(step, work)?.failure ?? null,
    kind,
    message,
    resultOf(step),
    clock,
    shortestPause,
  );

/** Pauses grow from the shortest, after `unseen` from none, to six hours, or are all the same where that is longer. */
export const failureAfter = (
  previous: Failure | null,
  kind: Failure['kind'],
  message: string,
  sent: RecordData,
  clock: Pick<Clock, 'now' | 'uptime'>,
  shortest: number,
): Failure => {
  const isRepeated = previous?.kind === kind && sameData(previous.sent, sent);
  const count = isRepeated ? previous.count + 1 : 1;
  const failures = kind === 'unseen' ? count - 1 : count;
  const growth = { first: shortest, longest: Math.max(shortest, longestPause) };
  const pause = failures === 0 ? 0 : grownPause(failures, growth);
  return { kind, message, count, sent, retryAt: clock.now() + pause, pause, since: clock.uptime() };
};

const rememberFailure = (work: TemplateWork, step: Step, failure: Failure): void => {
  const wanted = isPark(step) ? dataOf(step.present.record) : dataOf(step.wanted.record);
  work.ledger.change(rememberedFor(step, work)?.key ?? stepKey(step), wanted, { failure });
};

const rememberedFor = (step: Step, { ledger }: TemplateWork): RecordMemory | undefined =>
  (isPark(step) ? ledger.ofId(step.present.record.id) : undefined) ?? ledger.get(stepKey(step));

const finish = async (
  { ledger }: TemplateWork,
  intent: Intent,
  ending: Ending,
  context: ApplyContext,
): Promise<void> => {
  await keptChanges(ledger, context, (changes) => context.memory.finish(intent, ending, changes));
};

const intentOf = (work: TemplateWork, step: Step, { clock, run }: ApplyContext): Omit<Intent, 'id'> => {
  const own = presentOf(step);
  const type = canonicalType(resultOf(step).type);
  return {
    run,
    at: clock.now(),
    templateId: work.present.id,
    template: work.desired.template,
    file: work.desired.source.file,
    action: step.difference.action,
    key: stepKey(step),
    recordId: own?.record.id ?? null,
    before: own ? dataOf(own.record) : null,
    after: resultOf(step),
    cause: step.difference.cause,
    idsBefore: own ? [] : idsOfType(work, type),
  };
};

/** Those that were met are among them though no reading shows them now. */
const idsOfType = ({ present, ledger }: TemplateWork, type: string): number[] => {
  const shown = present.records.filter((record) => canonicalType(record.type) === type);
  const known = [...ledger.view.byId.values()].filter(({ seen }) => canonicalType(seen.type) === type);
  return [...new Set([...[...shown, ...known].map(({ id }) => id), ...ledger.view.strangers])];
};

const report = (work: TemplateWork, { step, outcome, error }: Fate, { onChange }: ApplyContext): void => {
  const own = presentOf(step);
  onChange({
    template: work.present.name,
    templateId: work.present.id,
    recordId: own?.record.id ?? (isPark(step) ? null : (work.ledger.get(stepKey(step))?.recordId ?? null)),
    action: step.difference.action,
    before: own ? dataOf(own.record) : null,
    after: resultOf(step),
    outcome,
    error,
  });
};

const unexplained = 'a record appeared that nobody can explain';
/** Milliseconds. After an add of unknown outcome it is the one that is set. */
const shortestPause = 60_000;
