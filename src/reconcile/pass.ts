import { limit } from '../lib/limit.ts';
import { mapYielding } from '../lib/yield.ts';
import { messageOf } from '../errors.ts';
import type { ActualTemplate, DesiredState } from '../model/template.ts';
import type { PassResult, TemplateResult } from '../result.ts';
import { asBefore, lookUp, refresh, store, type FoundTemplate, type ResultCache } from './cache.ts';
import type { BoundTemplate } from '../plan/bind.ts';
import type { Skip, SkipReason } from '../plan/place.ts';
import { guardAll } from './core/guards.ts';
import { edit } from '../memory/memory.ts';
import { clearBackoff } from '../memory/remembering.ts';
import { forgetAnswered } from './core/waits.ts';
import { givesName, policyReasons, skipReasons, unwrittenSteps } from './core/permit.ts';
import { remember } from './core/remember.ts';
import { templateResult, withSubdomains } from './core/result.ts';
import { planOf } from './core/plan-of.ts';
import { openTemplate, withBasis, withHold, type TemplateState } from './core/state.ts';
import { claimArrived } from './core/arrivals.ts';
import { suspectMemory } from './core/suspicion.ts';
import { bindSelected, selectTemplates, unseen, unusableTemplates } from './select.ts';
import { ClientRun, type PassOptions } from './shell/client-run.ts';
import { confirmTemplates } from './shell/confirm.ts';
import { recoverIntents, recoverOwn } from './shell/recover.ts';
import { saveMemory } from './shell/save.ts';
import { checkSubdomains, noteHidden, rowAfter } from './shell/subdomains.ts';
import { revertParks, writeTemplate } from './shell/write.ts';

/*
 * read ─ bind ─ recover ─ suspect ─ override ─ confirm ─ guard ─ approve ─ write ─ recover ─ revert ─ remember ─ report
 *
 * `core/` decides and works on values; `shell/` acts, and only it waits. Whoever calls holds the client's lock for the whole
 * pass. An add is not made again while the first one may still show (at most `unknownPause`, or `longestLag` after an answer),
 * and never a third time without a person, because
 *
 * - it is sent from one place (shell/write.ts), after its intent is on disk and its permit was checked again;
 * - a step is permitted only if two readings require it (core/two-readings.ts), and once in a pass (core/permit.ts);
 * - an add of unknown outcome, or refused without a reading that confirms it, keeps its intent, which keeps its record set
 *   closed (core/gate.ts) until readings have shown the record, or its absence twice (core/recover.ts), in whichever
 *   process; then it is counted, and waits for `unknownPause`; the second one of a record set waits for a person;
 * - an add that was accepted, or that a reading showed, is not repeated while a listing may be behind it, nor is an edit of
 *   it added beside it (core/gate.ts).
 */

/** One pass with its inputs; `cache` saves comparing unchanged templates again. */
export type Pass = PassOptions & { readonly cache?: ResultCache };

/** One pass over one client: desired, actual, differences, guards, writes. */
export const reconcile = async (desired: DesiredState, pass: Pass): Promise<PassResult> => {
  const run = new ClientRun(pass);
  const found = await passOver(desired, pass, run);
  const { reportedHold } = run;
  return {
    client: pass.client,
    run: pass.run,
    trigger: pass.trigger,
    startedAt: new Date(pass.startedAt).toISOString(),
    durationMs: Math.max(0, pass.clock.now() - pass.startedAt),
    dryRun: run.isDryRun || pass.isRehearsal === true,
    holdReason: reportedHold?.reason ?? null,
    retryAt: reportedHold?.retryAt == null ? null : new Date(reportedHold.retryAt).toISOString(),
    isDenied: reportedHold?.cause === 'denied',
    ...found,
    problems: desired.problems.map((problem) => ({ ...problem, client: pass.client })),
  };
};

type FoundByPass = Pick<PassResult, 'wasRead' | 'isIncomplete' | 'templates'>;

