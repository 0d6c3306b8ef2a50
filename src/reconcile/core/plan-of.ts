import type { PlanMemory } from '../../plan/memory.ts';
import { planTemplate, type TemplatePlan } from '../../plan/plan.ts';
import { addGate, gate, parkGate } from './gate.ts';
import type { PlanBasis } from './basis.ts';
import { waitsOf } from './waits.ts';

/** The current plan of a template. Cached by its basis. */
export const planOf = (basis: PlanBasis): TemplatePlan => {
  const { desired, view: actual, memory, pending } = basis;
  const known = plans.get(memory.view);
  const isSame =
    known?.basis.desired === desired && known.basis.view === actual && known.basis.pending === pending;
  if (isSame) return known.plan;
  const waits = waitsOf(basis);
  const plan = planTemplate({
    desired,
    actual,
    memory: memory.view,
    pending: waits.coming,
    unshown: actual.unshown ? waits.blockOfUnshown : undefined,
    listedAs: actual.unshown ? (id) => actual.unshown?.get(id)?.listed ?? null : undefined,
    gate: gate(basis, waits),
    addGate: addGate(basis, waits),
    parkGate: parkGate(basis, waits),
  });
  plans.set(memory.view, { basis, plan });
  return plan;
};

const plans = new WeakMap<PlanMemory, { readonly basis: PlanBasis; readonly plan: TemplatePlan }>();
