import { canonicalName } from '../../src/model/canonical.ts';
import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { parkedKey, type KnownRecord, type PlanMemory } from '../../src/plan/memory.ts';
import { planTemplate, type TemplatePlan } from '../../src/plan/plan.ts';
import type { PlanInput } from '../../src/plan/plan-input.ts';
import { additionOf, changeOf, isPark, isUpdate, type Step } from '../../src/plan/step.ts';
import { memoryOf } from './records.ts';

/** The service's result of a step (specification §4.5, §4.6): an update keeps fields that are not sent. */
const written = (template: ActualTemplate, step: Step): ActualTemplate => {
  if (!isUpdate(step) && !isPark(step)) {
    const { ttl, ...added } = additionOf(step);
    const id = Math.max(0, ...template.records.map((record) => record.id)) + 1;
    return { ...template, records: [...template.records, { id, ...added, ttl: ttl ?? defaultTtl }] };
  }
  const { recordId, ...change } = changeOf(step);
  const supplied = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
  return {
    ...template,
    records: template.records.map((record) => (record.id === recordId ? { ...record, ...supplied } : record)),
  };
};

const defaultTtl = 3600;

export interface Outcome {
  readonly actual: ActualTemplate;
  readonly memory: PlanMemory;
  /** In the order in which they were written. */
  readonly steps: readonly Step[];
  /** The last plan, which has no step that could be written. */
  readonly plan: TemplatePlan;
}

/** Writes one step of a plan, plans anew from the answer, and so on until no step is left that can be written. */
export const converge = (input: PlanInput, remembers = true): Outcome => {
  const steps: Step[] = [];
  let { actual, memory } = input;
  const most = 3 * (input.desired.records.length + actual.records.length) + 3;
  for (;;) {
    const plan = planTemplate({ ...input, actual, memory });
    const [step] = plan.steps;
    if (remembers) memory = withPairs(memory, plan, actual);
    if (!step) return { actual, memory, steps, plan };
    steps.push(step);
    if (steps.length > most) throw new Error('the plan never ends');
    const answer = written(actual, step);
    if (remembers) memory = withStep(memory, step, actual, answer);
    actual = answer;
  }
};

/** As a pass would save it: what is in sync, and which record belongs to which write. */
const withPairs = (memory: PlanMemory, plan: TemplatePlan, actual: ActualTemplate): PlanMemory => {
  const ids = new Set(actual.records.map((record) => record.id));
  const inSync = plan.pairs
    .filter((pair) => pair.fields.length === 0)
    .map((pair) => knownAs(pair.desired.record, pair.actual.record));
  return remembering(
    [...memory.records.values()].filter(({ recordId }) => recordId !== null && ids.has(recordId)),
    inSync,
  );
};

const withStep = (
  memory: PlanMemory,
  step: Step,
  before: ActualTemplate,
  after: ActualTemplate,
): PlanMemory => {
  const ids = new Set(before.records.map((record) => record.id));
  const record = after.records.find(({ id }) =>
    'actual' in step ? id === step.actual.record.id : !ids.has(id),
  )!;
  const known = isPark(step)
    ? { ...knownAs(record, record), key: parkedKey(record.id) }
    : knownAs(step.desired.record, record);
  return remembering([...memory.records.values()], [known]);
};

const knownAs = (wanted: RecordData, actual: ActualRecord): KnownRecord => ({
  key: recordKey(entryOf(wanted)),
  recordId: actual.id,
  wanted,
  seen: actual,
  keptName: canonicalName(actual.name),
  isOnlyCounted: false,
  lostAdds: 0,
  displaced: null,
  cause: null,
});

/** One id belongs to one desired record and the reverse. */
const remembering = (before: readonly KnownRecord[], fresh: readonly KnownRecord[]): PlanMemory => {
  const ids = new Set(fresh.map((record) => record.recordId));
  const keys = new Set(fresh.map((record) => record.key));
  return memoryOf([
    ...before.filter((record) => !ids.has(record.recordId) && !keys.has(record.key)),
    ...fresh,
  ]);
};

export const isParked = (record: RecordData): boolean =>
  /^_parked-\d+(\.|$)/.test(canonicalName(record.name));
