import { suspensionOf, suspensionText, type Suspension } from '../model/suspension.ts';
import type { Hold } from '../plan/hold.ts';
import { withRow } from './memory.ts';
import { changed, withHold, type TemplateState } from './state.ts';

/**
 * Holds a template from the moment on at which it is suspended to the end of the pass: guards have not judged what it would
 * write.
 */
export const suspend = (state: TemplateState, suspensions: readonly Suspension[]): TemplateState => {
  const { desired, view } = state;
  const names = [desired.template, view.name, state.savedName];
  const suspension = suspensionOf(suspensions, { templateId: view.id, names });
  return suspension === null || state.suspension !== null
    ? state
    : { ...withHold(withItsName(state, suspension), suspendedBy(suspension)), suspension };
};

/** A template that is suspended by a name alone is saved under it, so that later passes find it under any name. */
const withItsName = (state: TemplateState, { template, templateId }: Suspension): TemplateState => {
  const { row } = state.memory;
  if (template === null || templateId === row.templateId || template === row.template) return state;
  return changed(state, withRow({ template }));
};

const suspendedBy = (suspension: Suspension): Hold => ({
  scope: 'template',
  cause: 'suspended',
  reason: suspensionText(suspension),
  retryAt: suspension.until,
});
