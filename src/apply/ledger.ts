import { dataOf, type RecordData } from '../model/record.ts';
import type { PresentTemplate } from '../model/template.ts';
import { sameData } from '../model/canonical.ts';
import { entryOf, recordKey, type Pair, type Present, type Wanted } from '../plan/entry.ts';
import type { Cause } from '../plan/difference.ts';
import {
  isClaimed,
  parkedKey,
  type Displaced,
  type KnownRecord,
  type TemplateMemory,
} from '../plan/memory.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { isPark, type Step } from '../plan/step.ts';
import type { Failure, LedgerChanges, RecordMemory, TemplateFacts, TemplateLedger } from '../state/memory.ts';

/** What memory holds of one template, as a pass reads and changes it. Nothing is kept until it is saved. */
export interface Ledger {
  readonly facts: TemplateFacts;
  /** Always what the ledger says now. */
  readonly view: TemplateMemory;
  /** Changes with each change that a plan could see. */
  readonly version: number;
  get(key: string): RecordMemory | undefined;
  ofId(id: number): RecordMemory | undefined;
  /** What adds of unknown outcome were to make, found in no reading. */
  unseenAdds(): readonly RecordMemory[];
  /** Whether the id stands for a wanted record, or was to. */
  isKnown(id: number): boolean;
  /** From now on this id stands for this wanted record, and both agree. */
  bind(wanted: Wanted, present: Present, changes?: Partial<RecordMemory>): void;
  /** A change of unknown outcome went to the id, which still stands for what it stood for until it shows that. */
  claim(target: Target, changes?: Pick<RecordMemory, 'failure'>): void;
  park(
    present: Present,
    seen: RecordData,
    changes: Pick<RecordMemory, 'rewritten' | 'cause' | 'displaced'> & Partial<RecordMemory>,
  ): void;
  /** A record is back in its place, and stands for what it stood for there. */
  restore(own: NonNullable<Displaced['own']>, id: number, seen: RecordData): void;
  change(key: string, wanted: RecordData, changes: Partial<RecordMemory>): void;
  /** From now on the id stands for nothing that the file ever wanted. */
  disown(id: number): void;
  /** Remembers why a record that memory has not met yet was first found to differ. */
  meet(step: Step): void;
  /** Brings the times of next tries up to date. */
  retime(retimed: (failure: Failure) => Failure): void;
  /** Ends the pauses after refusals; with `everything`, all that keeps a wanted record from being written. */
  forgive(everything: boolean): void;
  setFacts(facts: Partial<TemplateFacts>): void;
  /** Remembers what a plan saw: which records agree, and why the others were first found to differ. */
  observe(plan: TemplatePlan, reading: Reading): void;
  isChanged(): boolean;
  /** What could not be saved counts as changed again. */
  putBack(changes: LedgerChanges): void;
  /** What has changed since the last call; null if nothing has. */
  takeChanges(): LedgerChanges | null;
}

/** A wanted record, and the one at the service that was to become it. */
export interface Target {
  readonly key: string;
  readonly wanted: RecordData;
  readonly recordId: number;
  readonly before: RecordData;
  readonly cause: Cause;
}

export interface Reading {
  readonly present: PresentTemplate;
  /** Keys of the records that the file wants. */
  readonly wanted: ReadonlySet<string>;
  /** When the pass began to look, and when it was done, in ms since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds. */
  readonly settle: number;
}

