import type { Place, RecordData } from '../model/record.ts';
import type { TemplateResult } from '../result.ts';
import type { ShownRecord } from './facts.ts';

/** The records of a file, each with its state from the differences. */
export const recordStates = (
  records: readonly (RecordData & { readonly source: Place })[],
  { status, inSync, differences }: Pick<TemplateResult, 'status' | 'inSync' | 'differences'>,
): readonly ShownRecord[] => {
  const states = new Map(
    differences.flatMap((difference) =>
      'source' in difference
        ? [[keyOf(difference.desired, difference.source), difference.action] as const]
        : [],
    ),
  );
  const wasCompared = status !== 'failed' || inSync + differences.length > 0;
  return records.map((record) => {
    const { type, name, content, priority, ttl, source } = record;
    return {
      record: { type, name, content, priority, ttl },
      place: `${source.file}:${source.line}`,
      state: wasCompared ? (states.get(keyOf(record, source)) ?? 'in-sync') : null,
    };
  });
};

const keyOf = ({ type, content }: RecordData, { file, line, column }: Place): string =>
  JSON.stringify([file, line, column, type, content]);
