import type { RecordData } from '../model/record.ts';
import type { Cause } from './difference.ts';

/** What was last agreed on between the file and the service about one record, by its id. */
export interface KnownRecord {
  readonly id: number;
  /** `recordKey` of the wanted record that this id stands for, or its `parkedKey`. */
  readonly key: string;
  readonly wanted: RecordData;
  readonly seen: RecordData;
}

/** In place of a `recordKey`, for a record that was parked. */
export const parkedKey = (id: number): string => `#${id}`;

/** What planning may know of a template's past. */
export interface TemplateMemory {
  /** Whether this template was ever read before. */
  readonly familiar: boolean;
  readonly byKey: ReadonlyMap<string, KnownRecord>;
  readonly byId: ReadonlyMap<number, KnownRecord>;
  /** Ids that were there when the template was first met, and that no file has wanted since. */
  readonly strangers: ReadonlySet<number>;
  /** By `recordKey`: why a record that nothing stands for yet was first found to differ. */
  readonly causes: ReadonlyMap<string, Cause>;
}

export const noMemory: TemplateMemory = {
  familiar: false,
  byKey: new Map(),
  byId: new Map(),
  causes: new Map(),
  strangers: new Set(),
};