export const openLedger = (
  stored: TemplateLedger | null,
  facts: Pick<TemplateFacts, 'templateId' | 'template' | 'file'>,
): Ledger => {
  const records = new Map(stored?.records.map((record) => [record.key, record]));
  const byKey = new Map<string, KnownRecord>();
  const byId = new Map<number, KnownRecord>();
  const claims = new Map<string, KnownRecord>();
  const copyIds = new Set<number>();
  const causes = new Map<string, Cause>();
  const displaced = new Map<number, Displaced>();
  const touched = new Set<string>();
  const forgotten = new Set<string>();
  let current: TemplateFacts = {
    suspectIds: null,
    strangers: null,
    lastWriteAt: null,
    ...stored?.facts,
    ...facts,
  };
  let factsChanged = stored?.facts.template !== facts.template || stored.facts.file !== facts.file;

  const index = (record: RecordMemory): void => {
    const { key, recordId: id, copies = [], wanted, seen, keptName, cause } = record;
    if (cause !== null) causes.set(key, cause);
    if (id === null) return;
    if (record.displaced) displaced.set(id, record.displaced);
    const spelling = keptName === undefined ? {} : { keptName };
    const known = { id, copies, key, wanted, seen: seen ?? wanted, ...spelling };
    if (isClaim(record)) claims.set(key, known);
    else {
      byKey.set(key, known);
      byId.set(id, known);
      for (const copy of copies) copyIds.add(copy);
    }
  };
  const unindex = (key: string): void => {
    const known = byKey.get(key);
    if (known && byId.get(known.id)?.key === key) byId.delete(known.id);
    for (const copy of known?.copies ?? []) copyIds.delete(copy);
    displaced.delete(parkedId(key) ?? -1);
    byKey.delete(key);
    claims.delete(key);
    causes.delete(key);
  };
  const strangers = new Set(current.strangers);
  let version = 0;
  const forget = (key: string): void => {
    if (!records.has(key)) return;
    version += 1;
    records.delete(key);
    unindex(key);
    touched.delete(key);
    forgotten.add(key);
  };
  const put = (given: RecordMemory): void => {
    const isSameId = records.get(given.key)?.recordId === given.recordId;
    const record = isSameId ? given : { ...given, missedAt: null };
    version += 1;
    unindex(record.key);
    records.set(record.key, record);
    index(record);
    forgotten.delete(record.key);
    touched.add(record.key);
  };
  /** One id stands for one wanted record: what else it stood for has lost it, should it still be wanted. */
  const bindId = (key: string, id: number): RecordMemory | undefined => {
    for (const claim of claims.values()) {
      if (claim.id !== id || claim.key === key) continue;
      const { failure, ...claimed } = records.get(claim.key)!;
      const isOfClaim = failure?.kind === 'unseen';
      put({ ...claimed, recordId: null, seen: null, failure: isOfClaim ? null : failure });
    }
    const other = ledger.ofId(id);
    if (other && other.key !== key) {
      if (parkedId(other.key) !== null) forget(other.key);
      else {
        const { adds, rewritten } = other;
        // What the service makes of it is what it has become: another add would make the same once more.
        const isOfTheService = rewritten !== null && recordKey(entryOf(rewritten.stored)) === key;
        const kept = { adds, rewritten: isOfTheService ? rewritten : null };
        put({ ...other, ...unheardOf, ...kept, recordId: null, seen: null, cause: 'drifted' });
      }
    }
    return records.get(key);
  };
  /**
   * A listing may be behind: what nothing wants any more is forgotten when two readings have missed it, but not while
   * another record that an add of it left is there.
   */
  const forgetGone = (reading: Reading, ids: ReadonlySet<number>): void => {
    for (const record of records.values()) {
      const { key, missedAt, copies = [] } = record;
      const isOfUse = reading.wanted.has(key) || copies.some((copy) => ids.has(copy));
      const id = record.recordId ?? parkedId(key);
      if (id !== null && ids.has(id)) {
        if (missedAt != null) put({ ...record, missedAt: null });
      } else if (id === null) {
        if (!isOfUse && (record.adds === 0 || record.failure === null)) forget(key);
      } else if (!isOfUse && isMissedTwice(record, reading)) forget(key);
      else noteMissed(record, reading);
    }
  };
  const noteMissed = (record: RecordMemory, { to }: Reading): void => {
    if (record.missedAt == null) put({ ...record, missedAt: to });
  };
  /**
   * What stands for a wanted record stays known while it is there, or was missed once only: a copy may serve. Where
   * an add was sent for it, it had been missed twice.
   */
  const keepsOther = (
    { wanted, present }: Pair,
    reading: Reading,
    ids: ReadonlySet<number>,
    unpaired: () => ReadonlySet<number>,
  ): boolean => {
    const record = records.get(recordKey(wanted));
    if (!record || record.recordId === null || record.recordId === present.record.id) return false;
    if (ids.has(record.recordId)) return unpaired().has(record.recordId);
    if (isMissedTwice(record, reading) || record.failure?.kind === 'unknown') return false;
    noteMissed(record, reading);
    return true;
  };
  for (const record of records.values()) index(record);

  const ledger: Ledger = {
    get facts() {
      return current;
    },
    get version() {
      return version;
    },
    view: {
      familiar: current.strangers !== null,
      byKey,
      byId,
      claims,
      displaced,
      causes,
      strangers,
    },
    get: (key) => records.get(key),
    ofId: (id) => {
      const known = byId.get(id);
      return known && records.get(known.key);
    },
    unseenAdds: () => [...records.values()].filter(({ failure }) => failure?.kind === 'unknown'),
    isKnown: (id) => byId.has(id) || isClaimed(ledger.view, id) || copyIds.has(id),
    bind: (wanted, present, changes = {}) => {
      const key = recordKey(wanted);
      const { id } = present.record;
      put({
        ...(bindId(key, id) ?? unheardOf),
        key,
        recordId: id,
        wanted: dataOf(wanted.record),
        seen: dataOf(present.record),
        cause: null,
        ...changes,
      });
      // What made way for it stays away.
      for (const [parked, { key: waiting }] of displaced)
        if (waiting === key) put({ ...records.get(parkedKey(parked))!, displaced: null });
    },
    claim: ({ key, wanted, recordId, before, cause }, changes) => {
      const known = records.get(key);
      const isItsOwn = known?.recordId === recordId;
      put(
        isItsOwn
          ? { ...known, ...changes }
          : { ...(known ?? unheardOf), key, wanted, recordId, seen: before, cause, ...changes },
      );
    },
    park: (present, seen, changes) => {
      const { id } = present.record;
      const key = parkedKey(id);
      const known = bindId(key, id) ?? unheardOf;
      put({ ...known, key, recordId: id, wanted: seen, seen, failure: null, ...changes });
    },
    restore: ({ key, wanted }, id, seen) => {
      put({ ...(bindId(key, id) ?? unheardOf), key, recordId: id, wanted, seen, cause: null });
    },
    change: (key, wanted, changes) => {
      put({ ...(records.get(key) ?? { ...unheardOf, key, recordId: null, wanted, seen: null }), ...changes });
    },
    disown: (id) => {
      const known = byId.get(id);
      if (known) forget(known.key);
      strangers.add(id);
      ledger.setFacts({ strangers: [...new Set([...(current.strangers ?? []), id])] });
    },
    meet: (step) => {
      if (isPark(step)) return;
      const key = recordKey(step.wanted);
      if (records.has(key)) return;
      ledger.change(key, dataOf(step.wanted.record), { cause: step.difference.cause });
    },
    retime: (retimed) => {
      for (const record of records.values()) {
        const failure = record.failure && retimed(record.failure);
        if (failure !== record.failure) put({ ...record, failure });
      }
    },
    forgive: (everything) => {
      for (const record of records.values()) {
        // Of what an older copy of memory knew, all that is certain is that it was there.
        const isGone = record.recordId === null && record.adds >= uncountedAdds;
        const cause = isGone ? 'drifted' : record.cause;
        if (everything) put({ ...record, ...unheardOf, cause });
        else if (record.failure?.kind === 'refused') put({ ...record, failure: null });
      }
    },
    setFacts: (changes) => {
      current = { ...current, ...changes };
      factsChanged = true;
    },
    observe: (plan, reading) => {
      const { present } = reading;
      const ids = new Set(present.records.map(({ id }) => id));
      let free: ReadonlySet<number> | undefined;
      const unpaired = (): ReadonlySet<number> => (free ??= unpairedIds(plan, ids));
      for (const pair of plan.pairs) if (!keepsOther(pair, reading, ids, unpaired)) observePair(ledger, pair);
      if (current.strangers === null)
        ledger.setFacts({ strangers: [...ids].filter((id) => !ledger.isKnown(id)) });
      const highestId = [...ids].reduce((one, other) => Math.max(one, other), current.highestId ?? 0);
      if (highestId !== current.highestId) ledger.setFacts({ highestId });
      for (const step of [...plan.steps, ...plan.barred, ...plan.waiting]) ledger.meet(step);
      forgetGone(reading, ids);
    },
    isChanged: () => stored === null || touched.size > 0 || forgotten.size > 0 || factsChanged,
    putBack: (changes) => {
      for (const { key } of changes.records) if (records.has(key)) touched.add(key);
      for (const key of changes.forgotten) if (!records.has(key)) forgotten.add(key);
      factsChanged = true;
    },
    takeChanges: () => {
      if (!ledger.isChanged()) return null;
      const changes = {
        facts: current,
        records: [...touched].map((key) => records.get(key)!),
        forgotten: [...forgotten],
      };
      touched.clear();
      forgotten.clear();
      factsChanged = false;
      return changes;
    },
  };
  return ledger;
};

