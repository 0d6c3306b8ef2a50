import { limit } from '../lib/limit.ts';
import { mapYielding } from '../lib/yield.ts';
import { messageOf } from '../errors.ts';
import type { ActualTemplate, DesiredState, DesiredTemplate } from '../model/template.ts';
import type { PassResult, TemplateResult } from '../result.ts';
import { noChanges, type Entry } from '../state/memory.ts';
import { groupBy } from '../model/group.ts';
import { movesName } from '../plan/step.ts';
import { bindTemplates } from '../plan/bind.ts';
import { asBefore, lookUp, refresh, store, type FoundTemplate, type ResultCache } from './cache.ts';
import { guardAll } from './guards.ts';
import { withoutOver } from './journal.ts';
import { withRow } from './memory.ts';
import { observe } from './observe.ts';
import { permits, type SkipReason } from './permit.ts';
import { awaitsReading, confirmBy, confirmBySaved, rememberReading } from './readings.ts';
import { suspendedUnread, templateResult, withSubdomains } from './result.ts';
import { ClientRun, journalChanges, type PassOptions } from './run.ts';
import {
  bindSelected,
  exceptOthers,
  ofAnotherAccount,
  selectTemplates,
  unseen,
  unusableTemplates,
} from './select.ts';
import { settleUnmanaged } from './unmanaged.ts';
import {
  changed,
  digestOf,
  isSettled,
  openTemplate,
  planOf,
  withHold,
  type Circumstances,
  type TemplateState,
} from './state.ts';
import { checkSubdomains, noteHidden } from './subdomains.ts';
import { isInDoubt, settleBy, writeTemplate } from './write.ts';

/*
 * read ─ settle ─ plan ─ confirm ─ guard ─ approve ─ write ─ remember ─ report
 *
 * Whoever calls holds the client's lock for the whole pass. A write is never made twice by mistake, as long as the service
 * lists what was sent within `longestTime` (times.ts) at the latest, because
 *
 * - it is sent from one place (write.ts), after an entry in the journal is on disk and its permit was asked again;
 * - while something that was sent may still appear, nothing enters or leaves a name in its template (journal.ts, permit.ts);
 * - two readings require it (readings.ts), and it is attempted once in a pass (permit.ts);
 * - a service that lists it later than that gets an add twice at most: the third waits for a person (blocks.ts).
 *
 * Only this file, run.ts, write.ts, cache.ts, select.ts, unmanaged.ts and subdomains.ts wait for anything; the others compute.
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
    dryRun: run.isDryRun,
    holdReason: reportedHold?.reason ?? null,
    retryAfter: run.retryAfter,
    isRateLimited: run.holds.some(({ cause }) => cause === 'rate-limited'),
    isDenied: reportedHold?.cause === 'denied',
    areTokensRejected: run.areTokensRejected || (reportedHold?.cause === 'denied' && !found.wasRead),
    ...found,
    problems: desired.problems.map((problem) => ({ ...problem, client: pass.client })),
  };
};

type FoundByPass = Pick<PassResult, 'wasRead' | 'templates'>;

const passOver = async (described: DesiredState, pass: Pass, run: ClientRun): Promise<FoundByPass> => {
  const { cache } = pass;
  const desired = selectTemplates(described, pass.templates);
  const held = await unusableTemplates(desired, pass);
  const { askedAt = run.moment } = pass;
  const actual = await run.readOrHold(() => pass.listing ?? pass.service.listDnsTemplates());
  if (actual === null) {
    const { reason } = run.reportedHold!;
    // Whoever suspends one meanwhile sees it.
    await run.readSuspensions();
    const failed = desired.templates.map((one) => ({
      ...unseen(one, 'failed', reason, pass),
      asOf: null,
      ...suspendedUnread(one, run.suspensions),
    }));
    return { wasRead: false, templates: [...failed, ...held] };
  }
  const asked = { asked: askedAt, read: run.moment };
  const foreign = await ofAnotherAccount(desired, actual, pass);
  if (foreign !== null) return { wasRead: true, templates: [...foreign, ...held] };
  const revisions = (await pass.memory.revisions?.()) ?? null;
  const selected = await exceptOthers(bindSelected(desired, described, actual), run);
  const bound = selected.filter((one) => 'actual' in one);
  await run.readSuspensions();
  const unbound = selected.flatMap((one) =>
    'actual' in one ? [] : [unseen(one.desired, one.status, one.reason, pass)],
  );
  const others = [...unbound, ...held];
  const circumstances = circumstancesOf(run);
  const journal = groupBy(await readJournal(circumstances, run), ({ templateId }) => templateId);
  if (!run.isDryRun) await settleUnmanaged(journal, actual, described, asked, circumstances, run);
  const cached = lookUp(bound, revisions, journal, circumstances, cache, run);
  const open = bound.filter((one) => !cached.has(one));
  const revisionsBefore = open.map(({ actual: { id } }) => revisions?.of(id));

  const states = await mapYielding(open, async (one) => {
    const { id } = one.actual;
    return openTemplate(one, await pass.memory.template(id), journal.get(id) ?? [], asked, circumstances);
  });
  const prepared = await prepare(states, actual, run);
  const finished = run.isDryRun
    ? await show(guardAll(prepared, pass.maxAddsPerPass), run)
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
  return { wasRead: true, templates: asBefore(all, cache) };
};

const circumstancesOf = ({ pass, moment }: ClientRun): Circumstances => {
  const { run, settle, unknownPause, force, retry, acceptLoss, only = [], holdsAdds = null } = pass;
  const times = { settle, unknownPause };
  const [isForgetful, isCommand] = [holdsAdds !== null, pass.trigger === 'command'];
  return { run, times, began: moment, isForgetful, isCommand, force, retry, acceptLoss, only };
};

/** Without entries whose time is over, also of templates that are not compared. */
const readJournal = async ({ began, times }: Circumstances, run: ClientRun): Promise<readonly Entry[]> => {
  const entries = await run.pass.memory.journal();
  const left = withoutOver(entries, began, times);
  if (left.length < entries.length && !run.isDryRun)
    await run.save(run.writer.save({ ...noChanges, ...journalChanges(entries, left) }));
  return left;
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
  return mapYielding(states, async (given) => {
    const kept = run.isDryRun ? given : await run.keep(given);
    return noteHidden(run.look(holdForgotten(kept, run)), listed, run);
  });
};

