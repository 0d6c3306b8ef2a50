/** The seven types a template record can have (service specification §2, DNS template record). */
export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'PTR', 'SRV', 'TXT'] as const;
export type RecordType = (typeof recordTypes)[number];

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

export const isRecordType = (type: string): type is RecordType =>
  (recordTypes as readonly string[]).includes(type);

/** MX and SRV carry a priority; the service has none for other types (specification §4.5). */
export const hasPriority = (type: string): boolean => type === 'MX' || type === 'SRV';

/** The five keys of a record in a report, and nothing else that the object may carry. */
export const dataOf = ({ type, name, content, priority, ttl }: RecordData): RecordData => ({
  type,
  name,
  content,
  priority,
  ttl,
});