const passOver = async (part: DesiredState, pass: Pass, run: ClientRun): Promise<FoundByPass> => {
  const { described = part, cache } = pass;
  const desired = selectTemplates(part, pass.templates);
  const held = await unusableTemplates(desired, pass);
  const actual = await run.readOrHold(() => pass.listing ?? pass.service.listDnsTemplates());
  if (actual === null) {
    const { reason } = run.reportedHold!;
    const failed = desired.templates.map((one) => ({ ...unseen(one, 'failed', reason, pass), asOf: null }));
    return { wasRead: false, isIncomplete: false, templates: [...failed, ...held] };
  }
  const revisions = (await pass.memory.revisions?.()) ?? null;
  const inputs = { desired, described, actual, revisions };
  const selected = bindSelected(inputs);
  const bound = selected.filter((one) => 'actual' in one);
  await run.readSuspensions();
  const unbound = selected.flatMap((one) =>
    'actual' in one ? [] : [unseen(one.desired, one.status, one.reason, pass)],
  );
  const others = [...unbound, ...held];
  const cached = await lookUp(bound, inputs, cache, run);
  const open = bound.filter((one) => !cached.has(one));
  const revisionsBefore = open.map(({ actual: { id } }) => revisions?.of(id));

  if (!run.isDryRun)
    for (const [id, ended] of (await pass.unsaved?.saveAgain(run)) ?? []) run.unsaved.set(id, ended);
  const states = await recoverIntents(await openTemplates(open, run), inputs, run);
  const prepared = await prepare(states, actual, run);
  const { finished, isIncomplete } =
    run.isDryRun || pass.isRehearsal
      ? { finished: await show(guardAll(prepared, pass), run), isIncomplete: false }
      : await write(prepared, others, run);

  const found = finished.map((one, index) => ({
    ...one,
    bound: open[index]!,
    revisionBefore: revisionsBefore[index],
  }));
  await run.save(store(found, cache, run));
  const fromCache = [...cached.values()];
  const refreshed = await refresh(fromCache, run);
  const results = new Map([...cached.keys()].map((one, index) => [one, refreshed[index]!]));
  for (const one of found) results.set(one.bound, one.result);
  const all = [...bound.map((one) => results.get(one)!), ...others];
  return { wasRead: true, isIncomplete, templates: asBefore(all, cache) };
};

