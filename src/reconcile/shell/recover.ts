import type { DesiredState } from '../../model/template.ts';
import { groupBy } from '../../plan/group.ts';
import type { Intent } from '../../state/memory.ts';
import { changeOf, type Attempt } from '../core/attempt.ts';
import { isClosed } from '../core/client-holds.ts';
import { asSaved, openMemory } from '../../memory/memory.ts';
import {
  concludeAbsent,
  endUpdates,
  matchOpen,
  openRecovery,
  withReading,
  type Recovery,
  type ResolvedIntent,
} from '../core/recover.ts';
import { withBasis, type TemplateState } from '../core/state.ts';
import { asAccepted } from '../core/waits.ts';
import { disagree, withView } from '../core/two-readings.ts';
import type { PassInputs } from '../ports.ts';
import type { ClientRun } from './client-run.ts';
import { finishInOrder } from './save.ts';

/** Resolves the writes that earlier passes or a dead process left open. */
export const recoverIntents = async (
  states: readonly TemplateState[],
  { actual, described }: Pick<PassInputs, 'actual' | 'described'>,
  run: ClientRun,
): Promise<TemplateState[]> => {
  const known = new Set([...run.unsaved.values()].flat().map(({ intent }) => intent.id));
  const intents = (await run.pass.memory.openIntents()).filter(({ id }) => !known.has(id));
  if (intents.length === 0) return [...states];
  const opened = await Promise.all(
    [...groupBy(intents, ({ templateId }) => templateId)].map(([id, open]) =>
      openLeft(id, open, states, { actual, described }, run),
    ),
  );
  const ended = opened.map((one) => endUpdates(one, run.moment.uptime));
  if (run.isDryRun) return applyAll(states, ended.map(matchOpen), run);
  const begun = await saveResolved(ended, run);
  const recovered = await resolveUnknown(begun, run, run.pass.retry);
  const own = new Set(states.map(({ basis }) => basis.view.id));
  for (const { templateId, unfinished } of recovered)
    if (unfinished.length > 0 && !own.has(templateId)) run.unsaved.set(templateId, unfinished);
  return applyAll(states, recovered, run);
};

/** Resolves this pass's adds of unknown outcome, of all templates with the same readings. */
export const recoverOwn = async (
  states: readonly TemplateState[],
  run: ClientRun,
): Promise<TemplateState[]> => {
  const opened = states.flatMap(({ basis: { pending, ...basis } }) => {
    const open = pending.filter((intent) => intent.run === run.pass.run);
    return open.length === 0
      ? []
      : [openRecovery({ ...basis, templateId: basis.view.id, isDescribed: true, open })];
  });
  if (opened.length === 0) return [...states];
  const recovered = await resolveUnknown(opened, run, false);
  const byId = new Map(recovered.map((one) => [one.templateId, one]));
  return states.map((state) => {
    const recovery = byId.get(state.basis.view.id);
    if (!recovery) return state;
    const resolved = new Map(recovery.resolved.map((one) => [one.intent.id, one]));
    const pending = state.basis.pending.filter(({ id }) => !resolved.has(id));
    const next = takeRecovery(state, recovery, pending, run);
    const attempts = [...state.attempts].map(([key, attempt]): [string, Attempt] => {
      const one = resolved.get(attempt.intent.id);
      return [key, one ? attemptAfter(attempt, one) : attempt];
    });
    return { ...next, attempts: new Map(attempts) };
  });
};

/** Waits, reads, waits, reads; a reading that lost records is inconclusive. */
const resolveUnknown = async (
  given: readonly Recovery[],
  run: ClientRun,
  isRetry: boolean,
): Promise<readonly Recovery[]> => {
  const { clock, settle, signal } = run.pass;
  let recoveries = await saveResolved(given.map(matchOpen), run);
  for (let round = 1; round <= 2 && recoveries.some(({ open }) => open.length > 0); round += 1) {
    if (!isClosed(run.holds)) await clock.sleep(settle, signal);
    const listing = signal.aborted ? null : await run.readTemplates();
    if (listing === null) return recoveries;
    recoveries = recoveries.map((one) => matchOpen(withReading(one, listing.get(one.templateId))));
    recoveries = await saveResolved(recoveries, run);
  }
  const at = run.moment;
  const concluded = recoveries.map((one) => concludeAbsent(one, isRetry, at));
  return saveResolved(concluded, run);
};

