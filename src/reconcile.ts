import { bindTemplates, type BoundTemplate, type UnboundTemplate } from './apply/bind.ts';
import type { ApplyContext, Clock, Halt, TemplateService, TemplateWork } from './apply/context.ts';
import { readOrHalt } from './apply/halt.ts';
import { heldByPolicy, holdMore, holdWorks } from './apply/hold.ts';
import { kept } from './apply/kept.ts';
import { noticeOlderMemory } from './apply/older-memory.ts';
import { noticeLostMemory } from './apply/lost-memory.ts';
import { oneByOne } from './apply/one-by-one.ts';
import { withPlaces } from './apply/permit.ts';
import { rememberFacts, rememberUndone, rememberWork } from './apply/remember.ts';
import { templateResult, unseenResult } from './apply/result.ts';
import { keepAll, keepRests, restsAmong, resultsAsBefore, resultsAtRest, type Rests } from './apply/rest.ts';
import { settleEarlier, settleOwn, takeIntents } from './apply/settle.ts';
import { checkSubdomains, factsAfter, type SubdomainContext } from './apply/subdomains.ts';
import { applyTemplate, planWork, restoreDisplaced, stoppedAdd } from './apply/template.ts';
import { unwrittenSteps } from './apply/unwritten.ts';
import { confirmWorks, isUnconfirmed, openWork } from './apply/work.ts';
import { messageOf } from './errors.ts';
import { limit } from './lib/limit.ts';
import type { DesiredState, DesiredTemplate, PresentTemplate, SubdomainRecord } from './model/template.ts';
import type { Hold } from './plan/guard.ts';
import type { TemplatePlan } from './plan/plan.ts';
import type { Step } from './plan/step.ts';
import type { Change, PassResult, TemplateResult, Trigger } from './result.ts';
import type { Memory, MemoryReader } from './state/memory.ts';

export interface Pass {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** Before files were read; ms since the epoch. */
  readonly startedAt: number;
  /** Only these templates; all where empty. */
  readonly templates: readonly string[];
  /** All that the files describe, where the pass is about a part: two descriptions may turn out to be of one template. */
  readonly described?: DesiredState;
  readonly service: TemplateService & { listDnsRecords(subdomain: string): Promise<SubdomainRecord[]> };
  /** The first reading of the service, where it was asked before the pass began; under the same lock. */
  readonly listing: Promise<readonly PresentTemplate[]> | null;
  readonly memory: MemoryReader;
  /** Null where nothing may be written, neither to the service nor to memory. */
  readonly writer: Memory | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onChange: (change: Change) => void;
  /** Told what a person should know that is no part of a report. */
  readonly warn: (message: string) => void;
  /** The git commit of a file's checkout. */
  readonly revisionOf: (file: string) => string | null;
  /** Milliseconds. */
  readonly settle: number;
  readonly unknownPause: number;
  readonly subdomainGrace: number;
  readonly maxAddsPerPass: number;
  /** Templates written side by side. */
  readonly concurrency: number;
  readonly ignoreSubdomains: boolean;
  readonly force: boolean;
  readonly retry: boolean;
  readonly acceptLoss: boolean;
  /** What passes leave for the next one; a person's own pass looks at everything. */
  readonly rests?: Rests;
  /** Settles what earlier passes left open and shows what a pass would write, as `approve` would be shown it. */
  readonly isRehearsal?: boolean;
  /** Shown what is about to be written, before the first write. It throws where that may not be. */
  readonly approve?: (planned: readonly TemplateResult[]) => void;
}

/** One pass over one client: what the files want, what the service holds, what differs, what may be written. */
export const reconcile = async (desired: DesiredState, pass: Pass): Promise<PassResult> => {
  const { startedAt } = pass;
  const halt: Halt = { reason: null, retryAt: null };
  const marks = { wasRead: false, isIncomplete: false };
  const limitReads = limit(pass.concurrency);
  const templates = await reconcileTemplates(desired, { ...pass, halt, marks, limitReads });
  return {
    client: pass.client,
    run: pass.run,
    trigger: pass.trigger,
    startedAt: new Date(startedAt).toISOString(),
    durationMs: Math.max(0, pass.clock.now() - startedAt),
    dryRun: pass.writer === null || pass.isRehearsal === true,
    halted: halt.reason,
    retryAt: halt.retryAt === null ? null : new Date(halt.retryAt).toISOString(),
    isDenied: halt.isDenied === true,
    ...marks,
    templates,
    problems: desired.problems.map((problem) => ({ ...problem, client: pass.client })),
  };
};

const selectTemplates = (desired: DesiredState, names: readonly string[]): DesiredState => {
  if (names.length === 0) return desired;
  const isNamed = ({ template }: { readonly template: string | null }): boolean =>
    template !== null && names.includes(template);
  return {
    ...desired,
    templates: desired.templates.filter(isNamed),
    unusable: desired.unusable.filter(isNamed),
  };
};

