import type { DesiredState, PresentTemplate } from '../model/template.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { TemplateResult } from '../result.ts';
import type { Memory, MemoryReader, Revisions, TemplateFacts } from '../state/memory.ts';
import type { BoundTemplate } from './bind.ts';
import type { Clock, TemplateWork } from './context.ts';
import { kept } from './kept.ts';
import { withSubdomains } from './result.ts';
import { checkSubdomains, factsAfter, type SubdomainContext } from './subdomains.ts';
import { planWork } from './template.ts';

/**
 * A template in which a pass found nothing to do, and of which it remembered nothing new. As long as the file, the
 * service's answer and memory are the very same, any other pass would find the same.
 */
export interface Rest {
  readonly bound: BoundTemplate;
  /** What is remembered of it. */
  readonly revision: string;
  readonly facts: TemplateFacts;
  /** Found by a pass that writes nothing, memory neither. */
  readonly isDryRun: boolean;
  /** Without its subdomains, which are looked at in every pass; of the commit that was seen last. */
  result: TemplateResult;
}

/** What is kept from one pass to the next. */
export interface Rests {
  /** By the template's id. */
  readonly byId: Map<number, Rest>;
  /** The last pass, if all of its templates were at rest. */
  all: AllAtRest | null;
}

export const noRests = (): Rests => ({ byId: new Map(), all: null });

/** What a pass begins with. */
export interface Ground {
  /** What the pass is about, and all that the files describe. */
  readonly desired: DesiredState;
  readonly described: DesiredState;
  readonly actual: readonly PresentTemplate[];
  /** Null where memory cannot tell. */
  readonly revisions: Revisions | null;
}

interface AllAtRest extends Ground {
  readonly rests: readonly Rest[];
  readonly isDryRun: boolean;
  results: readonly TemplateResult[];
}

export interface RestContext {
  /** None where a person's own pass looks at everything. */
  readonly rests?: Rests;
  readonly memory: MemoryReader;
  readonly writer: Memory | null;
  readonly clock: Clock;
}

/** What may be new in the result of a template at rest. */
interface ResultContext extends RestContext, SubdomainContext {
  /** The git commit of a file's checkout. */
  readonly revisionOf: (file: string) => string | null;
}

/** The last pass, where another one begins with the very same and so would find the very same, without looking. */
export const stillAtRest = async (
  { desired, described, actual, revisions }: Ground,
  { rests, memory, writer }: RestContext,
): Promise<AllAtRest | null> => {
  if (!rests?.all) return null;
  const { all } = rests;
  const isSame =
    all.desired === desired &&
    all.described === described &&
    all.actual === actual &&
    all.revisions?.whole === revisions?.whole &&
    all.isDryRun === (writer === null) &&
    (await memory.openIntents()).length === 0;
  if (!isSame) rests.all = null;
  return rests.all;
};

/** Of a pass that begins as the last one did: the very same list, as long as nothing in it is new. */
export const resultsAsBefore = async (
  ground: Ground,
  context: ResultContext,
): Promise<readonly TemplateResult[] | null> => {
  const last = await stillAtRest(ground, context);
  if (!last) return null;
  const results = await resultsAtRest(last.rests, context);
  if (results.some((result, index) => result !== last.results[index])) last.results = results;
  return last.results;
};

/** The very same results, but where there are subdomains to look at, or another commit. */
export const resultsAtRest = async (
  rests: readonly Rest[],
  context: ResultContext,
): Promise<TemplateResult[]> => {
  const results = rests.map((rest) => {
    const revision = context.revisionOf(rest.result.file);
    if (rest.result.revision !== revision) rest.result = { ...rest.result, revision };
    return rest.result;
  });
  const look = async ({ bound, facts }: Rest, index: number): Promise<void> => {
    const check = await checkSubdomains(bound, facts, context);
    results[index] = withSubdomains(results[index]!, check.results);
    const changed = factsAfter(facts, check);
    // With that it is at rest no longer: the next pass looks at all of it.
    if (changed && context.writer)
      await kept(context.writer.save({ facts: changed, records: [], forgotten: [] }), context);
  };
  await Promise.all(
    rests.flatMap((rest, index) => (rest.bound.desired.subdomains.length === 0 ? [] : look(rest, index))),
  );
  return results;
};

/** The templates that are as they were, by what was then found of them; none with a write of unknown outcome. */
export const restsAmong = async (
  bound: readonly BoundTemplate[],
  { revisions }: Ground,
  { rests, memory, writer }: RestContext,
): Promise<Map<BoundTemplate, Rest>> => {
  const still = new Map<BoundTemplate, Rest>();
  if (!rests || !revisions) return still;
  for (const { templateId } of await memory.openIntents()) rests.byId.delete(templateId);
  for (const one of bound) {
    const rest = rests.byId.get(one.present.id);
    const isSame =
      rest?.isDryRun === (writer === null) &&
      rest.bound.desired === one.desired &&
      rest.bound.present === one.present &&
      rest.revision === revisions.of(one.present.id);
    if (isSame) still.set(one, rest);
    else rests.byId.delete(one.present.id);
  }
  return still;
};

/** Keeps a pass in which all templates were at rest, and which has nothing else to tell. */
export const keepAll = (
  ground: Ground,
  still: readonly Rest[],
  results: readonly TemplateResult[],
  { rests, writer }: RestContext,
): void => {
  if (!rests || !ground.revisions || results.length > still.length) return;
  rests.all = { ...ground, rests: still, isDryRun: writer === null, results };
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
    const revision = revisions.of(bound.present.id);
    const isCalm = result.status === 'in-sync' || result.status === 'drifted';
    if (!isCalm || revision !== before.get(bound.present.id)) continue;
    if (!isAtRest(work, planWork(work, clock.now()))) continue;
    rests.byId.set(bound.present.id, {
      bound: { ...bound, present: work.present },
      revision,
      facts: work.ledger.facts,
      isDryRun: writer === null,
      result: withoutSubdomains(result),
    });
  }
};

const withoutSubdomains = (result: TemplateResult): TemplateResult => ({
  ...result,
  status: result.differences.length > 0 ? 'drifted' : 'in-sync',
  subdomains: [],
});

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
