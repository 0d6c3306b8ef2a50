import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import type { Write } from '../laws/seen.ts';

/** A template as the service sends it. */
export interface WireTemplate {
  readonly id: number;
  readonly name: string;
  readonly publicly_available: boolean;
  readonly subdomains: number | null;
  readonly dns_template_records: readonly WireRecord[];
}

export interface WireRecord {
  readonly id: number;
  readonly type: string;
  readonly name: string | null;
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number | null;
}

/** A record without its TTL. The rounds write every value in one spelling only. */
export const dataKey = ({ type, name, content, priority }: Omit<WireRecord, 'id' | 'ttl'>): string =>
  `${type} ${name ?? '@'} ${type === 'MX' || type === 'SRV' ? priority : ''} ${content}`;

/** One request as the service sees it. */
export interface SeenRequest {
  /** The user token, which differs for each process of a test. */
  readonly caller: string;
  readonly operation: 'list' | 'add' | 'update' | 'other';
  readonly templateId: number;
  /** Without the tokens. */
  readonly parameters: Readonly<Record<string, string>>;
  /** How many requests of this operation, to this template, the caller made before. */
  readonly ordinal: number;
}

export const isWrite = ({ operation }: SeenRequest): boolean => operation === 'add' || operation === 'update';

export const recordsOf = ({ dns_template_records }: WireTemplate): readonly ActualRecord[] =>
  dns_template_records;

export const templateOf = (template: WireTemplate): ActualTemplate => ({
  id: template.id,
  name: template.name,
  publiclyAvailable: template.publicly_available,
  subdomains: template.subdomains,
  records: template.dns_template_records,
});

export const writeOf = ({ operation, parameters }: SeenRequest): Write => {
  const { record_id, type = '', name = null, content = null, priority, ttl } = parameters;
  const numbers = {
    priority: priority === undefined ? null : Number(priority),
    ttl: ttl === undefined ? null : Number(ttl),
  };
  return operation === 'add'
    ? { action: 'add', record: { type, name, content: content ?? '', ...numbers } }
    : { action: 'update', change: { recordId: Number(record_id), name, content, ...numbers } };
};
