import { randomBytes } from 'node:crypto';
import type { DnsServer } from './dns-server.ts';
import type { AskedType } from './answer-record.ts';
import { isName, isWithin, parentOf } from './names.ts';
import { answeredSet, sameData, type RecordSet, type ShownRecords } from './record-sets.ts';
import { answerTo } from './reply-fault.ts';

/** The wildcards of one server, found by queries for random names. */
export class Wildcards {
  readonly #server: DnsServer;
  readonly #shown: ShownRecords;
  readonly #apex: string;
  /** A random label: an answer to it comes from a wildcard. */
  readonly #label = `r${randomBytes(8).toString('hex')}`;
  readonly #known = new Map<string, Promise<RecordSet | null>>();

  /** `apex`: of the server's zone; null if unknown, and then nothing outside of the subdomain is asked for. */
  constructor(server: DnsServer, shown: ShownRecords, apex: string | null) {
    this.#server = server;
    this.#shown = shown;
    this.#apex = apex ?? shown.subdomain;
  }

  /** The parent whose wildcard may answer for a name. None does for the apex, nor for a literal star. */
  parentOf(name: string): string | null {
    if (name === this.#apex || name.startsWith('*.')) return null;
    const parent = parentOf(name);
    return parent !== null && isWithin(parent, this.#apex) ? parent : null;
  }

  /** Whether a wildcard answers for all names below this one. */
  async isBelow(parent: string): Promise<boolean> {
    return (await this.#of(parent, 'A')) !== null;
  }

  /**
   * Whether an answer comes from a wildcard rather than from the name itself. Below an existing name, the
   * wildcard above does not answer (RFC 4592 §2.2.1).
   */
  async hasAnswered({ name, type, records }: RecordSet): Promise<boolean> {
    const parent = this.parentOf(name);
    if (parent === null || records.length === 0 || this.#shown.typesAt(`*.${name}`).size > 0) return false;
    const beside = await this.#of(parent, type);
    if (beside === null || !sameData(beside.records, records)) return false;
    const below = await this.#of(name, type);
    return below !== null && sameData(below.records, records);
  }

  /** The answer of the wildcard below this name; null if there is none. */
  #of(parent: string, type: AskedType): Promise<RecordSet | null> {
    const key = `${parent} ${type}`;
    const found = this.#known.get(key) ?? this.#ask(parent, type);
    this.#known.set(key, found);
    return found;
  }

  async #ask(parent: string, type: AskedType): Promise<RecordSet | null> {
    const name = `${this.#label}.${parent}`;
    if (!isName(name)) return null;
    if (type !== 'A' && !(await this.isBelow(parent))) return null;
    const reply = await answerTo(this.#server, { name, type });
    return reply.rcode === 'NXDOMAIN'
      ? null
      : answeredSet(this.#shown.subdomain, { name, type }, reply.answers);
  }
}