const holdForgotten = (state: TemplateState, { pass: { holdsAdds = null } }: ClientRun): TemplateState => {
  if (holdsAdds === null || !planOf(state).steps.some(movesName)) return state;
  return withHold(state, { scope: 'adds', cause: 'forgotten', reason: holdsAdds, retryAt: null });
};

/** A template at the end of a pass, and its result. */
type FinishedTemplate = Pick<FoundTemplate, 'state' | 'result'>;

/** A dry run: what a pass would write and skip. */
const show = (states: readonly TemplateState[], run: ClientRun): Promise<FinishedTemplate[]> =>
  mapYielding(states, (state) => resultOf(state, (of) => permits(of, null), run, false));

const write = async (
  prepared: readonly TemplateState[],
  others: readonly TemplateResult[],
  run: ClientRun,
): Promise<FinishedTemplate[]> => {
  const { pass } = run;
  const confirmed = await confirmSaid(await confirmTemplates(prepared, run), run);
  const planned = guardAll(
    confirmed.map((state) => run.look(state)),
    pass.maxAddsPerPass,
  );
  pass.approve?.([...planned.map((state) => templateResult(state, permits(state, null), pass)), ...others]);
  const written = await writeTemplates(planned, run);
  const remembered = await mapYielding(written, (state) => run.keep(finish(state)));
  const reasonsOf = (state: TemplateState): SkipReason => {
    const reasons = permits(state, run.view);
    return (step) => reasons(step) ?? { cause: 'pass', text: 'waits for an earlier write' };
  };
  return mapYielding(remembered, (state) => resultOf(state, reasonsOf, run, true));
};

