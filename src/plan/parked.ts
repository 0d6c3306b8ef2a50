import { dataOf, type PresentRecord, type RecordData } from '../model/record.ts';
import { definitionOf } from '../model/types/table.ts';

/** The service may have made the name an absolute one. */
export const isParkedName = (name: string): boolean => /^_parked-\d+(?:\.|$)/.test(name);

/**
 * A name and content that serve nobody; the TTL and priority stay what they are, where the type needs one. `type` is
 * in upper case; a record of a type that nobody here knows is never written.
 */
export const parkedForm = (record: PresentRecord, type: string): RecordData => {
  const definition = definitionOf(type);
  if (!definition) throw new Error(`record ${record.id} is of type ${type}, which nothing here may park`);
  return {
    ...dataOf(record),
    priority: definition.hasPriority ? (record.priority ?? 0) : record.priority,
    name: `_parked-${record.id}`,
    content: definition.inertContent,
    ttl: null,
  };
};
