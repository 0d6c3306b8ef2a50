import { sameData } from '../../model/canonical.ts';
import type { ActualRecord } from '../../model/record.ts';
import type { ActualTemplate } from '../../model/template.ts';
import { entryOf, pairOf } from '../../plan/entry.ts';
import { actualOf, isPark, isUpdate, resultOf, type Step } from '../../plan/step.ts';
import { matchAdd } from '../../plan/match-add.ts';
import { isKnownId } from '../../memory/memory.ts';
import type { TemplateState } from './state.ts';

/** The record that a write made or changed, in a trusted answer. */
export const writtenRecord = (
  state: TemplateState,
  answer: ActualTemplate,
  step: Step,
): ActualRecord | null => {
  const own = actualOf(step);
  if (own) return answer.records.find((record) => record.id === own.record.id) ?? null;
  const match = matchAdd(resultOf(step), existedBefore(state), answer, 'answer');
  return match.kind === 'matched' ? match.record : null;
};

/** A record that was there or is known cannot come from this add. */
export const existedBefore = ({ basis: { view, memory } }: TemplateState): ((id: number) => boolean) => {
  const ids = new Set(view.records.map((record) => record.id));
  return (id) => ids.has(id) || isKnownId(memory, id) || memory.view.preexistingIds.has(id);
};

export const recordAsDesired = (
  isOld: (id: number) => boolean,
  reading: ActualTemplate,
  step: Step,
): ActualRecord | null => {
  const own = actualOf(step);
  const candidates = reading.records.filter((record) =>
    own ? record.id === own.record.id : !isOld(record.id),
  );
  return candidates.find((record) => isAsDesired(record, step)) ?? null;
};

/** A park sends no TTL. */
const isAsDesired = (record: ActualRecord, step: Step): boolean =>
  isPark(step)
    ? sameData({ ...resultOf(step), ttl: record.ttl }, record)
    : pairOf(step.desired, entryOf(record)).fields.length === 0;

/** A service may store another spelling of the name, with everything else as sent. */
export const renamedRecord = (reading: ActualTemplate, step: Step): ActualRecord | null => {
  if (!isUpdate(step)) return null;
  const record = reading.records.find(({ id }) => id === step.actual.record.id);
  if (!record || sameData(record, step.actual.record)) return null;
  return pairOf(step.desired, entryOf(record)).fields.every((field) => field === 'name') ? record : null;
};

/** Whether a reading shows the record of a step as it was before. */
export const isUnchanged = (record: ActualRecord, step: Step): boolean => {
  const before = actualOf(step);
  return before !== null && sameData(record, before.record);
};
