import type { PresentTemplate } from '../model/template.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { TemplateResult } from '../result.ts';
import type { Memory, MemoryReader, Revisions } from '../state/memory.ts';
import type { BoundTemplate } from './bind.ts';
import type { Clock, TemplateWork } from './context.ts';
import { withSubdomains } from './result.ts';
import { planWork } from './template.ts';

/**
 * A template in which a pass found nothing to do, and of which it remembered nothing new. As long as the file, the
 * service's answer and memory are the very same, any other pass would find the same.
 */
export interface Rest {
  readonly bound: BoundTemplate;
  /** What is remembered of it. */
  readonly revision: string;
  readonly lastWriteAt: number | null;
  /** Found by a pass that writes nothing, memory neither. */
  readonly isDryRun: boolean;
  /** Without its subdomains, which are looked at in every pass. */
  readonly result: TemplateResult;
}

/** By the template's id; kept from one pass to the next. */
export type Rests = Map<number, Rest>;

export interface RestContext {
  /** None where a person's own pass looks at everything. */
  readonly rests?: Rests;
  readonly memory: MemoryReader;
  readonly writer: Memory | null;
  readonly clock: Clock;
}

/** The templates that are as they were, by what was then found of them; none with a write of unknown outcome. */
export const restsAmong = async (
  bound: readonly BoundTemplate[],
  revisions: Revisions,
  { rests, memory, writer }: RestContext,
): Promise<Map<BoundTemplate, Rest>> => {
  const still = new Map<BoundTemplate, Rest>();
  if (!rests) return still;
  for (const { templateId } of await memory.openIntents()) rests.delete(templateId);
  for (const one of bound) {
    const rest = rests.get(one.present.id);
    const isSame =
      rest?.isDryRun === (writer === null) &&
      rest.bound.desired === one.desired &&
      rest.bound.present === one.present &&
      rest.revision === revisions(one.present.id);
    if (isSame) still.set(one, rest);
    else rests.delete(one.present.id);
  }
  return still;
};

/** Keeps what the next pass would find again; `before` holds the revisions of memory before this pass. */
export const keepRests = async (
  works: readonly TemplateWork[],
  found: ReadonlyMap<BoundTemplate, TemplateResult>,
  before: ReadonlyMap<number, string | undefined>,
  { rests, memory, writer, clock }: RestContext,
): Promise<void> => {
  const revisions = await memory.revisions?.();
  if (!rests || !revisions) return;
  for (const [index, [bound, result]] of [...found].entries()) {
    const work = works[index]!;
    const revision = revisions(bound.present.id);
    const isCalm = result.status === 'in-sync' || result.status === 'drifted';
    if (!isCalm || revision !== before.get(bound.present.id)) continue;
    if (!isAtRest(work, planWork(work, clock.now()))) continue;
    rests.set(bound.present.id, {
      bound: { ...bound, present: work.present },
      revision,
      lastWriteAt: work.ledger.facts.lastWriteAt,
      isDryRun: writer === null,
      result: withSubdomains(result, []),
    });
  }
};

/** Whether only a change, and no lapse of time, can give a pass something to do here. */
const isAtRest = (work: TemplateWork, plan: TemplatePlan): boolean =>
  work.fates.size === 0 &&
  work.pending.length === 0 &&
  work.stopped === null &&
  work.addsStopped === null &&
  plan.steps.length === 0 &&
  plan.blocked.length === 0 &&
  plan.surplus.every(({ error }) => error === undefined) &&
  // What is missed for the first time waits for a second look.
  holdsAll(work.present, work.ledger.view.byId);

const holdsAll = ({ records }: PresentTemplate, known: ReadonlyMap<number, unknown>): boolean => {
  const ids = new Set(records.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) return false;
  return true;
};
