import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import type { RecordChange } from '../../src/plan/step.ts';
import type { TemplateResult } from '../../src/result.ts';
import { arrivalLaws, sendingLaws } from './laws.ts';
import { keyOf, placedSetAndContentOf, placedSetOf, sameKey, sameState, shown } from './records.ts';
import {
  emptyCase,
  type Attempt,
  type LawContext,
  type Pass,
  type PassFacts,
  type Sent,
  type ServiceFacts,
  type TemplateCase,
  type View,
} from './seen.ts';
import { untruths } from './told.ts';

/*
 * The judge knows what left, what the pass was shown, and what is true at the service; nothing of how the program that it
 * judges decides. It is fed by the simulated service and by the HTTP front alike.
 */

export type Failure = 'unauthorized' | 'rate-limited' | 'not-sent' | 'refused' | 'other';

export type Judge = ReturnType<typeof createJudge>;

export const createJudge = (options: {
  readonly now: () => number;
  readonly start: readonly ActualTemplate[];
  readonly service: ServiceFacts;
  readonly note?: (line: () => string) => void;
  /** Ms in which a client cannot know yet what it is being told. */
  readonly slack?: number;
  /** Breaches that this edition of the program is known for: they are counted only. */
  readonly notKept?: readonly RegExp[];
}) => {
  const { now, start, service, note = () => undefined, slack = 0, notKept = [] } = options;
  const violations: string[] = [];
  const counts = new Map<string, number>();
  const cases = new Map<number, TemplateCase>();
  const isPublic = new Set(start.flatMap(({ id, publiclyAvailable }) => (publiclyAvailable ? id : [])));

  const report = (what: string): void => {
    if (notKept.some((breach) => breach.test(what)))
      return count(`not kept: ${what.replaceAll(/[#"]?\d+\.[\d.]+|#\d+/g, 'N')}`);
    note(() => `  # AGAINST THE LAW: ${what}`);
    violations.push(what);
  };
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const caseOf = (templateId: number): TemplateCase => {
    const one = cases.get(templateId) ?? emptyCase(templateId);
    cases.set(templateId, one);
    return one;
  };
  const contextOf = (pass: Pass, templateId: number): LawContext => ({
    one: caseOf(templateId),
    pass,
    file: pass.files.get(templateId),
    views: pass.views.get(templateId) ?? [],
    service,
    isOwn: !isPublic.has(templateId) && cases.has(templateId),
    now: now(),
  });
  const show = (pass: Pass, templateId: number, view: View): void => {
    const one = caseOf(templateId);
    pass.views.set(templateId, [...(pass.views.get(templateId) ?? []), view]);
    const ids = new Set(view.records.map(({ id }) => id));
    for (const attempt of one.attempts)
      attempt.isShown ||= attempt.sent.recordId !== null && ids.has(attempt.sent.recordId);
    if (pass.isDryRun) return;
    const wanted = new Set((pass.files.get(templateId)?.records ?? []).map(placedSetAndContentOf));
    for (const record of view.records) if (wanted.has(placedSetAndContentOf(record))) one.ours.add(record.id);
  };
  const attemptOf = (pass: Pass, sent: Sent): Attempt => {
    const { templateId, write } = sent;
    const { standing } = caseOf(templateId);
    const id = write.action === 'update' ? write.change.recordId : null;
    const states = (pass.views.get(templateId) ?? []).flatMap(({ records }) =>
      records.filter((one) => one.id === id),
    );
    const before =
      id === null
        ? []
        : distinct([...states.toReversed(), ...(standing.has(id) ? [standing.get(id)!.record] : [])]);
    const after =
      write.action === 'add' ? [write.record] : before.map((record) => merged(record, write.change));
    return {
      sent,
      pass,
      before,
      after,
      isForgotten: false,
      isWaived: false,
      stored: null,
      replaced: null,
      isShown: false,
      isBound: false,
      isWithdrawn: false,
      isRivalled: false,
      isMisled: false,
      isDoubted: false,
    };
  };
  for (const { id, records } of start)
    caseOf(id).standing = new Map(
      records.map((record) => [record.id, { record, since: -Infinity, by: null }]),
    );

  return {
    violations,
    counts,
    count,
    report,
    started: (facts: PassFacts): Pass => {
      count('passes');
      for (const [templateId, file] of facts.files) {
        const one = caseOf(templateId);
        const wanted = new Set(file.records.map(keyOf));
        for (const attempt of one.attempts) {
          if (facts.retry && facts.isCommand && !facts.isDryRun) attempt.isWaived = true;
          if (!facts.isDryRun && attempt.after.every((record) => !wanted.has(keyOf(record))))
            attempt.isWithdrawn = true;
        }
        if (!facts.isDryRun && one.files.at(-1) !== file) one.files.push(file);
      }
      return {
        ...facts,
        views: new Map(),
        attempts: [],
        writesEnded: null,
        readsEnded: null,
        isOver: false,
        isSuspended: false,
        hasDied: false,
      };
    },
    /** It is about to ask the service. */
    asks: (pass: Pass): void => {
      if (pass.isOver) report('law 11: asks after the pass ended');
      if (isSince(pass.readsEnded, now() - slack)) report(`law 11: asks ${pass.readsEnded?.why}`);
    },
    listed: (pass: Pass, templates: readonly ActualTemplate[]): void => {
      for (const { id, records } of templates) show(pass, id, { at: now(), isListing: true, records });
    },
    /** It decides to send now what leaves in a moment. */
    decides: (pass: Pass): void => {
      if (pass.isOver) report('law 11: begins a write after the pass ended');
      if (isSince(pass.writesEnded, now() - slack)) report(`law 11: begins a write ${pass.writesEnded?.why}`);
    },
    /** An add is on disk as begun. */
    begun: (pass: Pass, templateId: number, record: RecordData): void =>
      void caseOf(templateId).begun.push({ pass, record }),
    sent: (pass: Pass, sent: Sent): void => {
      const context = contextOf(pass, sent.templateId);
      const { one } = context;
      const { write } = sent;
      if (write.action === 'add')
        one.begun = one.begun.filter(({ record }) => !sameKey(record, write.record));
      const attempt = attemptOf(pass, sent);
      count(attempt.sent.write.action === 'add' ? 'adds that left' : 'updates that left');
      for (const what of sendingLaws(attempt, context)) report(what);
      pass.attempts.push(attempt);
      one.attempts.push(attempt);
    },
    /** The records of a template are these now; `by`: by a write of ours. */
    changed: (templateId: number, records: readonly ActualRecord[], by: Sent | null): void => {
      const one = caseOf(templateId);
      const attempt = one.attempts.findLast(({ sent }) => sent === by) ?? null;
      const before = one.standing;
      one.standing = new Map(
        records.map((record) => {
          const old = before.get(record.id);
          const isSame = old !== undefined && sameState(old.record, record);
          return [
            record.id,
            isSame && record.id !== by?.recordId ? old : { record, since: now(), by: attempt },
          ];
        }),
      );
      for (const record of by === null ? records : []) {
        if (one.standing.get(record.id) === before.get(record.id)) continue;
        // It may have been there when the add was begun, and not have been listed.
        if (one.begun.some((begun) => sameKey(begun.record, record))) one.taken.add(record.id);
        for (const other of one.attempts) {
          const { told, landed, write, at } = other.sent;
          const since = before.get(record.id)?.since ?? Infinity;
          const isItsOwn = write.action === 'add' ? since > at : write.change.recordId === record.id;
          const isSame = isItsOwn && other.after.some((after) => sameKey(after, record));
          const isLost = !other.isBound && (told === 'nothing' || (told === 'an answer' && !other.isShown));
          other.isRivalled ||= isSame && isLost && (landed !== 'no' || at === now());
          // It is taken for what that add may have made.
          const isUntold = !other.isBound && (told === 'nothing' || other.isDoubted || other.pass.hasDied);
          if (isSame && isUntold && write.action === 'add') one.ours.add(record.id);
        }
      }
      if (!attempt || by?.recordId == null) return;
      attempt.stored = one.standing.get(by.recordId)?.record ?? null;
      attempt.replaced = before.get(by.recordId)?.record ?? null;
      one.ours.add(by.recordId);
      if (by.write.action === 'add') count(now() > by.at ? 'adds stored late' : 'adds stored');
      for (const what of arrivalLaws(attempt, contextOf(attempt.pass, templateId))) report(what);
    },
    answered: (pass: Pass, sent: Sent, { id, records }: ActualTemplate): void => {
      const one = caseOf(sent.templateId);
      const attempt = one.attempts.find((other) => other.sent === sent);
      const shownAs = records.find((record) => record.id === sent.recordId);
      // An answer from before the write that it answers, which is not seen to be wrong.
      if (attempt?.stored && shownAs && !sameState(shownAs, attempt.stored)) attempt.isMisled = true;
      const views = pass.views.get(sent.templateId) ?? [];
      const others = newIn(records, views).filter((record) => record !== shownAs);
      // An answer that is not whole, and shows what the add made under another name than it sent.
      const isWhole = newIn(views.at(-1)?.records ?? [], [{ records }]).length === 0;
      if (attempt && sent.write.action === 'add' && !isWhole && shownAs)
        attempt.isDoubted = !sameKey(shownAs, attempt.after[0]!);
      if (attempt && sent.write.action === 'add' && !shownAs)
        for (const record of others) {
          attempt.isMisled = true;
          one.ours.add(record.id);
        }
      if (attempt && sent.write.action === 'add' && shownAs)
        attempt.isRivalled ||= others.some((record) => sameKey(record, shownAs));
      if (id === sent.templateId) show(pass, id, { at: now(), isListing: false, records });
    },
    failed: (pass: Pass, kind: Failure, isWrite: boolean): void => {
      const at = now();
      if (kind === 'unauthorized') pass.writesEnded ??= { why: 'after 401 or 403', at };
      if (kind === 'unauthorized' || kind === 'rate-limited')
        pass.readsEnded ??= { why: `after ${kind}`, at };
      if (isWrite && (kind === 'rate-limited' || kind === 'not-sent'))
        pass.writesEnded ??= { why: `after ${kind}`, at };
    },
    /** By a signal. */
    toldToEnd: (pass: Pass): void => {
      pass.writesEnded ??= { why: 'after it was told to end', at: -Infinity };
    },
    /** From here on it may write nothing, or cannot know that it may. */
    suspended: (pass: Pass): void => {
      pass.isSuspended = true;
    },
    /** `results`: null where it died, or could not save what it saw. */
    ended: (pass: Pass, results: readonly TemplateResult[] | null): void => {
      pass.isOver = true;
      pass.hasDied = results === null;
      for (const [templateId, views] of pass.views) {
        const one = caseOf(templateId);
        const begun = one.begun.filter((other) => other.pass === pass);
        if (!pass.hasDied) one.begun = one.begun.filter((other) => other.pass !== pass);
        // It was there already when the add was begun, and was not listed yet.
        else
          for (const record of newIn(recordsIn(one), views))
            if (begun.some((other) => sameKey(other.record, record))) one.taken.add(record.id);
        const listing = views.findLast(({ isListing }) => isListing);
        if (pass.isDryRun || !pass.files.has(templateId) || listing === undefined) continue;
        one.lastListed = listing;
        if (results) for (const attempt of one.attempts) attempt.isBound ||= isBoundBy(views, attempt);
        if (!pass.hasDied) one.lastShown = shownByAll(views.filter(({ isListing }) => isListing));
        const result = results?.find(({ template }) => template === pass.files.get(templateId)?.template);
        // Nothing is learnt while a write may still appear.
        const isOpen = one.attempts.some(
          ({ sent, isShown }) => sent.told === 'nothing' && sent.landed !== 'no' && !isShown,
        );
        if (result?.message === null && !isOpen)
          [one.lastKept, one.keptFile] = [listing, pass.files.get(templateId)!];
      }
      for (const result of results ?? []) {
        const [templateId] = [...pass.files].find(([, { template }]) => template === result.template) ?? [];
        if (templateId === undefined) continue;
        for (const what of untruths(result, contextOf(pass, templateId)))
          report(`law 13: ${result.template} ${what}`);
      }
    },
    /** Their client has lost its memory of these templates; `isPartly`: but for that of a while before. */
    memoryLost: (templateIds: readonly number[], isPartly = false): void => {
      for (const one of templateIds.map(caseOf)) {
        for (const attempt of one.attempts) [attempt.isForgotten, attempt.isBound] = [true, false];
        if (isPartly) {
          // On the disk of a while before, they may be begun only.
          const adds = one.attempts.filter(({ sent }) => sent.write.action === 'add');
          one.begun.push(...adds.map(({ pass, after }) => ({ pass, record: after[0]! })));
        } else {
          one.begun = [];
          one.ours.clear();
          one.taken.clear();
          one.files = [];
        }
        one.lastListed = null;
        [one.lastKept, one.keptFile] = [null, null];
        one.lastShown = new Set();
      }
    },
    /** Its attempts of all templates, for the laws of a whole round. */
    cases: (): readonly TemplateCase[] => [...cases.values()],
    /** What it goes by from one pass to the next. */
    remembered: (): unknown => [...cases.values()].map((one) => rememberedOf(one, now())),
  };
};

