import { canonicalName, canonicalType, sameData } from '../model/canonical.ts';
import { dataOf } from '../model/record.ts';
import type { PresentTemplate } from '../model/template.ts';
import { entryOf, recordKey } from '../plan/entry.ts';
import { isStuck } from '../plan/memory.ts';
import { isParkedName } from '../plan/parked.ts';
import { isPark, presentOf, resultOf, type Step } from '../plan/step.ts';
import type { MemoryReader } from '../state/memory.ts';
import { countLost } from './answer.ts';
import type { BoundTemplate } from './bind.ts';
import type { ApplyContext, Clock, TemplateWork } from './context.ts';
import { openLedger, type Ledger } from './ledger.ts';
import { readTemplates } from './listing.ts';
import { onSteadyTime } from './pause.ts';
import { planWork } from './template.ts';
import { stepKey, writeKey } from './write.ts';

export const openWork = async (
  { desired, present, notes }: BoundTemplate,
  { memory, clock }: OpenOptions,
): Promise<TemplateWork> => {
  const ledger = openLedger(await memory.template(present.id), {
    templateId: present.id,
    template: desired.template,
    file: desired.source.file,
  });
  ledger.retime((failure) => onSteadyTime(failure, clock));
  takeBack(ledger, present);
  return {
    desired,
    notes,
    ledger,
    openedAt: clock.now(),
    present,
    pending: [],
    fates: new Map(),
    madeWay: new Map(),
    confirmed: new Set(),
    planned: null,
    lacking: null,
    heldAgainst: null,
    wantedKeys: null,
    hasDisagreement: false,
    stopped: null,
    addsStopped: null,
  };
};

interface OpenOptions {
  readonly memory: MemoryReader;
  readonly clock: Clock;
}

/** What was parked and is out of its parked place again stands for what it stood for, whoever brought it back. */
const takeBack = (ledger: Ledger, { records }: PresentTemplate): void => {
  for (const [id, { own }] of ledger.view.displaced) {
    const record = records.find((one) => one.id === id);
    if (!own || !record || isStuck(ledger.view, record)) continue;
    if (!isParkedName(canonicalName(record.name))) ledger.restore(own, id, dataOf(record));
  }
};

/** Later than this, a value of ours that is not there any more was changed, not just slow to show. */
const recent = 600_000;

/**
 * Whether one reading is too little to act on: adds to a template that no pass has seen to the end or of which no
 * record is known, adds where a record is missing that may stand for the wanted one already, writes to a name at which
 * a record is missing that may be in their way, records that were parked and are back or that stand for another wanted
 * one, and values that this program has only just stored.
 */
const needsConfirmation = (step: Step, work: TemplateWork, now: number): boolean => {
  const { ledger } = work;
  if (takesFromWanted(step, work)) return true;
  if (isPark(step)) return ledger.get(stepKey(step))?.recordId != null;
  if (lackingIn(work).names.has(step.wanted.name)) return true;
  const key = recordKey(step.wanted);
  const { familiar, byKey, claims } = ledger.view;
  if (step.difference.action === 'add') {
    // What stood for it may have seemed to be another wanted one.
    const isMet = byKey.has(key) || claims.has(key) || ledger.get(key)?.cause === 'drifted';
    return !familiar || byKey.size === 0 || isMet || lacksOneOfType(step.wanted.type, work);
  }
  const stored = ledger.get(key)?.stored;
  const lastAt = stored?.at.at(-1) ?? 0;
  return stored != null && sameData(stored.sent, resultOf(step)) && Math.abs(now - lastAt) < recent;
};

/** A copy that a listing from before shows may seem to serve in the place of the record that does. */
const takesFromWanted = (step: Step, work: TemplateWork): boolean => {
  const present = presentOf(step);
  const known = present && work.ledger.ofId(present.record.id);
  return known != null && known.key !== stepKey(step) && wantedKeys(work).has(known.key);
};

/** `recordKey` of all that the file wants. */
export const wantedKeys = (work: TemplateWork): ReadonlySet<string> =>
  (work.wantedKeys ??= new Set(work.desired.records.map((record) => recordKey(entryOf(record)))));

/** Of a record that the file never wanted only the id is remembered: it may have been of any type. */
const lacksOneOfType = (type: string, work: TemplateWork): boolean => {
  const { types, strangers } = lackingIn(work);
  return strangers.length > 0 || types.has(type);
};

/** Worked out once for a reading, and for what memory says of it. */
const lackingIn = (work: TemplateWork): NonNullable<TemplateWork['lacking']> => {
  const { ledger, present, lacking } = work;
  if (lacking?.present === present && lacking.version === ledger.version) return lacking;
  const { byId, strangers } = ledger.view;
  const ids = new Set(present.records.map(({ id }) => id));
  const gone = [...byId.values()].filter(({ id }) => !ids.has(id));
  work.lacking = {
    types: new Set(gone.map(({ seen }) => canonicalType(seen.type))),
    names: new Set(
      gone.flatMap(({ seen, wanted }) => [canonicalName(seen.name), canonicalName(wanted.name)]),
    ),
    strangers: [...strangers].filter((id) => !ids.has(id) && !byId.has(id)),
    present,
    version: ledger.version,
  };
  return work.lacking;
};

export const isUnconfirmed = (step: Step, work: TemplateWork, { clock }: ApplyContext): boolean =>
  needsConfirmation(step, work, clock.now()) && !work.confirmed.has(writeKey(step));

/** Reads a second time where one reading is too little, and confirms what both readings ask for. */
export const confirmWorks = async (works: readonly TemplateWork[], context: ApplyContext): Promise<void> => {
  const now = context.clock.now();
  const isDoubtful = works.some((work) =>
    planWork(work, now).steps.some((step) => needsConfirmation(step, work, now)),
  );
  if (!isDoubtful || context.halt.reason !== null) return;
  const first = new Map(works.map((work) => [work, writeKeys(work, now)]));
  await context.clock.sleep(context.settle, context.signal);
  if (context.signal.aborted) return;
  const readings = await readTemplates(context);
  if (readings === null) return;
  for (const work of works) {
    takeSecondReading(work, readings.get(work.present.id));
    forgetStrangers(work);
  }
  // Also what one reading would do for: it may be in doubt once others have been written.
  for (const [work, keys] of first) {
    for (const key of writeKeys(work, now)) if (keys.has(key)) work.confirmed.add(key);
  }
};

/** A second reading that lacks what the first one showed is no better than the first: neither is written from. */
const takeSecondReading = (work: TemplateWork, reading: PresentTemplate | undefined): void => {
  const lost = reading ? countLost(work.present, reading) : 0;
  if (!reading) work.stopped = 'the template was missing in a second reading';
  else if (lost > 0) {
    work.stopped = `a second reading lacked ${lost} of the records that the first one showed`;
    work.hasDisagreement = true;
  } else work.present = reading;
};

/** What a second reading lacks, which lacks nothing of the first, is gone, and tells nothing about later ones. */
const forgetStrangers = (work: TemplateWork): void => {
  const { ledger, stopped } = work;
  if (stopped !== null || ledger.view.strangers.size === 0) return;
  const gone = new Set(lackingIn(work).strangers);
  if (gone.size === 0) return;
  ledger.setFacts({ strangers: ledger.facts.strangers!.filter((id) => !gone.has(id)) });
};

const writeKeys = (work: TemplateWork, now: number): ReadonlySet<string> =>
  new Set(planWork(work, now).steps.map(writeKey));
