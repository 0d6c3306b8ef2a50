import { HostingError } from '../../hosting/errors.ts';
import type { ActualTemplate } from '../../model/template.ts';
import { additionOf, changeOf, type Step } from '../../plan/step.ts';
import { changeOfAttempt, intentResultOf, intentOf, stepKey, writeKey } from '../core/attempt.ts';
import { holdFor } from '../core/client-holds.ts';
import { evolve, underWay, type TemplateEvent } from '../core/evolve.ts';
import { decide, nextRevert, nextStep, skipReasonOf, type Command } from '../core/permit.ts';
import { compareListing } from '../core/two-readings.ts';
import type { TemplateState } from '../core/state.ts';
import type { ClientRun } from './client-run.ts';
import { saveEnd, saveMemory } from './save.ts';

/** Writes one template, one write at a time, each decided from the answer to the previous one. */
export const writeTemplate = (state: TemplateState, run: ClientRun): Promise<TemplateState> =>
  carryOut(state, run, nextStep);

/** After everything is resolved: restores records that were parked for a write that did not happen. */
export const revertParks = (state: TemplateState, run: ClientRun): Promise<TemplateState> =>
  carryOut(state, run, nextRevert);

const carryOut = async (
  given: TemplateState,
  run: ClientRun,
  next: typeof nextStep,
): Promise<TemplateState> => {
  let state = given;
  for (;;) {
    state = run.pause(compareListing(state, run.listing));
    const command = decide(next, state, run.view);
    switch (command.kind) {
      case 'done':
        return state;
      case 'read':
        state = await takeEvent(state, run, await reread(state, run));
        break;
      case 'write':
        state = await write(state, command, run, next);
        break;
    }
  }
};

/** The intent is on disk, synced, before the step is sent. */
const write = async (
  before: TemplateState,
  { step, makesWayFor }: Extract<Command, { kind: 'write' }>,
  run: ClientRun,
  next: typeof nextStep,
): Promise<TemplateState> => {
  const { pass, moment } = run;
  const { run: id, trigger } = pass;
  const { source, fragments = [] } = before.basis.desired;
  // What nobody has committed yet is not the work of the commit before it.
  const isCommitted = [source.file, ...fragments].every((file) => pass.isUncommitted?.(file) !== true);
  const revision = isCommitted ? pass.revisionOf(source.file) : null;
  const given = intentOf(step, before.basis, { run: id, trigger, revision, moment, makesWayFor });
  const intent = await run.save(run.writer.begin(given));
  if (intent === null) return before;
  // Whoever suspends the template from now on sees this intent.
  await run.readSuspensions();
  // Another template may have got an answer or a reading meanwhile.
  const state = run.pause(compareListing(before, run.listing));
  const again = decide(next, state, run.view);
  if (again.kind !== 'write' || writeKey(again.step) !== writeKey(step)) {
    const skip = skipReasonOf(step, state, run.view);
    const reason = skip?.text ?? 'a newer reading changed the plan';
    const result = { outcome: 'failed', recordId: null, error: `not sent: ${reason}` } as const;
    return saveEnd(state, intent, result, run);
  }
  const begun = evolve(state, { type: 'begun', step, intent }, run.moment);
  return takeEvent(begun, run, await send(step, begun.basis.view.id, run));
};

const send = async (step: Step, templateId: number, run: ClientRun): Promise<TemplateEvent> => {
  try {
    return { type: 'answered', answer: await call(step, templateId, run) };
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    return failedBy(error, run);
  }
};

const call = (step: Step, templateId: number, { pass: { service } }: ClientRun): Promise<ActualTemplate> =>
  'actual' in step
    ? service.updateDnsTemplateRecord(templateId, changeOf(step))
    : service.addDnsTemplateRecord(templateId, additionOf(step));

const failedBy = (error: HostingError, run: ClientRun): TemplateEvent => {
  const { kind, message } = error;
  switch (kind) {
    case 'refused':
      return { type: 'refused', error: message };
    case 'rate-limited':
    case 'not-sent':
    case 'unauthorized':
      run.hold(holdFor(error, run.pass.clock.now()));
      return { type: 'not-sent', error: message, retryAt: run.reportedHold?.retryAt ?? null };
    case 'unknown':
    case 'unavailable':
    case 'bad-answer':
      return { type: 'lost', error: message };
  }
};

const reread = async ({ basis }: TemplateState, run: ClientRun): Promise<TemplateEvent> => {
  const listing = await run.readTemplates();
  return { type: 'reread', reading: listing?.get(basis.view.id) ?? null };
};

/** The outcome of the write is saved together with the state after it. */
const takeEvent = async (
  before: TemplateState,
  run: ClientRun,
  event: TemplateEvent,
): Promise<TemplateState> => {
  const { step, intent } = underWay(before);
  let state = evolve(before, event, run.moment);
  const attempt = state.attempts.get(stepKey(step))!;
  const result = intentResultOf(attempt);
  if (result) state = await saveEnd(state, intent, result, run);
  // What an answer showed of an add that stays open must outlive the process.
  else if (event.type === 'answered') state = await saveMemory(state, run);
  const change = changeOfAttempt(attempt, state.basis);
  if (change) run.pass.onChange(change);
  return state;
};
