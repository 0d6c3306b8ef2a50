import { dataOf, type ActualRecord, type RecordData } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';

/** The service may have made the name absolute. */
export const isParkedName = (name: string): boolean => /^_parked-\d+(?:\.|$)/.test(name);

/**
 * An unused name and inert content; TTL and priority stay as they are. `type` is in upper case; records of
 * unknown types are never written.
 */
export const parkedForm = (record: ActualRecord, type: string): RecordData => {
  const definition = definitionOf(type);
  if (!definition) throw new Error(`record ${record.id} has type ${type}, which cannot be parked`);
  return {
    ...dataOf(record),
    priority: definition.hasPriority ? (record.priority ?? 0) : record.priority,
    name: `_parked-${record.id}`,
    content: definition.inertContent,
    ttl: null,
  };
};
