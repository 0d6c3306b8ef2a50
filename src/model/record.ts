import { definitionOf, definitions } from './types/table.ts';

export type RecordType = keyof typeof definitions;

/** `type` in upper case. */
export const isRecordType = (type: string): type is RecordType => definitionOf(type) !== undefined;

export const recordTypes: readonly RecordType[] = Object.keys(definitions).filter(isRecordType);

/**
 * The data of a record, in a file or at the service. `null` if not stated. `content` of SRV is `<weight>
 * <port> <target>`; `ttl` is in seconds.
 */
export interface RecordData {
  readonly type: string;
  readonly name: string | null;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number | null;
}

/** A record at the service. Its type may be unknown to this program. */
export interface ActualRecord extends RecordData {
  readonly id: number;
  /** Of a known type, with values that cannot be understood. */
  readonly isUnreadable?: true;
}

/** Whether a file can describe it. All others are only counted, and never written. */
export const isDescribable = ({ type, isUnreadable }: ActualRecord): boolean =>
  isRecordType(type.toUpperCase()) && isUnreadable === undefined;

/** A position in a template file; lines and columns from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A desired record, with its position in a file. */
export interface DesiredRecord extends RecordData {
  readonly type: RecordType;
  readonly source: Place;
}

/** `type` in upper case. */
export const hasPriority = (type: string): boolean => definitionOf(type)?.hasPriority === true;

/** Only the five keys of a record in a report. */
export const dataOf = ({ type, name, content, priority, ttl }: RecordData): RecordData => ({
  type,
  name,
  content,
  priority,
  ttl,
});