/** Lists the templates a second time if a step waits for that, and confirms what both readings require. */
const confirmTemplates = async (
  states: readonly TemplateState[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  const first = states.map((state) => {
    if (!awaitsReading(state, run.view)) return { state, isWaiting: false };
    const confirmed = confirmBySaved(state);
    return { state: confirmed ?? state, isWaiting: confirmed === null };
  });
  const listing = first.some(({ isWaiting }) => isWaiting) ? await run.readLater() : null;
  if (listing === null) return first.map(({ state }) => state);
  const bound = bindTemplates(
    states.map(({ desired }) => desired),
    [],
    [...listing.templates.values()],
  );
  const again = first.map(({ state, isWaiting }, index) => {
    const shown = listing.templates.get(state.view.id);
    // Also where there is a newer reading, made for another template.
    const isOther = state.confirmed.size > 0 && (!shown || digestOf(shown) !== digestOf(state.view));
    if (!isWaiting && !isOther) return state;
    return { ...confirmBy(state, shown, bound[index]!, listing), comparedListing: listing.templates };
  });
  const kept = await mapYielding(again, (state) => run.keep(state));
  // Where the first listing was from before an earlier write, the second one is the first that counts.
  const late = kept.filter((state, index) => isSettled(state) && !isSettled(first[index]!.state));
  return late.length === 0 ? kept : replaced(kept, late, await confirmTemplates(late, run));
};

/** What a file does not say any more would stay for ever; what it says now is the next pass's. */
const confirmSaid = async (states: readonly TemplateState[], run: ClientRun): Promise<TemplateState[]> => {
  const written = states.filter(({ confirmed }) => confirmed.size > 0).map(({ desired }) => desired);
  const files = written.length === 0 ? null : await run.pass.peek?.(written);
  const now = files && new Set(files.templates);
  const isSaid = ({ confirmed, desired }: TemplateState): boolean =>
    !now || confirmed.size === 0 || now.has(desired) || [...now].some((one) => isAlike(one, desired));
  return states.map((state) =>
    isSaid(state) ? state : { ...state, confirmed: new Set(), notes: [...state.notes, filesChanged] },
  );
};

const filesChanged =
  'its files changed during this pass, or still are being written: a later pass goes by them';

const isAlike = (one: DesiredTemplate, other: DesiredTemplate): boolean =>
  one.template === other.template && saying(one) === saying(other);

/** All that a template's files say of it, wherever that stands in them, and however long they may be on their way. */
const saying = (desired: DesiredTemplate): string =>
  JSON.stringify(desired, (key, value: unknown) => (key === 'source' || key === 'until' ? undefined : value));

/** Templates in doubt wait together for one listing that settles them. */
const writeTemplates = async (
  planned: readonly TemplateState[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  const turn = limit(run.pass.concurrency);
  let states = [...planned];
  let writing: readonly TemplateState[] = states;
  while (writing.length > 0) {
    const written = await allSettledOrStop(
      writing.map((state) => turn(() => writeTemplate(state, run))),
      run,
    );
    states = replaced(states, writing, written);
    const doubtful = states.filter(isInDoubt);
    const listing = doubtful.length > 0 ? await run.readLater() : null;
    if (listing === null) return states;
    const settled = await Promise.all(doubtful.map((state) => settleBy(state, listing, run)));
    states = replaced(states, doubtful, settled);
    // Also what has stopped: it may put back what made way.
    writing = settled.filter((state) => !isInDoubt(state));
  }
  return states;
};

const replaced = <T>(all: readonly T[], some: readonly T[], by: readonly T[]): T[] => {
  const next = new Map(some.map((one, index) => [one, by[index]!]));
  return all.map((one) => next.get(one) ?? one);
};

/** If one template fails, the others must stop before the error is thrown. */
const allSettledOrStop = async <T>(tasks: readonly Promise<T>[], run: ClientRun): Promise<T[]> => {
  const stopOthers = (error: unknown): never => {
    run.hold({ scope: 'client', cause: 'broken', reason: messageOf(error), retryAt: null });
    throw error;
  };
  const stopping = tasks.map((task) => task.catch(stopOthers));
  await Promise.allSettled(stopping);
  return Promise.all(stopping);
};

/**
 * What is learnt from the view at the end: only how much is lost while the template is not settled, or the view not proven. Nor
 * while an add is missed, since the next reading may make a record of this one suspect to be it.
 */
const finish = (given: TemplateState): TemplateState => {
  const { desired, view, lost, isWhole, isGone } = given;
  const noted = changed(given, withRow({ suspectIds: lost }));
  const isMissing = noted.journal.some((entry) => entry.state === 'missed');
  if (!isSettled(noted) || noted.isUnproven || isMissing) return rememberReading(noted);
  const observed = isWhole
    ? changed(noted, observe(planOf(noted), view, isGone, !desired.incomplete))
    : noted;
  return rememberReading(observed);
};

/** `isWritten`: whether holds of the client concern it. */
const resultOf = async (
  state: TemplateState,
  reasonsOf: (state: TemplateState) => SkipReason,
  run: ClientRun,
  isWritten: boolean,
): Promise<FinishedTemplate> => {
  const { desired, view, memory } = state;
  const { results, row } = await checkSubdomains(desired, view, memory.row, run);
  const noted = row ? changed(state, withRow(row)) : state;
  const next = row && isWritten ? await run.keep(noted) : noted;
  const result = templateResult(next, reasonsOf(next), run.pass, isWritten ? run.holds : []);
  return { state: next, result: withSubdomains(result, results) };
};
