import { dataOf } from '../model/record.ts';
import { entryOf, recordKey, type Present, type Wanted } from '../plan/entry.ts';
import { groupBy } from '../plan/group.ts';
import { isLike } from '../plan/like.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import { isPark } from '../plan/step.ts';
import type { Clock, TemplateWork } from './context.ts';
import { uncountedAdds } from './ledger.ts';
import { planWork } from './template.ts';

interface LostMemoryContext {
  readonly clock: Clock;
  /** A person said to try again what waits for that word. */
  readonly retry: boolean;
}

/**
 * A template of which nothing is remembered may hold what was added before that was lost, as the service keeps it: what
 * is missing while a record like it is there may have been added any number of times.
 */
export const noticeLostMemory = (
  works: readonly TemplateWork[],
  { clock, retry }: LostMemoryContext,
): void => {
  for (const work of works) {
    const { ledger, desired } = work;
    const isMet = ledger.view.familiar || ledger.view.byKey.size > 0;
    if (isMet || desired.adopt || retry) continue;
    const plan = planWork(work, clock.now());
    const unknown = groupBy(unpaired(work, plan), ({ type }) => type);
    for (const wanted of missingIn(plan)) {
      if (!unknown.get(wanted.type)?.some((present) => isLike(wanted, present))) continue;
      const changes = { recordId: null, seen: null, cause: 'unknown', adds: uncountedAdds } as const;
      ledger.change(recordKey(wanted), dataOf(wanted.record), changes);
    }
  }
};

const missingIn = ({ steps, waiting }: TemplatePlan): Wanted[] =>
  [...steps, ...waiting].flatMap((step) =>
    !isPark(step) && step.difference.action === 'add' ? [step.wanted] : [],
  );

const unpaired = ({ present }: TemplateWork, { pairs }: TemplatePlan): Present[] => {
  const paired = new Set(pairs.map((pair) => pair.present.record.id));
  return present.records.filter(({ id }) => !paired.has(id)).map(entryOf);
};
