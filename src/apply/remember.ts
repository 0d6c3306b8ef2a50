import { dataOf } from '../model/record.ts';
import { recordKey } from '../plan/entry.ts';
import { hasLostMany, manyLost, type Hold } from '../plan/guard.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { isPark, resultOf } from '../plan/step.ts';
import type { Memory, TemplateFacts } from '../state/memory.ts';
import type { ApplyContext, TemplateWork } from './context.ts';
import { keptChanges } from './kept.ts';
import { allShown } from './listing.ts';
import { planWork } from './template.ts';
import { wantedKeys } from './work.ts';
import { stepKey } from './write.ts';

/** What was stored in this pass and did not stay, because a later write undid it, is not sent again by itself. */
export const rememberUndone = (work: TemplateWork, plan: TemplatePlan): void => {
  for (const step of plan.steps) {
    if (isPark(step) || !('present' in step)) continue;
    if (work.fates.get(stepKey(step))?.outcome !== 'applied') continue;
    const rewritten = { sent: resultOf(step), stored: dataOf(step.present.record) };
    work.ledger.change(recordKey(step.wanted), dataOf(step.wanted.record), { rewritten });
  }
};

/** Keeps what the pass saw. A reading that lost too much makes nobody forget anything, until a second pass agrees. */
export const rememberWork = async (
  work: TemplateWork,
  hold: Hold | undefined,
  context: ApplyContext,
): Promise<void> => {
  const { memory, clock, acceptLoss, settle } = context;
  const { ledger, desired, openedAt: from } = work;
  // What a reading for another template's sake showed is not missed.
  const present = allShown(work, context);
  const { suspectIds } = ledger.facts;
  const isTrusted =
    hold?.guard !== 'loss' &&
    (acceptLoss || !hasLostMany({ desired, present, memory: ledger.view, suspectIds }));
  const lost = work.hasDisagreement ? null : manyLost({ desired, present, memory: ledger.view });
  if (suspectIds?.join() !== lost?.join()) ledger.setFacts({ suspectIds: lost });
  if (isTrusted) {
    const wanted = wantedKeys(work);
    const to = clock.now();
    ledger.observe(planWork(work, to), { present, wanted, from, to, settle });
  }
  if (ledger.isChanged()) await keptChanges(ledger, context, (changes) => memory.save(changes));
};

/** Keeps what was found besides; nothing where nothing may be kept. */
export const rememberFacts = async (
  { ledger }: TemplateWork,
  facts: Partial<TemplateFacts>,
  { writer, halt }: { readonly writer: Memory | null } & Pick<ApplyContext, 'halt'>,
): Promise<void> => {
  if (writer === null) return;
  ledger.setFacts(facts);
  await keptChanges(ledger, { halt }, (changes) => writer.save(changes));
};