/** All of this is computed before anything irreversible is done. */
const prepare = (
  states: readonly TemplateState[],
  listing: readonly ActualTemplate[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  let ids: ReadonlySet<number> | undefined;
  const listed = (): ReadonlySet<number> =>
    (ids ??= new Set(listing.flatMap((template) => template.records.map(({ id }) => id))));
  return mapYielding(states, (given) => {
    const { pass, moment } = run;
    const memory = edit(claimArrived(given.basis, moment), (draft) =>
      forgetAnswered(draft, given.basis.view, given.basis.pending),
    );
    const state = holdForgotten(suspect(withBasis(given, { memory }), pass), pass);
    return noteHidden(run.pause(state), listed, run);
  });
};

/** Of each reading: a later one may show a record that an earlier one lacked. */
const suspect = (given: TemplateState, pass: Pass): TemplateState => {
  const { state, warning } = suspectMemory(given);
  if (warning !== null) pass.warn(warning);
  return override(state, pass);
};

/** A write that is not in the saved state may still take effect. */
const holdForgotten = (state: TemplateState, { holdsAdds = null }: Pass): TemplateState => {
  if (holdsAdds === null || !planOf(state.basis).steps.some(givesName)) return state;
  return withHold(state, { scope: 'adds', cause: 'forgotten', reason: holdsAdds, retryAt: null });
};

/** A command does not wait for the backoff after refusals; with `retry` not for other obstacles either. */
const override = (state: TemplateState, { trigger, retry }: Pass): TemplateState => {
  if (trigger !== 'command') return state;
  const memory = edit(state.basis.memory, (draft) => {
    clearBackoff(draft, retry);
    const { isSpellingDoubtful = false, answeredIds = [] } = draft.now.row;
    if (retry && (isSpellingDoubtful || answeredIds.length > 0))
      draft.setRow({ isSpellingDoubtful: false, answeredIds: [] });
  });
  return withBasis(state, { memory });
};

/** A template at the end of a pass, and its result. */
type FinishedTemplate = Pick<FoundTemplate, 'state' | 'result'>;

/** A dry run: what a pass would write and skip. */
const show = (states: readonly TemplateState[], run: ClientRun): Promise<FinishedTemplate[]> =>
  mapYielding(states, (state) =>
    resultOf(state, policyReasons(planOf(state.basis), state, run.pass.force), run, false),
  );

const write = async (
  prepared: readonly TemplateState[],
  others: readonly TemplateResult[],
  run: ClientRun,
): Promise<{ finished: FinishedTemplate[]; isIncomplete: boolean }> => {
  const { pass } = run;
  const confirmed = await confirmTemplates(prepared, run);
  const isAsBefore = ({ basis }: TemplateState, index: number): boolean =>
    basis.view === prepared[index]!.basis.view;
  const planned = guardAll(
    confirmed.map((state, index) => run.pause(isAsBefore(state, index) ? state : suspect(state, pass))),
    pass,
  );
  if (pass.approve) {
    const shown = planned.map((state) => plannedResult(state, run));
    pass.approve([...shown, ...others]);
  }
  const turn = limit(pass.concurrency);
  const written = await allSettledOrStop(
    planned.map((state) => turn(() => writeTemplate(state, run))),
    run,
  );
  const recovered = await recoverOwn(written, run);
  const reverted: TemplateState[] = [];
  for (const state of recovered) reverted.push(await revertParks(state, run));
  const remembered = await mapYielding(reverted, (state) => {
    const { listing, moment } = run;
    const { acceptLoss } = pass;
    return saveMemory(remember(state, { listing, acceptLoss, now: moment.now }), run);
  });
  for (const { basis, unfinished } of remembered) {
    if (unfinished.length > 0) run.unsaved.set(basis.view.id, unfinished);
    else run.unsaved.delete(basis.view.id);
  }
  await pass.unsaved?.keep(run.unsaved, run);
  const finished = await mapYielding(remembered, (state) => {
    const reasons = skipReasons(state, run.view);
    return resultOf(state, (step) => reasons(step) ?? needsOthers, run, true);
  });
  const isIncomplete = remembered.some((state, index) => hasUnwritten(planned[index]!, state, run));
  return { finished, isIncomplete };
};

const needsOthers: Skip = { cause: 'pass', text: 'waits for an earlier write' };

const hasUnwritten = (planned: TemplateState, state: TemplateState, { pass }: ClientRun): boolean => {
  const first = planOf(planned.basis);
  const reasons = policyReasons(first, state, pass.force);
  const permitted = first.steps.filter((step) => reasons(step) === null);
  return unwrittenSteps(permitted, state).length > 0;
};

/** If one template fails, the others must stop before the error is thrown. */
const allSettledOrStop = async <T>(tasks: readonly Promise<T>[], run: ClientRun): Promise<T[]> => {
  const stopOthers = (error: unknown): never => {
    run.hold({ scope: 'client', cause: 'broken', reason: messageOf(error), retryAt: null });
    throw error;
  };
  const results = await Promise.allSettled(tasks.map((task) => task.catch(stopOthers)));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
};

const openTemplates = (bound: readonly BoundTemplate[], run: ClientRun): Promise<TemplateState[]> =>
  mapYielding(bound, async (one) => {
    const stored = await run.pass.memory.template(one.actual.id);
    const { moment } = run;
    const { askedAt: asked = moment, settle, unknownPause, retry, only } = run.pass;
    const unfinished = run.unsaved.get(one.actual.id);
    return openTemplate(one, stored, { asked, moment, settle, unknownPause, retry, unfinished, only });
  });

const plannedResult = (state: TemplateState, { pass }: ClientRun): TemplateResult =>
  templateResult({
    client: pass.client,
    state,
    revision: pass.revisionOf(state.basis.desired.source.file),
    skipReason: policyReasons(planOf(state.basis), state, pass.force),
    clientHolds: [],
  });

/** `isWritten`: whether holds of the client concern it. */
const resultOf = async (
  state: TemplateState,
  skipReason: SkipReason,
  run: ClientRun,
  isWritten: boolean,
): Promise<FinishedTemplate> => {
  const { pass } = run;
  const { desired, view, memory } = state.basis;
  const check = await checkSubdomains(desired, view, memory.row, run);
  const row = rowAfter(memory.row, check);
  const noted = row ? withBasis(state, { memory: edit(memory, (draft) => draft.setRow(row)) }) : state;
  const next = row && isWritten ? await saveMemory(noted, run) : noted;
  const result = templateResult({
    client: pass.client,
    state: next,
    revision: pass.revisionOf(desired.source.file),
    skipReason,
    clientHolds: isWritten ? run.holds : [],
  });
  return { state: next, result: withSubdomains(result, check.results) };
};