/** A record is found to differ for a cause until it is agreed on; a park that was taken back is for its own. */
const isClaim = ({ key, cause }: RecordMemory): boolean => cause !== null && parkedId(key) === null;

const parkedId = (key: string): number | null => (key.startsWith('#') ? Number(key.slice(1)) : null);

/**
 * An edit ends a pause after a refusal, but not one after an unknown outcome; a clock that was set back ends any but
 * that which would get longer than it was meant to be.
 */
export const isActive = (failure: Failure | null, sent: RecordData, now: number): failure is Failure =>
  failure !== null &&
  now < failure.retryAt &&
  (failure.kind === 'unknown' || (failure.retryAt - now <= failure.pause && sameData(failure.sent, sent)));

/** Stands for adds that nobody has counted. */
export const uncountedAdds = 1_000;

export const longestPause = 6 * 3_600_000;

const unheardOf = {
  adds: 0,
  copies: [],
  displaced: null,
  stored: null,
  rewritten: null,
  failure: null,
  cause: null,
} as const;

const unpairedIds = ({ pairs }: TemplatePlan, ids: ReadonlySet<number>): ReadonlySet<number> => {
  const paired = new Set(pairs.map(({ present }) => present.record.id));
  return new Set([...ids].filter((id) => !paired.has(id)));
};