/** A pass under way. */
interface RunningPass extends Pass, Pick<SubdomainContext, 'halt' | 'limitReads'> {
  /** What its result says of the pass as a whole. */
  readonly marks: { wasRead: boolean; isIncomplete: boolean };
}

const reconcileTemplates = async (
  part: DesiredState,
  pass: RunningPass,
): Promise<readonly TemplateResult[]> => {
  const desired = selectTemplates(part, pass.templates);
  const { described = part } = pass;
  const held = await unusableTemplates(desired, pass);
  const actual = await readActual(pass);
  if (actual === null) {
    const unread = unseen(desired.templates, 'failed', pass.halt.reason!, pass);
    return [...unread.map((result) => ({ ...result, asOf: null })), ...held];
  }
  pass.marks.wasRead = true;
  const revisions = (await pass.memory.revisions?.()) ?? null;
  const ground = { desired, described, actual, revisions };
  const asBefore = await resultsAsBefore(ground, pass);
  if (asBefore) return asBefore;
  const asked = new Set(desired.templates);
  const bound = bindTemplates(described.templates, described.unusable, actual).filter((one) =>
    asked.has(one.desired),
  );
  const isBound = (one: BoundTemplate | UnboundTemplate): one is BoundTemplate => 'present' in one;
  const own = bound.filter(isBound);
  const before = new Map(own.map(({ present: { id } }) => [id, revisions?.of(id)]));
  const still = await restsAmong(own, ground, pass);
  const moving = own.filter((one) => !still.has(one));
  const works = await oneByOne(moving, (one) => openWork(one, pass));
  const unbound = bound.flatMap((one) =>
    isBound(one) ? [] : unseen([one.desired], one.status, one.reason, pass),
  );
  const others = [...unbound, ...held];
  const moved = pass.writer
    ? await writeWorks(
        works,
        actual,
        others,
        { ...pass, memory: pass.writer, latest: { listing: null } },
        pass,
      )
    : await showWorks(works, pass);
  const found = new Map(moving.map((one, index) => [one, moved[index]!]));
  await kept(keepRests(works, found, before, pass), pass);
  const rests = [...still.values()];
  const rested = await resultsAtRest(rests, pass);
  const atRest = new Map([...still.keys()].map((one, index) => [one, rested[index]!]));
  const results = [...own.map((one) => found.get(one) ?? atRest.get(one)!), ...others];
  keepAll(ground, rests, results, pass);
  return results;
};

const readActual = (pass: RunningPass): Promise<readonly PresentTemplate[] | null> =>
  readOrHalt(() => pass.listing ?? pass.service.listDnsTemplates(), pass);

/** A person who asks for a pass, or for its plan, need not wait for a pause after refusals, nor what `retry` ends. */
const forgiveAtAWord = (works: readonly TemplateWork[], { trigger, retry }: Pass): void => {
  if (trigger === 'command') for (const { ledger } of works) ledger.forgive(retry);
};

/** Without writing: what a pass would find, do and hold back. */
const showWorks = async (works: readonly TemplateWork[], pass: RunningPass): Promise<TemplateResult[]> => {
  const intents = await pass.memory.openIntents();
  for (const work of works) takeIntents(intents, work);
  forgiveAtAWord(works, pass);
  const touched = new Set(intents.map(({ templateId }) => templateId));
  noticeOlderMemory(
    works.filter(({ present }) => !touched.has(present.id)),
    pass,
  );
  noticeLostMemory(works, pass);
  const plans = await planAll(works, pass);
  return showPlans(plans, holdWorks(plans, pass), pass);
};

const showPlans = (
  plans: ReadonlyMap<TemplateWork, TemplatePlan>,
  holds: ReadonlyMap<TemplateWork, Hold>,
  pass: RunningPass,
): Promise<TemplateResult[]> =>
  oneByOne([...plans], async ([work, plan]) => {
    const hold = holds.get(work);
    const heldBack = withPlaces(plan, (step) => heldByPolicy(step, work.desired.mode, hold, pass.force));
    return resultOf(work, plan, hold, heldBack, { reason: null }, pass);
  });

