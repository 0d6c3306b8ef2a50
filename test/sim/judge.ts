import type { HostingError } from '../../src/hosting/errors.ts';
import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { PassResult } from '../../src/result.ts';
import { canonicalName, isParkedName } from './canonical.ts';
import { breaches, isCopyOfRetry, isForAnother, leftEmpty, leftParked, mayBeNamed } from './laws.ts';
import { keyOf, setOf, shown } from './records.ts';
import { besideComing, leftAsStrangers, listFile, seemsArrived, wrongOnArrival } from './own-laws.ts';
import type { Nature } from './nature.ts';
import { describe, untruths } from './result-laws.ts';
import { clientTime, storeFailures, type ProcessObserver } from './process.ts';
import type { Observer, Sent } from './service.ts';
import {
  attemptOf,
  recordOf,
  emptyCase,
  forgetSeen,
  loseCommits,
  isAdd,
  plausibleViews,
  takeDoubt,
  takeEnd,
  takeFor,
  takeGone,
  takeKept,
  takePast,
  takeView,
  takeWithdrawn,
  remembered,
  templateIn,
  type SentAttempt,
  type PassFacts,
  type TemplateCase,
  type View,
} from './witness.ts';
import type { World } from './world.ts';

/** Sees everything between client, service and disk, knows the truth, and reports what breaks a law. */
export interface Judge extends Omit<Observer, 'onTurn'>, ProcessObserver {
  readonly violations: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  count(what: string): void;
  passStarted(pass: PassFacts): void;
  passEnded(result: PassResult | 'died' | 'disk full'): void;
  memoryLost(): void;
  /** The state is an older one, by a few commits; `isUntold`: and nobody says so, so that what is on its way is not known. */
  commitsLost(isUntold?: boolean): void;
  /** The program reported that it cannot trust its state. */
  memoryDoubted(): void;
  clockJumped(): void;
  report(what: string): void;
  /** After a person’s last pass, at a service that stores what it is sent: what was sent is ours. */
  checkOwn(result: PassResult): void;
  /** What it goes by from one pass to the next, but for most of the times. */
  remembered(): unknown;
  /** Writes of this pass. */
  readonly attempts: readonly SentAttempt[];
}

export interface JudgeOptions {
  readonly world: World;
  readonly nature: Nature;
  readonly truth: () => readonly ActualTemplate[];
  readonly editsOf: (templateId: number) => number;
}

/** Appeared in an add's answer, equals the record of the add, and was not made by it. */
const isRival = (record: ActualRecord, attempt: SentAttempt, one: TemplateCase): boolean =>
  !one.seen.has(record.id) &&
  record.id !== attempt.sent.recordId &&
  (keyOf(record) === attempt.key || mayBeNamed(record, attempt));

/** Everything that the view shows, and the record that an add made. */
const isMoreThan = (view: View, records: readonly ActualRecord[], attempt: SentAttempt): boolean => {
  const ids = new Set(records.map(({ id }) => id));
  const isWhole = view.records.every(({ id }) => ids.has(id));
  return isWhole && records.length - view.records.length <= (isAdd(attempt) ? 1 : 0);
};

/** Whether a record is not written now because of an add of unknown outcome that no reading has shown. */
const isLost = (add: SentAttempt | undefined, difference: Difference): boolean =>
  difference.action === 'blocked' &&
  difference.reason === 'pending-write' &&
  add?.sent.told === 'nothing' &&
  !add.isShown;

/** Whether it is not written now because of an accepted add that no listing shows yet. */
const isUnlisted = (difference: Difference): boolean =>
  difference.action === 'blocked' &&
  difference.reason === 'pending-write' &&
  difference.message.includes('which may be behind');

const lastAddOf = ({ attempts }: TemplateCase, set: string): SentAttempt | undefined =>
  attempts.findLast((attempt) => isAdd(attempt) && attempt.set === set);