const recordsIn = ({ standing }: TemplateCase): ActualRecord[] =>
  [...standing.values()].map(({ record }) => record);

const shownByAll = (listings: readonly View[]): ReadonlySet<number> => {
  const [first, ...others] = listings.map(({ records }) => new Set(records.map(({ id }) => id)));
  return new Set([...first!].filter((id) => others.every((ids) => ids.has(id))));
};

/** Views show the record that it added, as it was sent: another one of that kind is somebody else's. */
const isBoundBy = (views: readonly View[], { sent, after, stored }: Attempt): boolean =>
  sent.write.action === 'add' &&
  stored !== null &&
  sameKey(stored, after[0]!) &&
  views.some(({ records }) => records.some(({ id }) => id === sent.recordId));

/** What no view of the pass has shown before. */
const newIn = (
  records: readonly ActualRecord[],
  views: readonly Pick<View, 'records'>[],
): readonly ActualRecord[] =>
  records.filter(({ id }) => !views.some((view) => view.records.some((record) => record.id === id)));

/** Calls of the same moment may be under way in parallel. */
const isSince = (ended: { readonly at: number } | null, now: number): boolean =>
  ended !== null && now > ended.at;

const merged = (before: ActualRecord, change: RecordChange): ActualRecord => ({
  id: before.id,
  type: before.type,
  name: change.name ?? before.name,
  content: change.content ?? before.content,
  priority: change.priority ?? before.priority,
  ttl: change.ttl ?? before.ttl,
});