const isMissedTwice = ({ missedAt }: RecordMemory, { from, settle }: Reading): boolean =>
  missedAt != null && Math.abs(from - missedAt) >= settle;

/** A record that differs is only taken for the file's own where the service already holds its content. */
const observePair = (ledger: Ledger, pair: Pair): void => {
  const known = ledger.ofId(pair.present.record.id);
  const inSync = pair.fields.length === 0;
  if (!inSync && (known || pair.fields.includes('content'))) return;
  const isTheSame =
    known?.key === recordKey(pair.wanted) &&
    known.seen !== null &&
    sameData(known.seen, pair.present.record) &&
    sameData(known.wanted, pair.wanted.record) &&
    known.failure === null;
  if (isTheSame) return;
  const unseen = inSync ? storedUnseen(ledger.get(recordKey(pair.wanted))) : null;
  if (unseen) ledger.setFacts({ lastWriteAt: unseen.at.at(-1)! });
  const changes = { ...(unseen ? { stored: unseen } : {}), failure: null };
  ledger.bind(pair.wanted, pair.present, inSync ? changes : {});
};

/** What was sent with an unknown outcome and is there now was stored. */
const storedUnseen = (known: RecordMemory | undefined): RecordMemory['stored'] => {
  if (known?.failure?.kind !== 'unseen') return null;
  const { sent, retryAt, pause } = known.failure;
  const before = known.stored && sameData(known.stored.sent, sent) ? known.stored.at : [];
  return { sent, at: [...before, retryAt - pause].slice(-3) };
};