const writeWorks = async (
  works: readonly TemplateWork[],
  actual: readonly PresentTemplate[],
  others: readonly TemplateResult[],
  context: ApplyContext,
  pass: RunningPass,
): Promise<TemplateResult[]> => {
  await settleEarlier(works, actual, context);
  forgiveAtAWord(works, pass);
  noticeOlderMemory(works, pass);
  noticeLostMemory(works, pass);
  if (!pass.isRehearsal) await confirmWorks(works, context);
  const plans = await planAll(works, pass);
  const holds = holdWorks(plans, pass);
  if (pass.isRehearsal) return showPlans(plans, holds, pass);
  pass.approve?.([...(await showPlans(plans, holds, { ...pass, ignoreSubdomains: true })), ...others]);
  const turn = limit(pass.concurrency);
  const policy = (work: TemplateWork) => (step: Step) =>
    heldByPolicy(step, work.desired.mode, holds.get(work), pass.force);
  await allEnded(
    works.map((work) => {
      const skipReason = (step: Step): string | null => policy(work)(step) ?? notYet(step, work, context);
      // An answer may show more to be done than the readings did, and too much.
      const review = (plan: TemplatePlan): void => holdMore(work, plan, holds, works, pass);
      return turn(() => applyTemplate(work, { review, skipReason }, context));
    }),
    context,
  );
  await settleOwn(works, context);
  for (const work of works) await restoreDisplaced(work, policy(work), context);
  await oneByOne(works, async (work) => {
    rememberUndone(work, planWork(work, context.clock.now()));
    await rememberWork(work, holds.get(work), context);
  });
  return oneByOne(works, async (work) => {
    const hold = holds.get(work);
    const plan = planWork(work, context.clock.now());
    const first = plans.get(work)!;
    const permitted = withPlaces(first, policy(work));
    const planned = first.steps.filter((step) => permitted(step) === null);
    if (unwrittenSteps(planned, work, plan).length > 0) pass.marks.isIncomplete = true;
    const skipReason = withPlaces(
      plan,
      (step) => policy(work)(step) ?? notReached(work, context) ?? notYet(step, work, context),
    );
    const heldBack = (step: Step): string => skipReason(step) ?? 'waits for a write that has to come first';
    return resultOf(work, plan, hold, heldBack, context.halt, pass);
  });
};

/** Where one template cannot go on for want of memory, no other may be left writing behind its back. */
const allEnded = async (tasks: readonly Promise<void>[], { halt }: ApplyContext): Promise<void> => {
  const stopOthers = (error: unknown): never => {
    halt.reason ??= messageOf(error);
    throw error;
  };
  const results = await Promise.allSettled(tasks.map((task) => task.catch(stopOthers)));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
};

const planAll = async (
  works: readonly TemplateWork[],
  { clock }: Pass,
): Promise<Map<TemplateWork, TemplatePlan>> =>
  new Map(await oneByOne(works, async (work) => [work, planWork(work, clock.now())]));

const notReached = (work: TemplateWork, context: ApplyContext): string | null => {
  if (context.halt.reason !== null) return `the writes of this client ended: ${context.halt.reason}`;
  if (context.signal.aborted) return 'the program was told to end';
  return work.stopped;
};

const notYet = (step: Step, work: TemplateWork, context: ApplyContext): string | null => {
  if (isUnconfirmed(step, work, context)) return 'waits until a second reading shows the same';
  return stoppedAdd(step, work);
};

const resultOf = async (
  work: TemplateWork,
  plan: TemplatePlan,
  hold: Hold | undefined,
  heldBack: (step: Step) => string | null,
  halt: Pick<Halt, 'reason' | 'isForgetful'>,
  pass: RunningPass,
): Promise<TemplateResult> => {
  const check = await checkSubdomains(work, work.ledger.facts, pass);
  const facts = factsAfter(work.ledger.facts, check);
  if (facts) await rememberFacts(work, facts, pass);
  return templateResult({
    client: pass.client,
    work,
    plan,
    hold: hold ?? null,
    revision: pass.revisionOf(work.desired.source.file),
    subdomains: check.results,
    heldBack,
    halt,
  });
};

const unseen = (
  templates: readonly DesiredTemplate[],
  status: 'failed' | 'held',
  message: string,
  { client, revisionOf }: Pass,
): TemplateResult[] =>
  templates.map(({ template, id, source: { file } }) =>
    unseenResult({ client, template, id, file, revision: revisionOf(file) }, status, message),
  );

/** What a file last said is not withdrawn because the file is broken or gone: its template holds. */
const unusableTemplates = async (
  { unusable, files }: DesiredState,
  { client, memory, revisionOf, templates }: Pass,
): Promise<TemplateResult[]> => {
  const broken = unusable.map(({ template, id, file, message }) =>
    unseenResult(
      { client, template: template ?? file, id, file, revision: revisionOf(file) },
      'held',
      message,
    ),
  );
  if (files > 0 || templates.length > 0) return broken;
  const known = await memory.templates();
  const message =
    'there are no template files at all any more: nothing is written until there are some again';
  return known.map(({ template, templateId, file }) =>
    unseenResult({ client, template, id: templateId, file, revision: null }, 'held', message),
  );
};