const distinct = (records: readonly ActualRecord[]): ActualRecord[] =>
  records.filter((record, at) => records.findIndex((other) => sameState(other, record)) === at);

const rememberedOf = (one: TemplateCase, now: number): unknown => {
  const age = (at: number): number => Math.min(3_600, Math.round((now - at) / 1_000));
  return [
    one.attempts.map(
      ({
        sent,
        pass,
        after,
        isForgotten,
        isWaived,
        isShown,
        isBound,
        isWithdrawn,
        isRivalled,
        isMisled,
        isDoubted,
      }) => [
        after.map((record) => [placedSetOf(record), keyOf(record)]),
        [sent.write.action, sent.landed, sent.recordId, sent.told, age(sent.at)],
        [isForgotten, isWaived, isShown, isBound, isWithdrawn, isRivalled, isMisled, isDoubted, pass.hasDied],
      ],
    ),
    [...one.standing.values()].map(({ record, since, by }) => [shown(record), age(since), by !== null]),
    [...one.ours],
    [one.begun.map(({ record }) => shown(record)), [...one.taken]],
    one.files.map(({ mode, surplus, adopt, records }) => [mode, surplus, adopt, records.map(shown)]),
    [one.lastListed, one.lastKept].map((view) => view?.records.map(shown)),
    [...one.lastShown],
    one.keptFile?.records.map(shown),
  ];
};
