import type { AnswerDifference } from '../result.ts';
import type { DnsServer } from './dns-server.ts';
import type { AskedType } from './answer-record.ts';
import { isWithin } from './names.ts';
import { agree, answeredSet, type RecordSet, type ShownRecords } from './record-sets.ts';
import { answerTo } from './reply-fault.ts';
import { Wildcards } from './wildcards.ts';

/** A difference without the name of the server. */
export type SetDifference = Omit<AnswerDifference, 'server' | 'address'>;

/** The differences between what the service shows and what one server answers. Throws a `ReadError`. */
export const compareSets = async (
  server: DnsServer,
  shown: ShownRecords,
  apex: string | null,
): Promise<SetDifference[]> => {
  const { sets, subdomain } = shown;
  const comparison = new SetComparison(server, shown, apex);
  const names = new Set([subdomain, ...sets.map(({ name }) => name)]);
  await inTurns(comparison.wildcardParents(names), (parent) => comparison.compareWildcard(parent));
  await inTurns([...names], (name) => comparison.compareName(name));
  return comparison.differences;
};

class SetComparison {
  readonly differences: SetDifference[] = [];
  readonly #server: DnsServer;
  readonly #shown: ShownRecords;
  readonly #apex: string | null;
  readonly #wildcards: Wildcards;
  readonly #foreign = new Set<string>();

  constructor(server: DnsServer, shown: ShownRecords, apex: string | null) {
    this.#server = server;
    this.#shown = shown;
    this.#apex = apex;
    this.#wildcards = new Wildcards(server, shown, apex);
  }

  wildcardParents(names: ReadonlySet<string>): string[] {
    return [...new Set([...names].flatMap((name) => this.#wildcards.parentOf(name) ?? []))];
  }

  /** A wildcard that the service does not show. */
  async compareWildcard(parent: string): Promise<void> {
    const star = `*.${parent}`;
    if (!isWithin(parent, this.#shown.subdomain) || this.#shown.typesAt(star).size > 0) return;
    if (!(await this.#wildcards.isBelow(parent))) return;
    for (const type of wildcardTypes) this.#addForeign((await this.#read(star, type)).answered);
  }

  async compareName(name: string): Promise<void> {
    const types = typesBeside(this.#shown.typesAt(name), name === this.#shown.subdomain);
    await Promise.all(types.map((type) => this.#compareSet(name, type)));
  }

  async #compareSet(name: string, type: AskedType): Promise<void> {
    const desired = this.#shown.set(name, type);
    const { answered, alias } = await this.#read(name, type);
    const isThere = answered.records.length > 0 && !(await this.#wildcards.hasAnswered(answered));
    if (desired === undefined) {
      const isOfAlias = isAddressType(type) && this.#shown.hasAddressAlias(name);
      // A wildcard's answer for a missing name is reported for that name.
      if (isThere && !isOfAlias) this.#addForeign(answered);
      return;
    }
    if (isThere && agree(desired, answered)) return;
    const flattened = type === 'CNAME' && !isThere && name === this.#apex ? await this.#addresses(name) : [];
    this.differences.push({
      kind: flattened.length > 0 ? 'flattened' : isThere ? 'stale' : 'missing',
      name,
      type,
      desired: desired.records,
      current: isThere ? answered.records : flattened,
    });
    if (
      alias !== null &&
      !this.#shown.typesAt(name).has('CNAME') &&
      !(await this.#wildcards.hasAnswered(alias))
    )
      this.#addForeign(alias);
  }

  async #addresses(name: string): Promise<RecordSet['records']> {
    const sets = await Promise.all([this.#read(name, 'A'), this.#read(name, 'AAAA')]);
    return sets.flatMap(({ answered }) => answered.records);
  }

  /** An alias is in the answers for every type. */
  #addForeign({ name, type, records }: RecordSet): void {
    const key = `${name} ${type}`;
    if (records.length === 0 || this.#foreign.has(key)) return;
    this.#foreign.add(key);
    this.differences.push({ kind: 'foreign', name, type, desired: [], current: records });
  }

  async #read(name: string, type: AskedType): Promise<{ answered: RecordSet; alias: RecordSet | null }> {
    const { answers } = await answerTo(this.#server, { name, type });
    const of = (one: AskedType): RecordSet =>
      answeredSet(this.#shown.subdomain, { name, type: one }, answers);
    const alias = type === 'CNAME' ? null : of('CNAME');
    return { answered: of(type), alias: alias !== null && alias.records.length > 0 ? alias : null };
  }
}

const isAddressType = (type: AskedType): boolean => type === 'A' || type === 'AAAA';

const wildcardTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT'] as const;

/**
 * The types to query besides the shown ones: several at the subdomain itself, where foreign records matter
 * most; the other address type at every name.
 */
const typesBeside = (shown: ReadonlySet<AskedType>, isSubdomain: boolean): AskedType[] => {
  const beside: AskedType[] = shown.has('CNAME')
    ? []
    : isSubdomain
      ? ['A', 'AAAA', 'CNAME', 'MX', 'TXT']
      : shown.has('A') || shown.has('AAAA')
        ? ['A', 'AAAA']
        : [];
  return [...new Set([...shown, ...beside])];
};

/** Works in batches, since the results of a long list would take much memory. */
const inTurns = async <T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await task(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: namesAtOnce }, work));
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
};

const namesAtOnce = 32;
