import type { DesiredTemplate } from '../../model/template.ts';
import type { PlanMemory } from '../../plan/memory.ts';
import { planTemplate, type TemplatePlan } from '../../plan/plan.ts';
import type { Intent } from '../../state/memory.ts';
import { addGate, gate, parkGate } from './gate.ts';
import type { TemplateMemory } from '../../memory/memory.ts';
import { waitsOf, type CorrectedView } from './waits.ts';

/** Everything that a plan is made from. */
export interface PlanBasis {
  readonly desired: DesiredTemplate;
  /** The newest trusted reading. */
  readonly view: CorrectedView;
  readonly memory: TemplateMemory;
  /** Adds of unknown outcome. */
  readonly pending: readonly Intent[];
  /** When the pass opened the template, ms since the epoch: later retries wait for the next pass. */
  readonly now: number;
  /** The wait between two readings, and the time in which a write may take effect, in milliseconds. */
  readonly settle: number;
  readonly unknownPause: number;
}

/** The current plan of a template. Cached by its basis. */
export const planOf = (basis: PlanBasis): TemplatePlan => {
  const { desired, view: actual, memory, pending, now } = basis;
  const known = plans.get(memory.view);
  const isSame =
    known?.basis.desired === desired && known.basis.view === actual && known.basis.pending === pending;
  if (isSame) return known.plan;
  const waits = waitsOf(memory, pending, actual, basis);
  const plan = planTemplate({
    desired,
    actual,
    memory: memory.view,
    pending: waits.coming,
    unshown: actual.unshown ? waits.blockOfUnshown : undefined,
    listedAs: actual.unshown ? (id) => actual.unshown?.get(id)?.listed ?? null : undefined,
    gate: gate({ memory, waits, actual, adopts: desired.adopt && desired.surplus === 'park', now }),
    addGate: addGate({ memory, waits, actual }),
    parkGate: parkGate({ memory, waits, now }),
  });
  plans.set(memory.view, { basis, plan });
  return plan;
};

const plans = new WeakMap<PlanMemory, { readonly basis: PlanBasis; readonly plan: TemplatePlan }>();