/** Also of templates that no file describes any more. */
const openLeft = async (
  templateId: number,
  open: readonly Intent[],
  states: readonly TemplateState[],
  { actual, described }: Pick<PassInputs, 'actual' | 'described'>,
  run: ClientRun,
): Promise<Recovery> => {
  const state = states.find(({ basis }) => basis.view.id === templateId);
  const { settle, unknownPause } = run.pass;
  const now = state?.basis.now ?? run.moment.now;
  const memory = state?.basis.memory ?? openMemory(await run.pass.memory.template(templateId), open[0]!);
  const listed = actual.find(({ id }) => id === templateId);
  const view = state?.basis.view ?? (listed ? asAccepted(listed, memory, { now, settle }) : null);
  const desired = state?.basis.desired ?? null;
  const isDescribed = describes(described, templateId, view?.name);
  return openRecovery({ templateId, desired, isDescribed, view, memory, now, settle, unknownPause, open });
};

/** If there are no files any more, templates still count as described. */
const describes = (
  { templates, unusable, files }: DesiredState,
  templateId: number,
  name: string | undefined,
): boolean =>
  files === 0 ||
  [...templates, ...unusable].some(({ id, template }) => id === templateId || template === name);

/** Saves the resolved writes, each with the state after it. They are told first, since a later pass does not know them. */
const saveResolved = async (recoveries: readonly Recovery[], run: ClientRun): Promise<Recovery[]> => {
  const saved: Recovery[] = [];
  for (const recovery of recoveries) {
    const { resolved, told, unfinished, memory } = recovery;
    for (const one of resolved.slice(told)) tell(one, run);
    const finished = await finishInOrder(unfinished, run);
    const isSaved = finished === unfinished.length && unfinished.at(-1)?.memory === memory;
    saved.push({
      ...recovery,
      memory: isSaved ? asSaved(memory) : memory,
      told: resolved.length,
      unfinished: unfinished.slice(finished),
    });
  }
  return saved;
};

const tell = ({ intent, result }: ResolvedIntent, run: ClientRun): void => {
  const outcome = result.outcome === 'duplicate' ? 'applied' : result.outcome;
  run.pass.onChange(changeOf(intent, { ...result, outcome }));
};

const applyAll = (
  states: readonly TemplateState[],
  recoveries: readonly Recovery[],
  run: ClientRun,
): TemplateState[] => {
  const byId = new Map(recoveries.map((one) => [one.templateId, one]));
  return states.map((state) => {
    const recovery = byId.get(state.basis.view.id);
    if (!recovery) return state;
    const next = takeRecovery(state, recovery, recovery.open, run);
    return recovery.isConclusive ? next : disagree(next, 'two readings of the template disagree');
  });
};

const takeRecovery = (
  state: TemplateState,
  { view, memory, unfinished }: Recovery,
  pending: readonly Intent[],
  run: ClientRun,
): TemplateState => {
  const known = withBasis(state, { memory, pending });
  const next = { ...known, unfinished: [...state.unfinished, ...unfinished] };
  return view === null || view === state.basis.view ? next : withView(next, view, run.moment);
};

const attemptAfter = (attempt: Attempt, { result, retryAt }: ResolvedIntent): Attempt => {
  const { step, intent } = attempt;
  const base = { step, intent };
  return result.recordId === null
    ? { ...base, state: 'failed', error: 'error' in attempt ? attempt.error : '', retryAt }
    : { ...base, state: 'applied', recordId: result.recordId };
};
