import { canonicalType } from '../model/canonical.ts';
import { hasPriority, type RecordData } from '../model/record.ts';
import type { SubdomainRecord } from '../model/template.ts';
import { askedTypes, canonicalData, type AnswerRecord, type AskedType } from './answer-record.ts';
import { type DnsQuestion } from './message.ts';
import { absoluteName, relativeName } from './names.ts';

/** All records of one name and type, at the service or in an answer. */
export interface RecordSet extends DnsQuestion {
  readonly records: readonly RecordData[];
}

/** What the service shows of a subdomain, by name and type. SOA is only queried for its serial. */
export interface ShownRecords {
  readonly subdomain: string;
  readonly sets: readonly RecordSet[];
  readonly set: (name: string, type: AskedType) => RecordSet | undefined;
  readonly typesAt: (name: string) => ReadonlySet<AskedType>;
  /** Whether a record there stands for the addresses of another name, which no query asks for by its type. */
  readonly hasAddressAlias: (name: string) => boolean;
}

/** Leaves out records whose type or name cannot be queried. */
export const shownRecords = (subdomain: string, records: readonly SubdomainRecord[]): ShownRecords => {
  const sets = new Map<string, { name: string; type: AskedType; records: RecordData[] }>();
  const types = new Map<string, Set<AskedType>>();
  const addressAliases = new Set<string>();
  for (const record of records) {
    const type = askedTypes.find((one) => one === canonicalType(record.type));
    const name = absoluteName(subdomain, record.name);
    if (name !== null && addressAliasTypes.has(canonicalType(record.type))) addressAliases.add(name);
    if (type === undefined || type === 'SOA' || name === null) continue;
    const key = keyOf(name, type);
    const set = sets.get(key) ?? { name, type, records: [] };
    sets.set(key, set);
    set.records.push({
      type,
      name: relativeName(subdomain, name),
      content: canonicalData(type, record.content),
      priority: hasPriority(type) ? record.priority : null,
      ttl: record.ttl,
    });
    types.set(name, (types.get(name) ?? new Set()).add(type));
  }
  return {
    subdomain,
    sets: [...sets.values()],
    set: (name, type) => sets.get(keyOf(name, type)),
    typesAt: (name) => types.get(name) ?? new Set(),
    hasAddressAlias: (name) => addressAliases.has(name),
  };
};

/** As providers call them. */
const addressAliasTypes: ReadonlySet<string> = new Set(['ALIAS', 'ANAME']);

/** The part of a reply that answers the question. */
export const answeredSet = (
  subdomain: string,
  { name, type }: DnsQuestion,
  answers: readonly AnswerRecord[],
): RecordSet => ({
  name,
  type,
  records: answers
    .filter((record) => record.name === name && record.type === type)
    .map(({ content, priority, ttl }) => ({
      type,
      name: relativeName(subdomain, name),
      content,
      priority,
      ttl,
    })),
});

/**
 * Whether the records are the same in any order. If the service states a TTL, a higher one counts; a lower one may be
 * what is left of it in a cache in front of the server.
 */
export const agree = (desired: RecordSet | undefined, answered: RecordSet): boolean => {
  const [some, others] = [desired?.records ?? [], answered.records];
  return sameData(some, others) && others.every((record) => isWithinTtl(record, some));
};

export const sameData = (some: readonly RecordData[], others: readonly RecordData[]): boolean => {
  const [one, other] = [new Set(some.map(dataKey)), new Set(others.map(dataKey))];
  return one.size === other.size && [...one].every((key) => other.has(key));
};

/** A set has one TTL in a message; if the service states several, any of them is right. */
const isWithinTtl = ({ ttl }: RecordData, desired: readonly RecordData[]): boolean => {
  const stated = desired.flatMap((record) => record.ttl ?? []);
  return stated.length < desired.length || stated.some((one) => (ttl ?? 0) <= one);
};

const dataKey = ({ content, priority }: RecordData): string => `${priority ?? ''} ${content}`;

const keyOf = (name: string, type: AskedType): string => `${name} ${type}`;