/** A write that a report promised not to try before a time. */
interface Promised {
  readonly templateId: number;
  readonly key: string;
  /** Null for a missing record. */
  readonly recordId: number | null;
  /** The record as it is, or should be. */
  readonly at: RecordData;
  /** True time. */
  readonly until: number;
  /** Whether a clock jump must not shorten it: for an add of unknown outcome, or one that no listing shows yet. */
  readonly isSteady: boolean;
  readonly edits: number;
  /** The record when it was promised: if that has changed, the promise no longer holds. */
  readonly surroundings: string;
}

/** The record itself, and the records at its name. */
const surroundingsOf = (view: View | undefined, { name }: RecordData, recordId: number | null): string => {
  const there = view?.records.filter(
    (record) => record.id === recordId || canonicalName(record.name) === canonicalName(name),
  );
  return JSON.stringify((there ?? []).map((record) => `${record.id} ${keyOf(record)} ${record.ttl}`).sort());
};

export const createJudge = ({ world, nature, truth, editsOf }: JudgeOptions): Judge => {
  const { isKind } = nature;
  const violations: string[] = [];
  const counts = new Map<string, number>();
  const cases = new Map<number, TemplateCase>();
  let attempts: SentAttempt[] = [];
  let pass: PassFacts | null = null;
  let promised: Promised[] = [];
  /** Why no more writes may start in this pass. */
  let ended: { why: string; at: number } | null = null;
  /** Since when the service accepts no more calls in this pass, and what the result must report. */
  let closed: { readonly at: number; isDenied: boolean; until: number } | null = null;
  let isShut = false;
  /** The pass saved nothing of what it saw. */
  let isForgotten = false;
  /** Commits of this pass may be lost. */
  let hasLostCommits = false;

  const report = (what: string): void => {
    world.note(() => `  # AGAINST THE LAW: ${what}`);
    violations.push(what);
  };
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const caseOf = (templateId: number): TemplateCase => {
    const one = cases.get(templateId) ?? emptyCase(templateId);
    cases.set(templateId, one);
    return one;
  };
  const checkPromise = (attempt: SentAttempt, facts: PassFacts): void => {
    if (facts.isCommand) return;
    const broken = promised.find(
      (one) =>
        one.templateId === attempt.sent.templateId &&
        one.edits === editsOf(one.templateId) &&
        one.key === attempt.key &&
        (one.recordId === null ? isAdd(attempt) : one.recordId === recordOf(attempt)) &&
        caseOf(one.templateId).views.every(
          (view) => !view.isListing || one.surroundings === surroundingsOf(view, one.at, one.recordId),
        ) &&
        // Two clocks never agree to the millisecond.
        world.time < one.until - 1_000,
    );
    if (broken) report(`writes ${shown(attempt.after)} before the time it named`);
  };

  const forgetCommits = (): void => {
    for (const one of cases.values()) loseCommits(one);
    promised = [];
  };

  const takeClosed = ({ kind, retryAfter }: HostingError): void => {
    closed ??= { at: world.time, isDenied: false, until: -Infinity };
    if (kind === 'unauthorized') closed.isDenied = true;
    else closed.until = Math.max(closed.until, clientTime(world, pass?.skew ?? 0) + (retryAfter ?? 60_000));
  };

  /** A service that stores in time, or whose records stay, never gets the same record twice. */
  const checkExtra = (attempt: SentAttempt, id: number): void => {
    if (!isAdd(attempt)) return;
    count('adds stored');
    if (attempt.sent.at < world.time) count('adds stored late');
    const { templateId } = attempt.sent;
    const others = templateIn(truth(), templateId)?.records.filter((record) => record.id !== id) ?? [];
    // The client cannot know if somebody else made one of ours the same meanwhile.
    const isMaker = ({ key, before, isForgiven: isRetried }: SentAttempt): boolean =>
      key === attempt.key && !isRetried && !(before && keyOf(before) === key);
    const own = new Set(
      caseOf(templateId)
        .attempts.filter((other) => isMaker(other))
        .map(recordOf),
    );
    const isCopy = others.some(
      (record) =>
        own.has(record.id) &&
        keyOf(record) === attempt.key &&
        !isForAnother(caseOf(templateId), attempt, record.id),
    );
    if (!isCopy || attempt.isForgiven || seemsArrived(attempt, caseOf(templateId))) return;
    // A person has asked for another one, although it may still have come.
    if (isCopyOfRetry(attempt, caseOf(templateId).attempts)) return;
    count('extra adds');
    if (isKind) report(`stores a second ${shown(attempt.after)}`);
  };

  return {
    violations,
    report,
    counts,
    count,
    get attempts() {
      return attempts;
    },
    passStarted: (facts) => {
      pass = facts;
      attempts = [];
      ended = null;
      closed = null;
      isShut = false;
      count('passes');
      for (const one of cases.values()) {
        takePast(one, isForgotten);
        one.seenFirst = [];
      }
      isForgotten = true;
      hasLostCommits = false;
      // A person's pass does not wait for a backoff, even if it fails.
      if (facts.isCommand && !facts.isDryRun)
        promised = promised.filter(({ templateId }) => !facts.desired.has(templateId));
      for (const [templateId, desired] of facts.desired) listFile(caseOf(templateId), desired);
      if (facts.isCommand && facts.retry) {
        for (const [templateId] of facts.desired) {
          const one = caseOf(templateId);
          one.isRetried = true;
          for (const attempt of one.attempts) {
            attempt.isForgiven = true;
            attempt.isWaived = true;
          }
        }
      }
    },
    onSent: (sent: Sent) => {
      if (!pass) return;
      const whole = caseOf(sent.templateId);
      // A reading after its intent came too late for it.
      const one = { ...whole, views: whole.views.slice(0, whole.viewsWhenBegun) };
      const context = {
        one,
        truth: templateIn(truth(), sent.templateId),
        desired: pass.desired.get(sent.templateId),
        nature,
        isKind,
        earlier: attempts,
        edits: editsOf(sent.templateId),
      };
      const facts = pass;
      // Of a service whose listings go back and forth, an add may go by any of them, too.
      const readings = plausibleViews(one, sent.write.action !== 'add' || !isKind).map((view) => {
        const attempt = attemptOf(sent, facts, view, one);
        return { attempt, found: breaches(attempt, { ...context, view }) };
      });
      const lawful = readings.find(({ found }) => found.length === 0);
      const { attempt, found } = lawful ??
        readings[0] ?? { attempt: attemptOf(sent, facts, undefined, one), found: ['writes unseen'] };
      for (const what of found) report(what);
      if (isKind && isAdd(attempt)) for (const what of besideComing(attempt, whole)) report(what);
      checkPromise(attempt, pass);
      count(isAdd(attempt) ? 'adds that left' : 'updates that left');
      attempts.push(attempt);
      whole.attempts.push(attempt);
    },
    onLanded: (sent) => {
      const one = caseOf(sent.templateId);
      const attempt = one.attempts.find((other) => other.sent === sent);
      if (!attempt || sent.recordId === null) return;
      checkExtra(attempt, sent.recordId);
      const records = templateIn(truth(), sent.templateId)?.records ?? [];
      if (isKind) for (const what of wrongOnArrival(attempt, one, records)) report(what);
      const isParked = isParkedName(attempt.after.name ?? '');
      one.standsFor.set(sent.recordId, isParked ? '#' : attempt.key);
      takeFor(one, sent.recordId, attempt.key);
    },
    onListing: (templates) => {
      if (!pass) return;
      for (const { id, records } of templates) {
        const view = { at: world.time, isListing: true, records, isForgotten: pass.isDryRun };
        takeView(caseOf(id), pass.desired.get(id), view);
      }
    },
    onAnswer: (sent, template) => {
      if (!pass || template.id !== sent.templateId) return;
      const view = { at: world.time, isListing: false, records: template.records };
      const one = caseOf(sent.templateId);
      const attempt = one.attempts.find((other) => other.sent === sent);
      if (attempt)
        attempt.isBelieved = plausibleViews(one).every((last) => isMoreThan(last, template.records, attempt));
      if (attempt) attempt.isAmbiguous = template.records.some((record) => isRival(record, attempt, one));
      takeView(one, pass.desired.get(sent.templateId), view);
    },
    onFailure: (error) => {
      const isWrite = error.operation !== 'list-dns-templates' && error.operation !== 'list-dns-records';
      if (error.kind === 'unauthorized') ended ??= { why: 'after 401 or 403', at: world.time };
      if (error.kind === 'unauthorized' || error.kind === 'rate-limited') takeClosed(error);
      if (isWrite && (error.kind === 'rate-limited' || error.kind === 'not-sent'))
        ended ??= { why: `after ${error.kind}`, at: world.time };
      if (error.kind === 'unknown') count('writes of unknown outcome');
    },
    onBegin: (intent, isStopping) => {
      const one = caseOf(intent.templateId);
      const { action, recordId, after } = intent;
      if (action === 'add') one.begun.push(after);
      else if (recordId !== null) one.begunUpdates.push({ recordId, key: keyOf(after) });
      one.editsWhenMet ??= editsOf(intent.templateId);
      one.viewsWhenBegun = one.views.length;
      // Parallel templates may not know of it at once.
      if (ended && world.time > ended.at) report(`begins a write ${ended.why}`);
      if (isStopping) report('begins a write after it was told to end');
      if (isShut) report('begins a write after the pass ended');
    },
    onRead: () => {
      // Parallel templates may not know of it at once.
      if (closed && world.time > closed.at) report('asks again though the service wants no more calls');
    },
    onStrayCall: (name) => report(`calls ${name} after the pass ended`),
    onKept: (templateId) => {
      const one = caseOf(templateId);
      one.isMet = true;
      one.editsWhenMet ??= editsOf(templateId);
      for (const attempt of attempts) if (attempt.sent.templateId === templateId) takeKept(one, attempt);
    },
    onSaved: (templateId) => {
      const desired = pass?.desired.get(templateId);
      if (desired) takeWithdrawn(caseOf(templateId), desired);
    },
    passEnded: (result) => {
      if (!pass) return;
      isShut = true;
      // What a full disk could not store is not saved.
      const isHalted = typeof result !== 'string' && storeFailures.some((why) => why === result.holdReason);
      isForgotten = pass.isDryRun || typeof result === 'string' || isHalted;
      if (typeof result === 'string' || isHalted) {
        count(result === 'died' ? 'passes that died' : 'passes that met a full disk');
        for (const { sent, isKept } of attempts)
          if (sent.told === 'an answer' && !isKept) sent.told = 'nothing';
        // Perhaps nothing of what it saw first is saved.
        for (const one of cases.values()) forgetSeen(one);
        return;
      }
      if (closed?.isDenied && result.isDenied !== true) report('is silent about a denial');
      if (closed && closed.until > (result.retryAt === null ? -Infinity : Date.parse(result.retryAt)))
        report('is silent about the time that the service asked for');
      const bound = new Set(result.templates.map(({ id }) => id));
      // Nothing is saved of a template whose file cannot be used, or that the pass is not about.
      for (const one of cases.values()) {
        if (bound.has(one.templateId)) continue;
        forgetSeen(one);
        takePast(one, true);
      }
      for (const one of result.templates) {
        const described = [...pass.desired].find(([, { template }]) => template === one.template);
        if (!described || one.id === null) continue;
        const [templateId, desired] = described;
        const records = templateIn(truth(), templateId)?.records ?? [];
        const context = {
          one: caseOf(templateId),
          desired,
          attempts: attempts.filter(({ sent }) => sent.templateId === templateId),
          truth: records,
          isKind,
        };
        for (const what of untruths(one, context)) report(`${one.template}: ${what}`);
        const isCutShort = one.message !== null || ended !== null || pass.stopAt !== null;
        if (!isCutShort) {
          for (const what of [
            ...leftParked(context.attempts, records),
            ...leftEmpty(context.attempts, desired, records, context.one),
          ])
            report(`${one.template}: ${what}`);
        }
        if (pass.isDryRun) continue;
        const { views, lastKept } = context.one;
        context.one.lastKept = views.findLast(({ isListing }) => isListing) ?? lastKept;
        takeWithdrawn(context.one, desired);
        const [last] = plausibleViews(context.one);
        const isDoubted =
          one.message !== null || one.differences.some(({ outcome }) => outcome === 'unknown');
        if (last) takeGone(context.one, desired, last.records);
        if (isDoubted) takeDoubt(context.one, desired);
        else if (last) takeEnd(context.one, desired, last, pass.settle);
        promised = promised.filter((other) => other.templateId !== templateId);
        for (const difference of one.differences) {
          if (difference.retryAt === undefined || !('desired' in difference)) continue;
          // Of several refusals for the client's sake, each names its own time.
          const isOfClient =
            difference.retryAt === result.retryAt ||
            (closed !== null && Date.parse(difference.retryAt) <= closed.until);
          if (isOfClient) continue;
          const key = keyOf(difference.desired);
          // A record that waits for another one of its set waits no longer once that one is there.
          if (!context.one.attempts.some((attempt) => attempt.key === key)) continue;
          const recordId = 'recordId' in difference ? (difference.recordId ?? null) : null;
          const at = ('current' in difference ? difference.current : undefined) ?? difference.desired;
          const [surroundings, ...others] = new Set(
            context.one.views
              .filter(({ isListing }) => isListing)
              .map((view) => surroundingsOf(view, at, recordId)),
          );
          // From listings that disagree, it may know either.
          if (surroundings === undefined || others.length > 0) continue;
          promised.push({
            templateId,
            key,
            recordId,
            at,
            surroundings,
            isSteady:
              isUnlisted(difference) || isLost(lastAddOf(context.one, setOf(difference.desired)), difference),
            until: world.time + Date.parse(difference.retryAt) - clientTime(world, pass.skew),
            edits: editsOf(templateId),
          });
        }
        world.note(
          () =>
            `  = ${one.template}: ${one.status}${one.message ? ` (${one.message})` : ''}, ${one.inSync} in sync`,
        );
        for (const difference of one.differences)
          world.note(
            () => `    ${describe(difference)}${'cause' in difference ? `, ${difference.cause}` : ''}`,
          );
      }
      if (hasLostCommits) forgetCommits();
    },
    checkOwn: (result) => {
      if (!isKind || !pass) return;
      for (const one of result.templates) {
        const [templateId, desired] =
          [...pass.desired].find(([, file]) => file.template === one.template) ?? [];
        if (templateId === undefined || !desired || one.message !== null) continue;
        const records = templateIn(truth(), templateId)?.records ?? [];
        for (const what of leftAsStrangers(caseOf(templateId), desired, one, records)) report(what);
      }
    },
    remembered: () => [...cases.values()].map((one) => remembered(one, world.time)),
    memoryDoubted: () => {
      for (const one of cases.values()) {
        for (const attempt of one.attempts) attempt.isBelieved = false;
        // What the file no longer lists, and what has changed since, may be anybody's.
        const listed = new Set(pass?.desired.get(one.templateId)?.records.map(keyOf));
        for (const key of one.known.keys()) if (!listed.has(key)) one.perhapsKnown.add(key);
      }
    },
    clockJumped: () => {
      for (const one of cases.values()) for (const attempt of one.attempts) attempt.isUndated = true;
      promised = promised.filter(({ isSteady }) => isSteady);
    },
    commitsLost: (isUntold = false) => {
      hasLostCommits = true;
      if (isUntold)
        for (const one of cases.values())
          one.attempts = one.attempts.filter(({ sent }) => sent.landed !== 'coming');
      forgetCommits();
    },
    memoryLost: () => {
      for (const [id] of cases) cases.set(id, emptyCase(id));
      promised = [];
    },
  };
};
