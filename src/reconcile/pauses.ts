import { suspensionOf, suspensionText, type Suspension } from '../model/suspension.ts';
import { isOpen, nextOpening } from '../model/window.ts';
import type { Hold } from '../plan/hold.ts';
import { permits } from './permit.ts';
import { changed, isPaused, planOf, withHold, type TemplateState } from './state.ts';
import { isoOf } from './times.ts';

/**
 * Holds a template from the moment on at which it is suspended, or outside of its windows, to the end of the pass: guards
 * have not judged what it would write. `force` opens windows, and ends no suspension. `now`: ms since the epoch.
 */
export const pause = (
  state: TemplateState,
  suspensions: readonly Suspension[],
  now: number,
): TemplateState => {
  const { desired, view } = state;
  const names = [desired.template, view.name, state.savedName];
  const suspension = suspensionOf(suspensions, { templateId: view.id, names });
  if (suspension !== null && state.suspension === null)
    return { ...withHold(withItsName(state, suspension), suspendedBy(suspension)), suspension };
  const { window } = desired;
  if (isPaused(state) || state.circumstances.force || window === undefined || isOpen(window, now))
    return state;
  const whyNot = permits(state, null);
  if (planOf(state).steps.every((step) => whyNot(step) !== null)) return state;
  return withHold(state, outsideOf(window.text, nextOpening(window, now)));
};

/** A template that is suspended by a name alone is saved under it, so that later passes find it under any name. */
const withItsName = (state: TemplateState, { template, templateId }: Suspension): TemplateState => {
  const { row } = state.memory;
  if (template === null || templateId === row.templateId || template === row.template) return state;
  return changed(state, { type: 'row', changes: { template } });
};

const suspendedBy = (suspension: Suspension): Hold => ({
  scope: 'template',
  cause: 'suspended',
  reason: suspensionText(suspension),
  retryAt: suspension.until,
});

const outsideOf = (windows: string, opening: number | null): Hold => ({
  scope: 'template',
  cause: 'window',
  reason: `outside of its window (${windows}): changes wait${opening === null ? '' : ` until ${isoOf(opening)}`}`,
  retryAt: opening,
});
