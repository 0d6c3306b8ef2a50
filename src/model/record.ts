import { definitionOf, definitions } from './types/table.ts';

export type RecordType = keyof typeof definitions;

/** `type` in upper case. */
export const isRecordType = (type: string): type is RecordType => definitionOf(type) !== undefined;

export const recordTypes: readonly RecordType[] = Object.keys(definitions).filter(isRecordType);

/**
 * What a record says, whoever says it: a file or the service.
 * `null` where it is not stated. `content` of SRV is `<weight> <port> <target>`; `ttl` is in seconds.
 */
export interface RecordData {
  readonly type: string;
  readonly name: string | null;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number | null;
}

/** A record as the service holds it. Its type may be one this program does not know. */
export interface PresentRecord extends RecordData {
  readonly id: number;
}

/** A place in a template file, as people count: lines and columns from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A record that a file wants, with the place that says so. */
export interface WantedRecord extends RecordData {
  readonly type: RecordType;
  readonly source: Place;
}

/** `type` in upper case. */
export const hasPriority = (type: string): boolean => definitionOf(type)?.hasPriority === true;

/** The five keys of a record in a report, and nothing else that the object may carry. */
export const dataOf = ({ type, name, content, priority, ttl }: RecordData): RecordData => ({
  type,
  name,
  content,
  priority,
  ttl,
});
